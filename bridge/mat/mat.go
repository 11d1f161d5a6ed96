// Package mat reads files of MATLAB (.mat, level 5, as save -v6 and -v7 and SciPy write them) as tables: a vector is a column, a
// matrix several, and the fields of a structure have its name before theirs. Format: MAT-File Format, The MathWorks, 2023.
package mat

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/csv"
	"github.com/dgm-robotics/dgm/bridge/internal/number"
)

// Magic is what a file begins with.
var Magic = []byte("MATLAB 5.0 MAT-file")

// IsLevel4 reports whether a file that begins so is one of level 4, which is not read: a head
// of five numbers (type, rows, columns, imaginary or not, bytes of the name) and a name.
func IsLevel4(head []byte) bool {
	const size = 20
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if len(head) < size {
			return false
		}
		kind, imaginary, name := order.Uint32(head), order.Uint32(head[12:]), order.Uint32(head[16:])
		digits := kind%10 <= 2 && kind/10%10 <= 5 && kind/100%10 == 0 && kind < 5000
		rest := head[size:]
		if !digits || imaginary > 1 || name < 2 || name > 64 || len(rest) < int(name) {
			continue
		}
		if text := rest[:name-1]; rest[name-1] == 0 && !slices.ContainsFunc(text, func(c byte) bool { return c < '0' || c > 'z' }) {
			return true
		}
	}
	return false
}

// What is accepted of a file, so that a hostile one needs little memory.
const (
	maxFile    = 1 << 30 // bytes
	maxNumbers = 1 << 26
	maxColumns = 4096
	maxDepth   = 8 // of structures
	maxName    = 256
)

// Table reads the arrays of a file side by side. It implements csv.Rows.
type Table struct {
	csv.Counted

	columns []column
	names   []string
	units   []string // none
	cells   []string
}

var _ csv.Rows = (*Table)(nil)

// column is one of the columns: numbers at from, from+stride, …
type column struct {
	of           *array
	from, stride int
}

// array is a matrix of numbers, column after column.
type array struct {
	name       string
	rows, cols int
	kind       number.Kind // of what the file holds, which may be narrower than the array's class
	order      binary.ByteOrder
	data       []byte
}

// Open opens a file. The arrays that are as long as most are its columns.
func Open(path string) (*Table, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: %d bytes are more than the limit of %d: save fewer variables", path, info.Size(), maxFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func read(data []byte) (*Table, error) {
	f := &file{}
	if err := f.read(data); err != nil {
		return nil, err
	}
	t := &Table{Counted: f.left}
	if t.Bytes, t.Rows = int64(len(data)), f.length(); t.Rows == 0 {
		return nil, errors.New(strings.Join(append([]string{"it has no vector or matrix of numbers"}, f.left.LeftOut()...), "; "))
	}
	for _, a := range f.arrays {
		n, stride, step := a.cols, 1, a.rows // a column of the matrix for each
		if a.rows != t.Rows {
			n, stride, step = a.rows, a.rows, 1
		}
		if a.rows != t.Rows && a.cols != t.Rows {
			if a.rows*a.cols > 1 {
				t.Leave(a.name, fmt.Sprintf("it is %d by %d, and the table has %d rows: save it with as many, or what has times of its own in a file of its own", a.rows, a.cols, t.Rows))
			}
			continue
		}
		for i := range n {
			name := a.name
			if n > 1 {
				name += "[" + strconv.Itoa(i) + "]"
			}
			t.names, t.columns = append(t.names, name), append(t.columns, column{a, i * step, stride})
		}
		if len(t.names) > maxColumns {
			return nil, fmt.Errorf("more columns than the limit of %d", maxColumns)
		}
	}
	t.units, t.cells = make([]string, len(t.names)), make([]string, len(t.names))
	return t, nil
}

// length returns the length that most arrays have; 0 where none has more than one number.
func (f *file) length() int {
	lengths := map[int]int{}
	for _, a := range f.arrays {
		lengths[a.rows]++
		if a.cols != a.rows {
			lengths[a.cols]++
		}
	}
	delete(lengths, 1)
	delete(lengths, 0)
	return csv.Longest(lengths)
}

// file is what is read of one.
type file struct {
	order   binary.ByteOrder
	arrays  []*array
	numbers int
	left    csv.Counted // what is left out
}

// errCut is of a file that ends too early.
var errCut = errors.New("it is cut off or damaged: save it again")

// The types of data elements.
const (
	miInt8 = 1 + iota
	miUint8
	miInt16
	miUint16
	miInt32
	miUint32
	miSingle
	_
	miDouble
	_
	_
	miInt64
	miUint64
	miMatrix
	miCompressed
)

var kinds = map[uint32]number.Kind{
	miInt8: number.I8, miUint8: number.U8, miInt16: number.I16, miUint16: number.U16, miInt32: number.I32, miUint32: number.U32,
	miSingle: number.F32, miDouble: number.F64, miInt64: number.I64, miUint64: number.U64,
}

// The classes of arrays; those from double on are of numbers.
const (
	mxCell   = 1
	mxSparse = 5
	mxStruct = 2
	mxOpaque = 17
	mxDouble = 6
	mxUint64 = 15
)

// complexFlag is set of numbers with imaginary parts.
const complexFlag = 0x800

const headSize = 128

func (f *file) read(data []byte) error {
	if len(data) < headSize || !bytes.HasPrefix(data, Magic) {
		return errors.New("this is no file of MATLAB, level 5")
	}
	switch string(data[126:headSize]) {
	case "IM":
		f.order = binary.LittleEndian
	case "MI":
		f.order = binary.BigEndian
	default:
		return errCut
	}
	for data = data[headSize:]; len(data) > 0; {
		kind, body, rest, err := f.element(data)
		if err != nil {
			return err
		}
		if data = rest; kind == miCompressed {
			if kind, body, err = f.unpack(body); err != nil {
				return err
			}
		}
		if kind != miMatrix {
			continue
		}
		if err := f.matrix("", body, 0); err != nil {
			return err
		}
	}
	return nil
}

// unpack unpacks an element.
func (f *file) unpack(packed []byte) (kind uint32, body []byte, err error) {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return 0, nil, errCut
	}
	tag := make([]byte, 8)
	if _, err := io.ReadFull(z, tag); err != nil {
		return 0, nil, errCut
	}
	n := f.order.Uint32(tag[4:])
	if int64(n) > maxFile {
		return 0, nil, fmt.Errorf("an array of %d bytes is larger than the limit of %d", n, maxFile)
	}
	var out bytes.Buffer // grows by what is there, not by what is announced
	if _, err := io.CopyN(&out, z, int64(n)); err != nil {
		return 0, nil, errCut
	}
	return f.order.Uint32(tag), out.Bytes(), nil
}

// element returns the first data element and what follows it.
func (f *file) element(b []byte) (kind uint32, body, rest []byte, err error) {
	if len(b) < 8 {
		return 0, nil, nil, errCut
	}
	kind = f.order.Uint32(b)
	if n := kind >> 16; n != 0 { // a small one
		if n > 4 {
			return 0, nil, nil, errCut
		}
		return kind & 0xffff, b[4 : 4+n], b[8:], nil
	}
	n := uint64(f.order.Uint32(b[4:]))
	if n > uint64(len(b)-8) {
		return 0, nil, nil, errCut
	}
	end := 8 + n
	if kind != miCompressed {
		end = (end + 7) / 8 * 8
	}
	return kind, b[8 : 8+n], b[min(end, uint64(len(b))):], nil
}

// matrix reads an array, or the fields of a structure, whose names begin with prefix.
func (f *file) matrix(prefix string, b []byte, depth int) error {
	if len(b) == 0 {
		return nil // an empty one
	}
	_, flags, b, err := f.element(b)
	if err != nil || len(flags) < 8 {
		return errCut
	}
	class := f.order.Uint32(flags) & 0xff
	if class == mxOpaque {
		return f.opaque(prefix, b)
	}
	_, sizes, b, err := f.element(b)
	if err != nil || len(sizes) < 8 {
		return errCut
	}
	rows, cols := int(int32(f.order.Uint32(sizes))), int(int32(f.order.Uint32(sizes[4:])))
	_, text, b, err := f.element(b)
	if err != nil || len(text) > maxName || rows < 0 || cols < 0 {
		return errCut
	}
	name := prefix + strings.ToValidUTF8(string(text), "?")
	switch {
	case class == mxStruct && rows == 1 && cols == 1 && len(sizes) == 8 && depth < maxDepth:
		return f.fields(name+".", b, depth+1)
	case class < mxDouble || class > mxUint64:
		if name != "" {
			f.left.Leave(name, noNumbers(class))
		}
		return nil
	case name == "": // what objects are made of, which MATLAB keeps behind them
		return nil
	case f.order.Uint32(flags)&complexFlag != 0:
		f.left.Leave(name, "it is complex: save its real and its imaginary part as two vectors, as in x = real(z)")
		return nil
	case len(sizes) > 8:
		f.left.Leave(name, "it has more than two dimensions")
		return nil
	}
	kind, data, _, err := f.element(b)
	if err != nil {
		return errCut
	}
	k, ok := kinds[kind]
	if n := uint64(rows) * uint64(cols); !ok || n*uint64(k.Size()) != uint64(len(data)) {
		return errCut
	}
	if rows*cols == 0 {
		return nil
	}
	if f.numbers += rows * cols; f.numbers > maxNumbers {
		return fmt.Errorf("more than %d numbers: save fewer variables", maxNumbers)
	}
	f.arrays = append(f.arrays, &array{name: name, rows: rows, cols: cols, kind: k, order: f.order, data: data})
	return nil
}

// opaque leaves out an object: a name, a system of types, and a class.
func (f *file) opaque(prefix string, b []byte) error {
	var texts [3][]byte
	var err error
	for i := range texts {
		if _, texts[i], b, err = f.element(b); err != nil || len(texts[i]) > maxName {
			return errCut
		}
	}
	class := strings.ToValidUTF8(string(texts[2]), "?")
	f.left.Leave(prefix+strings.ToValidUTF8(string(texts[0]), "?"), "it is an object of class "+class+objects[class])
	return nil
}

// fields reads those of a structure.
func (f *file) fields(prefix string, b []byte, depth int) error {
	_, length, b, err := f.element(b)
	if err != nil || len(length) < 4 {
		return errCut
	}
	_, texts, b, err := f.element(b)
	n := int(int32(f.order.Uint32(length)))
	if err != nil || n <= 0 || n > maxName || len(texts)%n != 0 {
		return errCut
	}
	for ; len(texts) > 0; texts = texts[n:] {
		var kind uint32
		var body []byte
		if kind, body, b, err = f.element(b); err != nil || kind != miMatrix {
			return errCut
		}
		name, _, _ := bytes.Cut(texts[:n], []byte{0})
		if err := f.matrix(prefix+strings.ToValidUTF8(string(name), "?"), body, depth); err != nil {
			return err
		}
	}
	return nil
}

// Columns returns the names of the columns. They have no units.
func (t *Table) Columns() (names, units []string) { return t.names, t.units }

// Next returns the next row.
func (t *Table) Next() ([]string, error) {
	if !t.Another() {
		return nil, io.EOF
	}
	for i, c := range t.columns {
		t.cells[i] = c.of.text(c.from + (t.Read-1)*c.stride)
	}
	return t.cells, nil
}

// Close frees the arrays.
func (t *Table) Close() error {
	t.columns = slices.Delete(t.columns, 0, len(t.columns))
	return nil
}
