package ulog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// primitive is a type of one number.
type primitive uint8

const (
	none primitive = iota
	i8
	u8
	i16
	u16
	i32
	u32
	i64
	u64
	f32
	f64
	boolean
	char
)

var primitives = map[string]primitive{
	"int8_t": i8, "uint8_t": u8, "int16_t": i16, "uint16_t": u16, "int32_t": i32, "uint32_t": u32,
	"int64_t": i64, "uint64_t": u64, "float": f32, "double": f64, "bool": boolean, "char": char,
}

// sizes of the primitives, bytes.
var sizes = [...]int{none: 0, i8: 1, u8: 1, i16: 2, u16: 2, i32: 4, u32: 4, i64: 8, u64: 8, f32: 4, f64: 8, boolean: 1, char: 1}

// field is one field of a definition.
type field struct {
	name   string
	number primitive // none: of the type nested
	nested string
	count  int // elements of an array, 0 = no array
}

// padding says whether a field only keeps others aligned.
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
			return nil, fmt.Errorf("%q is not a type and a name", clip(item))
		}
		fl := field{name: strings.Clone(name)}
		if i := strings.IndexByte(kind, '['); i >= 0 {
			n, err := strconv.ParseUint(strings.TrimSuffix(kind[i+1:], "]"), 10, 16)
			if err != nil || n == 0 || !strings.HasSuffix(kind, "]") {
				return nil, fmt.Errorf("%q is not an array of 1 to 65535", clip(kind))
			}
			fl.count, kind = int(n), kind[:i]
		}
		if fl.number = primitives[kind]; fl.number == none {
			fl.nested = strings.Clone(kind)
		}
		f.fields = append(f.fields, fl)
	}
	if len(f.fields) == 0 {
		return nil, errors.New("it has no fields")
	}
	return f, nil
}

// clip shortens what is shown in a message.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// formats are the definitions of a log by name.
type formats map[string]*format

var errDeep = fmt.Errorf("types stand within types more than %d deep", maxDepth)

// size lays a type out and returns its size in bytes, with all padding. The
// result is kept, so that nested types cost their definition once.
func (fs formats) size(name string, depth int) (int, error) {
	f := fs[name]
	switch {
	case f == nil:
		return 0, fmt.Errorf("type %q is not defined", clip(name))
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
			return 0, fmt.Errorf("type %q takes more than %d bytes", clip(name), maxPayload)
		}
	}
	f.size = total
	return total, nil
}

// element is the size of one element of a field.
func (fs formats) element(f *field, depth int) (int, error) {
	if f.number != none {
		return sizes[f.number], nil
	}
	return fs.size(f.nested, depth+1)
}

func (fs formats) fieldSize(f *field, depth int) (int, error) {
	n, err := fs.element(f, depth)
	return n * max(1, f.count), err
}
