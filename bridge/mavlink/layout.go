package mavlink

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/all"
	"github.com/bluenviron/gomavlib/v3/pkg/message"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// layout is where the fields of a message stand on the wire.
type layout struct {
	name     string
	crcExtra byte
	fields   []field // in the order of the definition
	size     int     // bytes of the longest payload
}

// field is one field of a message.
type field struct {
	name  string
	kind  reflect.Kind // of one number on the wire; String for characters
	count int          // elements of an array or characters, 0 = one number
	at    int          // bytes from the start of the payload
	ext   bool         // an extension of version 2
}

// wire are the kinds of numbers by the names that definitions use for enums.
var wire = map[string]reflect.Kind{
	"int8": reflect.Int8, "uint8": reflect.Uint8, "int16": reflect.Int16, "uint16": reflect.Uint16,
	"int32": reflect.Int32, "uint32": reflect.Uint32, "int64": reflect.Int64, "uint64": reflect.Uint64,
}

// width of a number on the wire, bytes.
func width(k reflect.Kind) int {
	switch k {
	case reflect.Int16, reflect.Uint16:
		return 2
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return 4
	case reflect.Int64, reflect.Uint64, reflect.Float64:
		return 8
	}
	return 1
}

// dialect lays out the messages of all public dialects, each when it is first
// needed.
type dialect struct {
	defined map[uint32]message.Message
	laid    map[uint32]*layout
}

func newDialect() *dialect {
	d := &dialect{defined: make(map[uint32]message.Message, len(all.Dialect.Messages)), laid: map[uint32]*layout{}}
	for _, m := range all.Dialect.Messages {
		d.defined[m.GetID()] = m
	}
	return d
}

// find returns the layout of a message, or nil where it is not defined.
func (d *dialect) find(id uint32) *layout {
	if l, ok := d.laid[id]; ok {
		return l
	}
	m := d.defined[id]
	if m == nil {
		return nil
	}
	rw := &message.ReadWriter{Message: m}
	if err := rw.Initialize(); err != nil {
		panic("mavlink: a definition that cannot be laid out")
	}
	l := lay(reflect.TypeOf(m).Elem())
	l.crcExtra = rw.CRCExtra()
	d.laid[id] = l
	return l
}

// lay lays out a message by its definition: numbers of the base message from the
// widest to the narrowest, those of one width in the order of the definition,
// then the extensions as they are defined
// (https://mavlink.io/en/guide/serialization.html#field_reordering).
func lay(t reflect.Type) *layout {
	l := &layout{name: strings.ToUpper(snake(strings.TrimPrefix(t.Name(), "Message")))}
	var order []int
	for i := range t.NumField() {
		s := t.Field(i)
		f := field{name: s.Tag.Get("mavname"), ext: s.Tag.Get("mavext") == "true"}
		if f.name == "" {
			f.name = snake(s.Name)
		}
		kind := s.Type
		if kind.Kind() == reflect.Array {
			f.count, kind = kind.Len(), kind.Elem()
		}
		f.kind = kind.Kind()
		if enum := s.Tag.Get("mavenum"); enum != "" {
			f.kind = wire[enum]
		}
		if f.kind == reflect.String {
			f.count = 1
			if n, err := strconv.Atoi(s.Tag.Get("mavlen")); err == nil {
				f.count = n
			}
		}
		l.fields = append(l.fields, f)
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := &l.fields[a], &l.fields[b]
		switch {
		case x.ext != y.ext && x.ext:
			return 1
		case x.ext != y.ext:
			return -1
		case x.ext:
			return 0
		}
		return width(y.kind) - width(x.kind)
	})
	for _, i := range order {
		f := &l.fields[i]
		f.at = l.size
		l.size += width(f.kind) * max(1, f.count)
	}
	return l
}

// snake turns a name of Go into one of MAVLink: TimeBootMs into time_boot_ms.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// accessor is where in a payload a number stands.
type accessor struct {
	at   int
	kind reflect.Kind // Invalid: there is none
}

// find returns where the field of a path stands, such as "roll" or
// "voltages[0]", or what is wrong with it.
func (l *layout) find(path string) (accessor, error) {
	name, tail, indexed := strings.Cut(path, "[")
	i := slices.IndexFunc(l.fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return accessor{}, fmt.Errorf("there is no %q", name)
	}
	f := &l.fields[i]
	switch {
	case f.kind == reflect.String:
		return accessor{}, fmt.Errorf("%s is text", name)
	case f.count > 0 && !indexed:
		return accessor{}, fmt.Errorf("%s is an array of %d: write %s[0]", name, f.count, name)
	case f.count == 0 && indexed:
		return accessor{}, fmt.Errorf("%s is not an array", name)
	case !indexed:
		return accessor{f.at, f.kind}, nil
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(tail, "]"), 10, 8)
	if err != nil || !strings.HasSuffix(tail, "]") || int(n) >= f.count {
		return accessor{}, fmt.Errorf("%s has %d elements, [0] to [%d]", name, f.count, f.count-1)
	}
	return accessor{f.at + int(n)*width(f.kind), f.kind}, nil
}

// list returns the numbers of a message in the order of its definition.
func (l *layout) list() (out []telemetry.Field) {
	for i := range l.fields {
		f := &l.fields[i]
		switch {
		case f.kind == reflect.String:
		case f.count > 0:
			for k := range f.count {
				out = append(out, telemetry.Field{Path: f.name + "[" + strconv.Itoa(k) + "]"})
			}
		default:
			out = append(out, telemetry.Field{Path: f.name})
		}
	}
	return out
}

// read returns the number in a payload that was filled up with zeros.
func (a accessor) read(b []byte) float64 {
	b = b[a.at:]
	switch a.kind {
	case reflect.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case reflect.Float64:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case reflect.Uint64:
		return float64(binary.LittleEndian.Uint64(b))
	case reflect.Int64:
		return float64(int64(binary.LittleEndian.Uint64(b)))
	case reflect.Uint32:
		return float64(binary.LittleEndian.Uint32(b))
	case reflect.Int32:
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case reflect.Uint16:
		return float64(binary.LittleEndian.Uint16(b))
	case reflect.Int16:
		return float64(int16(binary.LittleEndian.Uint16(b)))
	case reflect.Int8:
		return float64(int8(b[0]))
	default:
		return float64(b[0])
	}
}

// text returns the characters of a field, "" where there is none of that name.
func (l *layout) text(name string, b []byte) string {
	for i := range l.fields {
		if f := &l.fields[i]; f.name == name && f.kind == reflect.String {
			s := b[f.at : f.at+f.count]
			if end := slices.Index(s, 0); end >= 0 {
				s = s[:end]
			}
			return string(s)
		}
	}
	return ""
}
