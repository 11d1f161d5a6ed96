// Package npz reads archives of arrays of NumPy (.npz) as tables: an array is a column, one of
// two dimensions several. Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
package npz

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/internal/number"
)

// Magic is what an archive begins with.
var Magic = []byte("PK\x03\x04")

// What is accepted of an archive, so that a hostile one needs little memory.
const (
	maxArrays  = 1024
	maxColumns = 4096
	maxHeader  = 1 << 16 // bytes
	maxText    = 1024    // bytes of a text
	maxMajor   = 1 << 28 // bytes of an array that is stored column by column: it is held
)

// Table reads the arrays of an archive side by side. It implements csv.Rows.
type Table struct {
	csv.Counted

	file   *zip.ReadCloser
	arrays []*array
	names  []string
	units  []string
	cells  []string
}

var _ csv.Rows = (*Table)(nil)

// array is one of the arrays, which is read row by row.
type array struct {
	name  string
	body  io.ReadCloser
	r     *bufio.Reader
	order binary.ByteOrder
	kind  byte // of NumPy: f, i, u, b, M, m, S or U
	width int  // bytes of an element
	unit  string
	rows  int
	cols  int // elements in a row
	flat  bool
	major bool   // it is stored column by column
	all   []byte // of an array that is stored so, once a row is read
	buf   []byte
}

// Open opens an archive. The arrays that are as long as most are its columns; of the others
// LeftOut says why they are none.
func Open(path string) (*Table, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s: this is no archive of NumPy (%w)", path, err)
	}
	t := &Table{file: z, Counted: csv.Counted{Bytes: info.Size()}}
	if err := t.begin(); err != nil {
		_ = t.Close() // was read only: what it says of damage is said already
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func (t *Table) begin() error {
	lengths := map[int]int{}
	for _, f := range t.file.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok || len(t.arrays) >= maxArrays {
			continue
		}
		a, err := openArray(name, f)
		if err != nil {
			t.Leave(name, err.Error())
			continue
		}
		a.turn(0)
		t.arrays = append(t.arrays, a)
		if a.rows > 1 {
			lengths[a.rows]++
		}
	}
	t.Rows = csv.Longest(lengths)
	for _, a := range t.arrays {
		a.turn(t.Rows)
	}
	t.arrays = slices.DeleteFunc(t.arrays, func(a *array) bool {
		why := a.unlike(t.Rows)
		if why != "" {
			_ = a.body.Close() // was read only
			t.Leave(a.name, why)
		}
		return why != ""
	})
	if len(t.arrays) == 0 {
		return errors.New(strings.Join(append([]string{"it has no array of numbers with more than one row; save each column of a table as an array"}, t.LeftOut()...), "; "))
	}
	for _, a := range t.arrays {
		for i := range a.cols {
			name := a.name
			if !a.flat {
				name += "[" + strconv.Itoa(i) + "]"
			}
			t.names, t.units = append(t.names, name), append(t.units, a.unit)
		}
	}
	if len(t.names) > maxColumns {
		return fmt.Errorf("%d columns are more than the limit of %d", len(t.names), maxColumns)
	}
	t.cells = make([]string, len(t.names))
	return nil
}

// lies reports whether an array seems to have its rows along the second axis: it has a few,
// and far more columns.
func (a *array) lies() bool { return a.rows > 0 && a.cols > 16*a.rows && a.rows < 16 }

// unlike returns why an array is no column of a table with so many rows; "" = it is one.
func (a *array) unlike(rows int) string {
	switch {
	case a.cols > maxColumns:
		return fmt.Sprintf("its shape is (%d, %d)", a.rows, a.cols)
	case a.rows == rows && a.major && a.width*a.cols > maxMajor/a.rows:
		return fmt.Sprintf("it is stored column by column (Fortran order) and larger than %d MB: save numpy.ascontiguousarray of it", maxMajor>>20)
	case a.rows == rows:
		return ""
	case a.rows == 1 && a.cols == 1:
		return "it is a single value"
	case a.rows == rows-1:
		return fmt.Sprintf("it has %d rows, one less than the table, as inputs between states: repeat its last row, as in u = numpy.append(u, u[-1:], axis=0)", a.rows)
	}
	return fmt.Sprintf("it has %d rows, and the table has %d: save it with as many, or what has times of its own in an archive of its own", a.rows, rows)
}

var header = regexp.MustCompile(`^\{'descr': '([<>|=]?)([fiubMmSU])(\d+)(?:\[(\w+)\])?', 'fortran_order': (True|False), 'shape': \((\d*),? ?(\d*)\),? *\}\s*$`)

// deep finds the shape of an array of more than two dimensions.
var deep = regexp.MustCompile(`'shape': \((\d+(?:, \d+){2,})\)`)

// openArray reads the head of an array.
func openArray(name string, f *zip.File) (*array, error) {
	body, err := f.Open()
	if err != nil {
		return nil, err
	}
	a := &array{name: name, body: body, r: bufio.NewReader(body)}
	if err := a.head(); err != nil {
		_ = body.Close() // was read only
		return nil, err
	}
	return a, nil
}

func (a *array) head() error {
	b := make([]byte, 8)
	if _, err := io.ReadFull(a.r, b); err != nil || !bytes.HasPrefix(b, []byte("\x93NUMPY")) {
		return errors.New("it is no array")
	}
	size := 2
	if b[6] > 1 {
		size = 4
	}
	length := make([]byte, 4)
	if _, err := io.ReadFull(a.r, length[:size]); err != nil {
		return errors.New("it is cut off")
	}
	n := binary.LittleEndian.Uint32(length)
	if n > maxHeader {
		return fmt.Errorf("a header of %d bytes", n)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(a.r, text); err != nil {
		return errors.New("it is cut off")
	}
	m := header.FindSubmatch(text)
	if m == nil {
		if shape := deep.FindSubmatch(text); shape != nil {
			return fmt.Errorf("its shape is (%s): save it with two dimensions, rows by columns, and the first index of others as a column that numbers segments", shape[1])
		}
		if bytes.HasPrefix(text, []byte("{'descr': [")) {
			return errors.New("it has fields: save each as an array, as by numpy.savez('log.npz', **{n: a[n] for n in a.dtype.names})")
		}
		if bytes.HasPrefix(text, []byte("{'descr': '|O'")) {
			return errors.New("it has objects of Python: save their numbers as arrays, as by numpy.savez('log.npz', **a.item()) of a dictionary of arrays")
		}
		return errors.New("its type is not read, only numbers, truth values, texts and times are, in one dimension or two")
	}
	whole := func(i, other int) int {
		if v, err := strconv.Atoi(string(m[i])); err == nil {
			return v
		}
		return other
	}
	a.order, a.kind, a.width, a.unit = binary.LittleEndian, m[2][0], whole(3, 0), string(m[4])
	if string(m[1]) == ">" {
		a.order = binary.BigEndian
	}
	a.rows, a.cols, a.flat = whole(6, 1), whole(7, 1), len(m[7]) == 0
	if a.kind == 'U' {
		a.width *= 4
	}
	_, known := kinds[string(a.kind)+strconv.Itoa(a.width)]
	switch {
	case !known && a.kind != 'U' && a.kind != 'S', a.width > maxText:
		return fmt.Errorf("its elements of type %s are not read", m[2:4])
	case (a.kind == 'M' || a.kind == 'm') && !slices.Contains([]string{"s", "ms", "us", "ns"}, a.unit):
		return fmt.Errorf("times in units of %q are not read", a.unit)
	}
	a.major = string(m[5]) == "True" && a.cols > 1 && a.rows > 1
	return nil
}

// turn has an array with its rows along the second axis, as those of a state over time, read as its transpose: where a
// few rows are as long as the table, or far longer than they are many.
func (a *array) turn(rows int) {
	if a.lies() || a.cols > 1 && a.cols == rows && a.rows != rows && !a.flat {
		a.rows, a.cols, a.major = a.cols, a.rows, !a.major
	}
}

// next reads the next row into buf.
func (a *array) next(row int) (err error) {
	if a.buf == nil {
		a.buf = make([]byte, a.width*a.cols)
	}
	if !a.major {
		_, err = io.ReadFull(a.r, a.buf)
		return err
	}
	if a.all == nil {
		if a.all, err = io.ReadAll(io.LimitReader(a.r, int64(a.width*a.cols*a.rows))); err != nil {
			return err
		}
	}
	if len(a.all) < a.width*a.cols*a.rows {
		return io.ErrUnexpectedEOF
	}
	for i := range a.cols {
		copy(a.buf[i*a.width:], a.all[(i*a.rows+row)*a.width:][:a.width])
	}
	return nil
}

// kinds of numbers by their types in NumPy.
var kinds = map[string]number.Kind{
	"f2": number.F16, "f4": number.F32, "f8": number.F64, "i1": number.I8, "i2": number.I16, "i4": number.I32, "i8": number.I64,
	"u1": number.U8, "u2": number.U16, "u4": number.U32, "u8": number.U64, "b1": number.U8, "M8": number.I64, "m8": number.I64,
}

// cell writes the element at the start of b.
func (a *array) cell(b []byte) string {
	switch a.kind {
	case 'S':
		return string(bytes.TrimRight(b[:a.width], "\x00"))
	case 'U':
		var s strings.Builder
		for ; len(b) >= 4; b = b[4:] {
			if c := a.order.Uint32(b); c != 0 {
				s.WriteRune(rune(c))
			}
		}
		return s.String()
	case 'i', 'u', 'b', 'M', 'm':
		return a.whole(b)
	}
	k := kinds[string(a.kind)+strconv.Itoa(a.width)]
	v := k.Little(b)
	if a.order == binary.BigEndian {
		v = k.Big(b)
	}
	if math.IsNaN(v) {
		return ""
	}
	bits := 64
	if a.width == 4 {
		bits = 32
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}

// whole writes a whole number, all of whose 64 bits count.
func (a *array) whole(b []byte) string {
	var wide [8]byte
	for i := range a.width {
		if a.order == binary.BigEndian {
			wide[i] = b[a.width-1-i]
		} else {
			wide[i] = b[i]
		}
	}
	v := binary.LittleEndian.Uint64(wide[:])
	if a.kind == 'u' || a.kind == 'b' {
		return strconv.FormatUint(v, 10)
	}
	shift := 64 - 8*a.width
	signed := int64(v<<shift) >> shift
	if (a.kind == 'M' || a.kind == 'm') && signed == math.MinInt64 {
		return "" // no time
	}
	return strconv.FormatInt(signed, 10)
}

// Columns returns the names of the columns and the units of times.
func (t *Table) Columns() (names, units []string) { return t.names, t.units }

// Next returns the next row.
func (t *Table) Next() ([]string, error) {
	if !t.Another() {
		return nil, io.EOF
	}
	at := 0
	for _, a := range t.arrays {
		if err := a.next(t.Read - 1); err != nil {
			return nil, fmt.Errorf("array %q is cut off or damaged in row %d (%w)", a.name, t.Read, err)
		}
		for i := range a.cols {
			t.cells[at] = a.cell(a.buf[i*a.width : (i+1)*a.width])
			at++
		}
	}
	return t.cells, nil
}

// Close closes the file.
func (t *Table) Close() error {
	for _, a := range t.arrays {
		_ = a.body.Close() // was read only
	}
	return t.file.Close()
}
