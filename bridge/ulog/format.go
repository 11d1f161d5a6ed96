package ulog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// kinds of numbers by their names. A bool and a char are read as int8_t.
var kinds = map[string]number.Kind{
	"int8_t": number.I8, "uint8_t": number.U8, "int16_t": number.I16, "uint16_t": number.U16, "int32_t": number.I32, "uint32_t": number.U32,
	"int64_t": number.I64, "uint64_t": number.U64, "float": number.F32, "double": number.F64, "bool": number.I8, "char": number.I8,
}

// field is one field of a definition.
type field struct {
	name   string
	kind   number.Kind // None: of the type nested
	nested string
	count  int // elements of an array, 0 = no array
}

// padding reports whether a field only keeps others aligned.
func (f *field) padding() bool { return strings.HasPrefix(f.name, "_padding") }

// format is the definition of a type of message.
type format struct {
	name   string
	fields []field
	size   int // bytes, once it is laid out; 0 = not yet
}

// parseFormat reads "name:type field;type[n] field;…".
func parseFormat(text string) (*format, error) {
	name, list, ok := strings.Cut(text, ":")
	if !ok || name == "" {
		return nil, errors.New("it has no name")
	}
	f := &format{name: strings.Clone(name)}
	for item := range strings.SplitSeq(list, ";") {
		if item == "" {
			continue
		}
		if len(f.fields) == maxFields {
			return nil, fmt.Errorf("more than %d fields", maxFields)
		}
		kind, name, ok := strings.Cut(item, " ")
		if !ok || name == "" || kind == "" {
			return nil, fmt.Errorf("%q is not a type and a name", telemetry.Clip(item))
		}
		fl := field{name: strings.Clone(name)}
		if i := strings.IndexByte(kind, '['); i >= 0 {
			n, err := strconv.ParseUint(strings.TrimSuffix(kind[i+1:], "]"), 10, 16)
			if err != nil || n == 0 || !strings.HasSuffix(kind, "]") {
				return nil, fmt.Errorf("%q is not an array of 1 to 65535", telemetry.Clip(kind))
			}
			fl.count, kind = int(n), kind[:i]
		}
		if fl.kind = kinds[kind]; fl.kind == number.None {
			fl.nested = strings.Clone(kind)
		}
		f.fields = append(f.fields, fl)
	}
	if len(f.fields) == 0 {
		return nil, errors.New("it has no fields")
	}
	return f, nil
}

// formats are the definitions of a log by name.
type formats map[string]*format

var errDeep = fmt.Errorf("types are nested more than %d deep", maxDepth)

// size returns the size of a type in bytes, with all padding. The
// result is kept, so that nested types cost their definition once.
func (fs formats) size(name string, depth int) (int, error) {
	f := fs[name]
	switch {
	case f == nil:
		return 0, fmt.Errorf("type %q is not defined", telemetry.Clip(name))
	case f.size > 0:
		return f.size, nil
	case depth > maxDepth:
		return 0, errDeep
	}
	total := 0
	for i := range f.fields {
		n, err := fs.fieldSize(&f.fields[i], depth)
		if err != nil {
			return 0, err
		}
		if total += n; total > maxPayload {
			return 0, fmt.Errorf("type %q takes more than %d bytes", telemetry.Clip(name), maxPayload)
		}
	}
	f.size = total
	return total, nil
}

// element is the size of one element of a field.
func (fs formats) element(f *field, depth int) (int, error) {
	if f.kind != number.None {
		return f.kind.Size(), nil
	}
	return fs.size(f.nested, depth+1)
}

func (fs formats) fieldSize(f *field, depth int) (int, error) {
	n, err := fs.element(f, depth)
	return n * max(1, f.count), err
}

// microseconds converts a timestamp into ns. What does not fit is 0: no robot is on for
// 292 years.
func microseconds(us uint64) int64 {
	if us > 1<<63/1000-1 {
		return 0
	}
	return int64(us) * 1000
}

// name names a kind of record in problems.
func name(kind byte) string {
	if n, ok := names[kind]; ok {
		return n
	}
	if kind > ' ' && kind < 0x7f {
		return fmt.Sprintf("record of kind %q", kind)
	}
	return fmt.Sprintf("record of kind %#02x", kind)
}

// subscribed returns the topic of a data message.
func (r *Reader) subscribed(b []byte) *subscription {
	if len(b) < dataHead {
		return nil
	}
	if id := int(binary.LittleEndian.Uint16(b)); id < len(r.byID) {
		return r.byID[id]
	}
	return nil
}
