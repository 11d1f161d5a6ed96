package mavlink

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/all"
	"github.com/bluenviron/gomavlib/v3/pkg/message"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// layout holds the places of the fields of a message on the wire.
type layout struct {
	name     string
	crcExtra byte
	fields   []field // in the order of the definition
	size     int     // bytes of the longest payload
	base     int     // bytes of it without extensions
	instance string  // the field that says of which of several outputs, batteries or sensors a message is
}

// field is one field of a message.
type field struct {
	name  string
	kind  number.Kind // of one number on the wire; None for characters
	count int         // elements of an array or characters, 0 = one number
	at    int         // bytes from the start of the payload
	ext   bool        // an extension of version 2
}

// instances are the fields that distinguish messages of one sender, which are of several outputs, batteries or sensors.
var instances = map[string]string{"SERVO_OUTPUT_RAW": "port", "RC_CHANNELS_RAW": "port", "RC_CHANNELS_SCALED": "port", "BATTERY_STATUS": "id", "DISTANCE_SENSOR": "id", "ESC_INFO": "index", "ESC_STATUS": "index"}

// kinds of numbers on the wire, by the names of their types in Go.
var kinds = map[string]number.Kind{
	"int8": number.I8, "uint8": number.U8, "int16": number.I16, "uint16": number.U16,
	"int32": number.I32, "uint32": number.U32, "int64": number.I64, "uint64": number.U64,
	"float32": number.F32, "float64": number.F64,
}

// width of a number on the wire, or of a character, bytes.
func (f *field) width() int { return max(1, f.kind.Size()) }

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
	l.crcExtra, l.instance = rw.CRCExtra(), instances[l.name]
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
		f.kind = kinds[kind.Kind().String()]
		if enum := s.Tag.Get("mavenum"); enum != "" {
			f.kind = kinds[enum]
		}
		if f.kind == number.None {
			f.count = 1
			if n, err := strconv.Atoi(s.Tag.Get("mavlen")); err == nil {
				f.count = n
			}
		}
		l.fields = append(l.fields, f)
		order = append(order, i)
	}
	rank := func(i int) int {
		if f := &l.fields[i]; !f.ext {
			return -f.width()
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	for _, i := range order {
		f := &l.fields[i]
		f.at = l.size
		l.size += f.width() * max(1, f.count)
		if !f.ext {
			l.base = l.size
		}
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

// accessor is the place of a number in a payload.
type accessor struct {
	at   int
	kind number.Kind // None: there is none
	ext  bool        // of an extension
}

// find returns the place of the field of a path, such as "roll" or
// "voltages[0]", or what is wrong with it.
func (l *layout) find(path string) (accessor, error) {
	name, index := telemetry.SplitIndex(path)
	i := slices.IndexFunc(l.fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return accessor{}, fmt.Errorf("there is no %q", name)
	}
	f := &l.fields[i]
	if f.kind == number.None {
		return accessor{}, fmt.Errorf("%s is text", name)
	}
	n, err := index.Of(name, f.count)
	return accessor{f.at + n*f.width(), f.kind, f.ext}, err
}

// list returns the numbers of a message in the order of its definition.
func (l *layout) list() (out []telemetry.Field) {
	for i := range l.fields {
		f := &l.fields[i]
		switch {
		case f.kind == number.None:
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

// read returns the number in a payload with zeros behind it.
func (a accessor) read(b []byte) float64 { return a.kind.Little(b[a.at:]) }

// text returns the characters of a field, "" where there is none of that name.
func (l *layout) text(name string, b []byte) string {
	i := slices.IndexFunc(l.fields, func(f field) bool { return f.name == name && f.kind == number.None })
	if i < 0 {
		return ""
	}
	f := &l.fields[i]
	text, _, _ := strings.Cut(string(b[f.at:f.at+f.count]), "\x00")
	return text
}
