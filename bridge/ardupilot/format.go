package ardupilot

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// column is one field of a record.
type column struct {
	name string
	kind byte // the format's character
	at   int  // bytes from the start of the content
	unit byte // identifier of its unit, 0 = none
	mult byte // identifier of its multiplier, 0 = none
}

// kinds of fields by their characters; factors of those that are not one.
var (
	kinds = map[byte]number.Kind{
		'b': number.I8, 'M': number.I8, 'B': number.U8, 'h': number.I16, 'c': number.I16, 'H': number.U16, 'C': number.U16,
		'i': number.I32, 'e': number.I32, 'L': number.I32, 'I': number.U32, 'E': number.U32, 'q': number.I64, 'Q': number.U64,
		'f': number.F32, 'd': number.F64, 'g': number.F16,
	}
	divisors = map[byte]float64{'c': 100, 'C': 100, 'e': 100, 'E': 100, 'L': 1e7}
)

// sizes of texts and arrays by their characters, bytes.
var sizes = map[byte]int{'a': 64, 'n': 4, 'N': 16, 'Z': 64}

// size of a field, bytes; 0 = its character is not known.
func size(kind byte) int { return max(sizes[kind], kinds[kind].Size()) }

// elements of an array.
const elements = 32

// text reports whether a field holds characters.
func (c *column) text() bool { return c.kind == 'n' || c.kind == 'N' || c.kind == 'Z' }

// format is the description of a type of record by an FMT record.
type format struct {
	id       byte
	name     string
	length   int // bytes of the record, header included
	columns  []column
	instance accessor // of the field that numbers instances; of no kind where there is none
	topics   map[int]*subscription

	log       int    // which log of the file defines it
	unread    string // why its fields cannot be read: its records are passed over
	described bool   // an FMTU record says which field numbers instances, if one does
}

// same reports whether a format is defined as another one is.
func (f *format) same(g *format) bool {
	return f.name == g.name && f.length == g.length && slices.EqualFunc(f.columns, g.columns, func(a, b column) bool { return a.name == b.name && a.kind == b.kind })
}

// subscriptions returns the topics of a format by their instances, none of no format.
func (f *format) subscriptions() map[int]*subscription {
	if f == nil {
		return nil
	}
	return f.topics
}

// numbered reports whether a format may number instances: its second field is a byte.
func (f *format) numbered() bool {
	return f.name != "FMTU" && len(f.columns) > 2 && f.columns[0].name == "TimeUS" && f.columns[1].kind == 'B'
}

const (
	headSize = 3 // of a record: two bytes of magic and its type
	magic1   = 0xA3
	magic2   = 0x95
	idFMT    = 128
)

// builtin is the format of formats, which a log may leave out.
var builtin = format{id: idFMT, name: "FMT", length: 89, columns: []column{
	{name: "Type", kind: 'B', at: 0}, {name: "Length", kind: 'B', at: 1}, {name: "Name", kind: 'n', at: 2}, {name: "Format", kind: 'N', at: 6}, {name: "Columns", kind: 'Z', at: 22},
}}

// parseFMT reads the content of an FMT record. It may be too short:
// a log can describe another record by that name.
func parseFMT(b []byte) (*format, error) {
	if len(b) < builtin.length-headSize {
		return nil, fmt.Errorf("%d bytes describe no format, %d are needed", len(b), builtin.length-headSize)
	}
	f := &format{id: b[0], length: int(b[1]), name: cString(b[2:6])}
	types, names := cString(b[6:22]), cString(b[22:86])
	if f.name == "" || strings.ContainsFunc(f.name, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, fmt.Errorf("type %d has no name", f.id)
	}
	if f.length < headSize {
		return nil, fmt.Errorf("%s: length %d is shorter than a record's header", f.name, f.length)
	}
	list := strings.Split(names, ",")
	if names == "" {
		list = nil
	}
	if len(list) != len(types) {
		return nil, fmt.Errorf("%s: %d names for %d fields", f.name, len(list), len(types))
	}
	at := 0
	for i, name := range list {
		n := size(types[i])
		if n == 0 {
			f.columns, f.unread = nil, fmt.Sprintf("%s.%s: type %q is not known: its records are not read", f.name, name, types[i])
			return f, nil
		}
		f.columns = append(f.columns, column{name: name, kind: types[i], at: at})
		at += n
	}
	if at+headSize > f.length {
		return nil, fmt.Errorf("%s: its fields take %d bytes, its records have %d", f.name, at, f.length-headSize)
	}
	return f, nil
}

// cString is text up to the first zero.
func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// find returns a column, or nil.
func (f *format) find(name string) *column {
	for i := range f.columns {
		if f.columns[i].name == name {
			return &f.columns[i]
		}
	}
	return nil
}

// accessor is the place of a number in a record.
type accessor struct {
	at      int
	kind    number.Kind
	divisor float64 // of the value, 0 = none
}

func (c *column) accessor() accessor { return accessor{c.at, kinds[c.kind], divisors[c.kind]} }

// path returns the place of the field of a path, "Name" or "Name[2]", or what is
// wrong with it.
func (f *format) path(path string) (accessor, error) {
	name, index := path, telemetry.Index{}
	c := f.find(name) // labels of damaged logs have brackets, too
	if c == nil {
		name, index = telemetry.SplitIndex(path)
		c = f.find(name)
	}
	switch {
	case c == nil:
		return accessor{}, fmt.Errorf("there is no %q", name)
	case c.text():
		return accessor{}, fmt.Errorf("%s is text", name)
	case c.kind != 'a':
		_, err := index.Of(name, 0)
		return c.accessor(), err
	}
	n, err := index.Of(name, elements)
	return accessor{at: c.at + 2*n, kind: number.I16}, err
}

// places returns the places of fields.
func (f *format) places(paths []string) (all []accessor, err error) {
	for _, path := range paths {
		a, err := f.path(path)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// read returns the number in the content of a record.
func (a accessor) read(b []byte) float64 {
	v := a.kind.Little(b[a.at:])
	if a.divisor != 0 {
		v /= a.divisor
	}
	return v
}

// fields lists the numbers of a record. Of fields of one name, which only damage gives, the first counts, as in find.
func (f *format) fields(u *units) (out []telemetry.Field) {
	for i := range f.columns {
		c := &f.columns[i]
		switch {
		case c.text(), f.find(c.name) != c:
		case c.kind == 'a':
			for k := range elements {
				out = append(out, telemetry.Field{Path: c.name + "[" + strconv.Itoa(k) + "]", Unit: u.name(c)})
			}
		default:
			out = append(out, telemetry.Field{Path: c.name, Unit: u.name(c)})
		}
	}
	return out
}

// units are the UNIT and MULT records of a log.
type units struct {
	labels map[byte]string
	mults  map[byte]float64
}

// prefixes of units by their factors.
var prefixes = map[float64]string{1: "", 0.1: "d", 0.01: "c", 0.001: "m", 1e-6: "µ", 1e-9: "n", 1000: "k"}

// name is the unit of a column's values.
func (u *units) name(c *column) string {
	label := u.labels[c.unit]
	if label == "" || label == "UNKNOWN" || label == "instance" {
		return ""
	}
	if divisors[c.kind] != 0 { // the factor is in the value already
		return label
	}
	factor := u.mults[c.mult]
	if factor == 0 {
		return label
	}
	if p, ok := prefixes[factor]; ok {
		return p + label
	}
	return strconv.FormatFloat(factor, 'g', 4, 64) + " " + label
}

// describe reads an FMTU record: units and multipliers of a format's fields.
func (f *format) describe(unitIDs, multIDs string) error {
	f.described = true
	if f.topics != nil && f.instance.kind == number.None && strings.Contains(unitIDs, "#") {
		return errors.New("it names a field for instances after the first record: not used")
	}
	for i := range f.columns {
		c := &f.columns[i]
		if i < len(unitIDs) && unitIDs[i] != '-' {
			c.unit = unitIDs[i]
			if c.unit == '#' && f.instance.kind == number.None && f.topics == nil && !c.text() && c.kind != 'a' {
				f.instance = c.accessor()
			}
		}
		if i < len(multIDs) && multIDs[i] != '-' {
			c.mult = multIDs[i]
		}
	}
	return nil
}

// time returns the place of a record's time and its unit, ns; of no kind where there is none.
func (f *format) time() (a accessor, unit int64) {
	if a, err := f.path("TimeUS"); err == nil {
		return a, 1e3
	}
	if a, err := f.path("TimeMS"); err == nil {
		return a, 1e6
	}
	return accessor{}, 0
}
