// Package parquet reads tables in Apache Parquet, row by row. Lists that have the same number of values in
// each row are columns x[0], x[1] …
package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/dgm-robotics/dgm/bridge/csv"
)

// Magic is what a file begins with.
var Magic = []byte("PAR1")

const maxColumns = 4096

// Table reads a file. It implements csv.Rows.
type Table struct {
	csv.Counted

	file   *os.File
	groups []parquet.RowGroup // not yet begun
	about  []format.RowGroup  // these
	rows   parquet.Rows
	names  []string
	units  []string
	leaves []leaf

	columns []parquet.LeafColumn // of the file
	cells   []string
	buf     []parquet.Row
	held    []parquet.Row // of buf, not yet returned
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
	t.Bytes = info.Size()
	if err := described(t.file, t.Bytes); err != nil {
		return err
	}
	f, err := parquet.OpenFile(t.file, t.Bytes, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return fmt.Errorf("this is no whole file of Parquet (%w)", err)
	}
	t.groups, t.Rows, t.about = f.RowGroups(), int(f.NumRows()), f.Metadata().RowGroups
	for _, path := range f.Schema().Columns() {
		found, _ := f.Schema().Lookup(path...)
		t.columns = append(t.columns, found)
	}
	if err := t.fill(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	pandas, _ := f.Lookup("pandas")
	spans := durations(pandas)
	described := slices.DeleteFunc(slices.Clone(f.Metadata().Schema), func(e format.SchemaElement) bool { return e.NumChildren.Valid })
	for i, path := range f.Schema().Columns() {
		l, why := leafOf(path, t.columns[i], described[i].LogicalType.Value)
		if l.list && why == "" {
			why = l.lengths(i, t.held)
		}
		if why != "" {
			t.Leave(l.name, why)
		}
		l.at = len(t.names)
		t.names = append(t.names, l.names()...)
		for range l.n {
			t.units = append(t.units, cmp.Or(l.units, spans[l.name]))
		}
		t.leaves = append(t.leaves, l)
	}
	switch {
	case len(t.names) > maxColumns:
		return fmt.Errorf("%d columns are more than the limit of %d", len(t.names), maxColumns)
	case len(t.names) == 0:
		return errors.New(strings.Join(append([]string{"it has no column that is read"}, t.LeftOut()...), "; "))
	}
	t.cells = make([]string, len(t.names))
	return nil
}

// Columns returns the names of the columns and the units of times.
func (t *Table) Columns() (names, units []string) { return t.names, t.units }

// Next returns the next row.
func (t *Table) Next() (cells []string, err error) {
	if t.Ended() {
		return nil, io.EOF
	}
	if err := guarded(t.fill); err != nil {
		return nil, err
	}
	row := t.held[0]
	t.held = t.held[1:]
	t.Read++
	clear(t.cells)
	for i := range t.leaves {
		t.leaves[i].seen = 0
	}
	for _, v := range row {
		c := v.Column()
		if c < 0 || c >= len(t.leaves) || t.leaves[c].n == 0 {
			continue
		}
		l := &t.leaves[c]
		if l.seen == l.n {
			return nil, fmt.Errorf("row %d has more values in %q than the %d of the first rows: write them into columns of their own", t.Read, l.name, l.n)
		}
		t.cells[l.at+l.seen] = l.cell(v)
		l.seen++
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
			group, about := t.groups[0], t.about[0]
			if t.groups, t.about = t.groups[1:], t.about[1:]; about.NumRows == 0 {
				continue // it need not have a page
			}
			if err := checkPages(t.file, t.Bytes, &about, t.columns); err != nil {
				return err
			}
			t.rows = group.Rows()
		}
		n, err := t.rows.ReadRows(t.buf)
		t.held = t.buf[:n]
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("row %d cannot be read: %w", t.Read+1, err)
		}
		if err := t.rows.Close(); err != nil {
			return err
		}
		t.rows = nil
	}
	return nil
}

// Close closes the file.
func (t *Table) Close() error {
	var err error
	if t.rows != nil {
		err = t.rows.Close()
	}
	return errors.Join(err, t.file.Close())
}
