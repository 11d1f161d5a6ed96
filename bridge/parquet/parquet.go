// Package parquet reads tables in Apache Parquet, row by row. Columns of lists are left out.
package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/dgm-robotics/dgm/bridge/csv"
)

// Magic is what a file begins with.
var Magic = []byte("PAR1")

const maxColumns = 4096

// Table reads a file. It implements csv.Rows.
type Table struct {
	file   *os.File
	size   int64
	groups []parquet.RowGroup
	rows   parquet.Rows
	names  []string
	units  []string
	at     []int // by leaf: its column here; −1 = left out
	cells  []string
	buf    []parquet.Row
	held   []parquet.Row // of buf, not yet returned
	n, all int64
	done   <-chan struct{}
}

var _ csv.Rows = (*Table)(nil)

// rowsAtOnce is how many rows are decoded at once.
const rowsAtOnce = 64

// Open opens a file.
func Open(path string) (*Table, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t := &Table{file: file, buf: make([]parquet.Row, rowsAtOnce)}
	err = guarded(func() error { return t.begin() })
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return t, nil
}

// guarded turns a panic of the library at a damaged file into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("it is damaged (%v)", v)
		}
	}()
	return f()
}

func (t *Table) begin() error {
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	t.size = info.Size()
	f, err := parquet.OpenFile(t.file, t.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("this is no whole file of Parquet (%w)", err)
	}
	t.groups, t.all = f.RowGroups(), f.NumRows()
	for _, path := range f.Schema().Columns() {
		leaf, _ := f.Schema().Lookup(path...)
		at := -1
		if leaf.MaxRepetitionLevel == 0 {
			at = len(t.names)
			t.names, t.units = append(t.names, strings.Join(path, ".")), append(t.units, unitOf(leaf.Node))
		}
		t.at = append(t.at, at)
	}
	switch {
	case len(t.names) > maxColumns:
		return fmt.Errorf("%d columns are more than the limit of %d", len(t.names), maxColumns)
	case len(t.names) == 0:
		return errors.New("it has no column of single values")
	}
	t.cells = make([]string, len(t.names))
	return nil
}

// unitOf returns the unit of a column of times, "" of others.
func unitOf(n parquet.Node) string {
	l := n.Type().LogicalType()
	if l == nil || !strings.HasPrefix(l.String(), "TIMESTAMP(") {
		return ""
	}
	switch text := l.String(); {
	case strings.Contains(text, "unit=MILLIS"):
		return "ms"
	case strings.Contains(text, "unit=MICROS"):
		return "us"
	}
	return "ns"
}

// Columns returns the names of the columns and the units of times.
func (t *Table) Columns() (names, units []string) { return t.names, t.units }

// Next returns the next row.
func (t *Table) Next() (cells []string, err error) {
	select {
	case <-t.done:
		return nil, io.EOF
	default:
	}
	if err := guarded(t.fill); err != nil {
		return nil, err
	}
	row := t.held[0]
	t.held = t.held[1:]
	t.n++
	clear(t.cells)
	for _, v := range row {
		if c := v.Column(); c < 0 || c >= len(t.at) || t.at[c] < 0 {
			continue
		}
		t.cells[t.at[v.Column()]] = cell(v)
	}
	return t.cells, nil
}

// fill decodes rows where none is held.
func (t *Table) fill() error {
	for len(t.held) == 0 {
		if t.rows == nil {
			if len(t.groups) == 0 {
				return io.EOF
			}
			t.rows, t.groups = t.groups[0].Rows(), t.groups[1:]
		}
		n, err := t.rows.ReadRows(t.buf)
		t.held = t.buf[:n]
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("row %d cannot be read: %w", t.n+1, err)
		}
		if err := t.rows.Close(); err != nil {
			return err
		}
		t.rows = nil
	}
	return nil
}

// cell writes a value as text, exactly.
func cell(v parquet.Value) string {
	if v.IsNull() {
		return ""
	}
	switch v.Kind() {
	case parquet.Boolean:
		return strconv.FormatBool(v.Boolean())
	case parquet.Int32:
		return strconv.FormatInt(int64(v.Int32()), 10)
	case parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10)
	case parquet.Float:
		return number(float64(v.Float()), 32)
	case parquet.Double:
		return number(v.Double(), 64)
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return string(v.ByteArray())
	}
	return ""
}

func number(v float64, bits int) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, bits)
}

// Consumed returns how much of the file was read, by the rows.
func (t *Table) Consumed() int64 {
	return int64(float64(t.size) * float64(t.n) / float64(max(1, t.all)))
}

// Size returns the bytes of the file.
func (t *Table) Size() int64 { return t.size }

// Until has reading end once done is closed.
func (t *Table) Until(done <-chan struct{}) { t.done = done }

// Close closes the file.
func (t *Table) Close() error {
	var err error
	if t.rows != nil {
		err = t.rows.Close()
	}
	return errors.Join(err, t.file.Close())
}
