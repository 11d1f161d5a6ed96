package msgbin

import (
	"fmt"
	"io"
)

// Error says what is wrong with the bytes at an offset.
type Error struct {
	Offset int    // bytes from the start of the slice
	Reason string // what was expected and what was found
	Short  bool   // the data ends within the value, so more bytes could mend it
}

// Error returns the reason with its offset.
func (e *Error) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Reason) }

// Unwrap returns io.ErrUnexpectedEOF where the data ends too early, else nil.
func (e *Error) Unwrap() error {
	if e.Short {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// typeName names the type of a value by its first byte, for messages.
func typeName(b byte) string {
	switch {
	case b <= 0x7f || b >= 0xe0 || (b >= 0xcc && b <= 0xd3):
		return "an integer"
	case b <= 0x8f || b == 0xde || b == 0xdf:
		return "a map"
	case b <= 0x9f || b == 0xdc || b == 0xdd:
		return "an array"
	case b <= 0xbf || (b >= 0xd9 && b <= 0xdb):
		return "a string"
	case b == 0xc0:
		return "nil"
	case b == 0xc2 || b == 0xc3:
		return "a bool"
	case b >= 0xc4 && b <= 0xc6:
		return "a bin"
	case b == 0xca || b == 0xcb:
		return "a float"
	case b == 0xc1:
		return "0xc1, which no msgpack value starts with"
	}
	return "an extension"
}
