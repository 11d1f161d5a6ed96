package wire

import (
	"errors"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

func encode(dst []byte, fields []msgbin.Field) []byte {
	return msgbin.Append(dst, func(w *msgbin.Writer) { w.Fields(fields) })
}

// decode reads a message, the map of the fields, that is the whole of b.
func decode(b []byte, fields []msgbin.Field) error {
	r := msgbin.AcquireReader(b)
	defer r.Release()
	return message(r, fields)
}

// message reads a message that is the whole of what r has left.
func message(r *msgbin.Reader, fields []msgbin.Field) error {
	if err := r.Fields(fields); err != nil {
		return refused("", err)
	}
	if r.Left() > 0 {
		return fail(Malformed, "", "%d bytes after the message", r.Left())
	}
	return nil
}

// refused returns the *Error for an error of msgbin in a map, whose name goes before
// that of a field.
func refused(name string, err error) error {
	if field, ok := errors.AsType[*msgbin.FieldError](err); ok {
		if name != "" && field.Field != "" {
			name += "."
		}
		name, err = name+field.Field, field.Err
	}
	if version, ok := errors.AsType[*msgbin.ConstantError](err); ok {
		return fail(WrongVersion, name, "version %d, this program reads %d", version.Got, version.Want)
	}
	return &Error{Reason: Malformed, Field: name, Err: err}
}
