package msgbin

import (
	"errors"
	"fmt"
	"io"
)

// Error is what is wrong with the bytes at an offset.
type Error struct {
	Offset int    // bytes from the start of the data
	Reason string // what was expected and what was found
	Short  bool   // the data ends within the value: with more bytes it may be whole
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Reason) }

// Unwrap returns io.ErrUnexpectedEOF where the data ends too early, else nil.
func (e *Error) Unwrap() error {
	if e.Short {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// FieldError is what is wrong with the value of a key.
type FieldError struct {
	Field string // the key; "" = the map itself
	Err   error
}

// Error returns the key and the cause.
func (e *FieldError) Error() string {
	if e.Field == "" {
		return e.Err.Error()
	}
	return e.Field + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *FieldError) Unwrap() error { return e.Err }

// Within returns the error of a field for an error in it, whose name goes before that of an inner field.
func Within(field string, err error) error {
	if inner, ok := errors.AsType[*FieldError](err); ok {
		if field != "" && inner.Field != "" && inner.Field[0] != '[' {
			field += "."
		}
		field, err = field+inner.Field, inner.Err
	}
	return &FieldError{field, err}
}

// ConstantError is that a field which every message has in common, its version,
// has another value.
type ConstantError struct{ Got, Want int64 }

func (e *ConstantError) Error() string { return fmt.Sprintf("%d, expected %d", e.Got, e.Want) }
