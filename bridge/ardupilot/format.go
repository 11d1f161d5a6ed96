package ardupilot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/internal/binary16"
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

// sizes of the fields by their characters, bytes.
var sizes = map[byte]int{
	'a': 64, 'b': 1, 'B': 1, 'h': 2, 'H': 2, 'i': 4, 'I': 4, 'f': 4, 'd': 8, 'g': 2, 'n': 4, 'N': 16, 'Z': 64,
	'c': 2, 'C': 2, 'e': 4, 'E': 4, 'L': 4, 'M': 1, 'q': 8, 'Q': 8,
}

// text says whether a field holds characters.
func (c *column) text() bool { return c.kind == 'n' || c.kind == 'N' || c.kind == 'Z' }

// format is what an FMT record says of a type of record.
type format struct {
	id       byte
	name     string
	length   int // bytes of the record, header included
	columns  []column
	instance accessor // of the field that tells instances apart; of kind 0 where there is none
	topics   map[int]*subscription
}

const (
	headSize = 3 // of a record: two bytes of magic and its type
	magic1   = 0xA3
	magic2   = 0x95
	idFMT    = 128
)

// builtin is the format of formats, which a log need not describe.
var builtin = format{id: idFMT, name: "FMT", length: 89, columns: []column{
	{name: "Type", kind: 'B', at: 0}, {name: "Length", kind: 'B', at: 1}, {name: "Name", kind: 'n', at: 2}, {name: "Format", kind: 'N', at: 6}, {name: "Columns", kind: 'Z', at: 22},
}}

// parseFMT reads the content of an FMT record. It may be shorter than it should be:
// a log can describe another record by that name.
func parseFMT(b []byte) (*format, error) {
	if len(b) < builtin.length-headSize {
		return nil, fmt.Errorf("%d bytes describe no format, %d are needed", len(b), builtin.length-headSize)
	}
	f := &format{id: b[0], length: int(b[1]), name: cString(b[2:6])}
	kinds, names := cString(b[6:22]), cString(b[22:86])
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
	if len(list) != len(kinds) {
		return nil, fmt.Errorf("%s: %d names for %d fields", f.name, len(list), len(kinds))
	}
	at := 0
	for i, name := range list {
		size := sizes[kinds[i]]
		if size == 0 {
			return nil, fmt.Errorf("%s.%s: type %q is not known", f.name, name, kinds[i])
		}
		f.columns = append(f.columns, column{name: name, kind: kinds[i], at: at})
		at += size
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

// accessor is where in a record a number stands.
type accessor struct {
	at   int
	kind byte // of one number
}

// path returns where the field of a path stands, "Name" or "Name[2]", or what is
// wrong with it.
func (f *format) path(path string) (accessor, error) {
	name, tail, indexed := path, "", false
	c := f.find(name) // labels of damaged logs have brackets, too
	if c == nil {
		name, tail, indexed = strings.Cut(path, "[")
		c = f.find(name)
	}
	switch {
	case c == nil:
		return accessor{}, fmt.Errorf("there is no %q", name)
	case c.text():
		return accessor{}, fmt.Errorf("%s is text", name)
	case c.kind == 'a' && !indexed:
		return accessor{}, fmt.Errorf("%s is an array of 32: write %s[0]", name, name)
	case c.kind != 'a' && indexed:
		return accessor{}, fmt.Errorf("%s is not an array", name)
	case !indexed:
		return accessor{c.at, c.kind}, nil
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(tail, "]"), 10, 8)
	if err != nil || !strings.HasSuffix(tail, "]") || n > 31 {
		return accessor{}, fmt.Errorf("%s has 32 elements, [0] to [31]", name)
	}
	return accessor{c.at + 2*int(n), 'h'}, nil
}

// read returns the number in the content of a record.
func (a accessor) read(b []byte) float64 {
	b = b[a.at:]
	switch a.kind {
	case 'b', 'M':
		return float64(int8(b[0]))
	case 'B':
		return float64(b[0])
	case 'h':
		return float64(int16(binary.LittleEndian.Uint16(b)))
	case 'H':
		return float64(binary.LittleEndian.Uint16(b))
	case 'c':
		return float64(int16(binary.LittleEndian.Uint16(b))) / 100
	case 'C':
		return float64(binary.LittleEndian.Uint16(b)) / 100
	case 'i':
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case 'I':
		return float64(binary.LittleEndian.Uint32(b))
	case 'e':
		return float64(int32(binary.LittleEndian.Uint32(b))) / 100
	case 'E':
		return float64(binary.LittleEndian.Uint32(b)) / 100
	case 'L':
		return float64(int32(binary.LittleEndian.Uint32(b))) / 1e7
	case 'q':
		return float64(int64(binary.LittleEndian.Uint64(b)))
	case 'Q':
		return float64(binary.LittleEndian.Uint64(b))
	case 'f':
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case 'd':
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	case 'g':
		return binary16.Float64(binary.LittleEndian.Uint16(b))
	}
	panic("ardupilot: not the type of a number")
}

// fields lists the numbers of a record.
func (f *format) fields(u *units) (out []telemetry.Field) {
	for i := range f.columns {
		c := &f.columns[i]
		switch {
		case c.text():
		case c.kind == 'a':
			for k := range 32 {
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
	switch c.kind {
	case 'c', 'C', 'e', 'E', 'L': // their factor is in the value already
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

// describe takes an FMTU record: units and multipliers of a format's fields.
func (f *format) describe(unitIDs, multIDs string) error {
	if f.topics != nil && f.instance.kind == 0 && strings.Contains(unitIDs, "#") {
		return errors.New("it names a field for instances after the first record: not used")
	}
	for i := range f.columns {
		c := &f.columns[i]
		if i < len(unitIDs) && unitIDs[i] != '-' {
			c.unit = unitIDs[i]
			if c.unit == '#' && f.instance.kind == 0 && f.topics == nil && !c.text() && c.kind != 'a' {
				f.instance = accessor{c.at, c.kind}
			}
		}
		if i < len(multIDs) && multIDs[i] != '-' {
			c.mult = multIDs[i]
		}
	}
	return nil
}
