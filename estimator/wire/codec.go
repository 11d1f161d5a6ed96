package wire

import (
	"errors"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// limits are those that the tags of messages name.
var limits = msgbin.Limits{
	"channels": MaxChannels, "covariance": MaxChannels * MaxChannels, "times": MaxTimes, "numbers": MaxTimes * MaxChannels, "tube": tubes,
	"list": maxList, "trust": maxTrust, "answer": MaxNumbers, "history": MaxHistory,
	"half_spaces": MaxLimits * (MaxChannels + 1), "boxes": MaxLimits * 2 * MaxChannels,
}

// mostFields is how many fields of a message other than a status need no memory of the heap, and mostOfStatus of that.
const mostFields, mostOfStatus = 32, 80

// fields appends the fields of a message, in the order in which they are written.
func fields(dst []msgbin.Field, k msgbin.Keys, message any) []msgbin.Field {
	return k.Fields(append(dst, msgbin.Required("v", Version)), message)
}

// encode appends a message that is a struct.
func encode(dst []byte, k msgbin.Keys, message any) []byte {
	var f [mostFields]msgbin.Field
	return encodeFields(dst, fields(f[:0], k, message))
}

func encodeFields(dst []byte, fields []msgbin.Field) []byte {
	return msgbin.Append(dst, func(w *msgbin.Writer) { w.Fields(fields) })
}

// decode reads a message that is a struct, and the whole of b.
func decode(b []byte, k msgbin.Keys, to any) error {
	var f [mostFields]msgbin.Field
	r := msgbin.AcquireReader(b)
	defer r.Release()
	return message(r, fields(f[:0], k, to))
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

// refused returns the *Error for an error of msgbin in a field, or in the message where name is empty.
func refused(name string, err error) error {
	if field, ok := errors.AsType[*msgbin.FieldError](msgbin.Within(name, err)); ok {
		name, err = field.Field, field.Err
	}
	if version, ok := errors.AsType[*msgbin.ConstantError](err); ok {
		return fail(WrongVersion, name, "version %d, this program reads %d", version.Got, version.Want)
	}
	return &Error{Reason: Malformed, Field: name, Err: err}
}
