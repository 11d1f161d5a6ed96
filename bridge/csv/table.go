package csv

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dgm-robotics/dgm/bridge/input"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// maxLine bounds a line, so that a file that is no table does not fill memory.
const maxLine = 1 << 20

// file is what is read from.
type file interface {
	Consumed() int64
	Size() int64
	Until(done <-chan struct{})
	Close() error
}

// table reads one file row by row.
type table struct {
	file
	layout
	rows    Rows // nil: of text
	path    string
	ahead   int // lines ahead of the table
	lines   *lines
	records *csv.Reader
	columns []string
	line    int // of the row last returned
	sound   int // rows returned
}

// openTable opens a file, finds out how it is packed and separated, and reads
// the names of its columns. wanted are the columns that must be there. open, if not nil, opens
// tables that are not of text.
func openTable(path string, wanted []string, open Opener) (*table, error) {
	t := &table{path: path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, t.fail(0, "", "is a folder", "give its files one by one")
	}
	if open != nil {
		rows, err := open(path)
		if err != nil {
			return nil, t.failed(err)
		}
		if rows != nil {
			t.file, t.rows, t.layout = rows, rows, layout{comma: ','}
			if left := rows.LeftOut(); len(left) > 0 {
				t.mend = "; no columns are: " + strings.Join(left, "; ")
			}
			if t.columns, t.units = rows.Columns(); t.hasColumns(wanted) != nil {
				return nil, errors.Join(t.hasColumns(wanted), rows.Close())
			}
			return t, nil
		}
	}
	f, err := input.Open(path)
	if err != nil {
		return nil, t.failed(err)
	}
	t.file = f
	if err := t.start(f, wanted); err != nil {
		f.Close()
		return nil, err
	}
	return t, nil
}

func (t *table) start(f *input.File, wanted []string) error {
	text, head, err := t.text(f)
	if err != nil {
		return err
	}
	t.ahead, head = preamble(plain(head))
	t.layout = layoutOf(head, wanted)
	t.layout.head()
	t.lines = &lines{r: text, ahead: t.ahead, spaces: t.comma == ' ', comment: byte(t.comment)}
	t.records = csv.NewReader(t.lines)
	t.records.Comma = t.comma
	if t.comma == ' ' {
		t.records.Comma = '\t'
	}
	t.records.Comment = t.comment
	t.records.FieldsPerRecord = -1
	t.records.ReuseRecord = true
	t.records.TrimLeadingSpace = t.records.Comma != '\t'
	if err := t.head(); err != nil {
		return err
	}
	return t.hasColumns(wanted)
}

// head reads the names and the units of the columns.
func (t *table) head() error {
	names := t.names
	if names == nil {
		for i := range t.heads {
			cells, err := t.records.Read()
			if errors.Is(err, io.EOF) {
				return t.fail(0, "", "the file is empty", "export it again")
			}
			if err != nil {
				return t.failed(err)
			}
			if i == t.named {
				names = slices.Clone(cells)
				t.line, _ = t.records.FieldPos(0)
			}
		}
		if t.joined != nil {
			names = slices.Clone(t.joined)
		}
	}
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	if t.names == nil && t.numbersRows(len(names)) {
		names = append([]string{""}, names...)
	}
	t.columns = append(t.columns, trimmed(names, t.width)...)
	return nil
}

// hasColumns returns an error for the first wanted column that is not there, or
// is there twice.
func (t *table) hasColumns(wanted []string) error {
	for _, w := range wanted {
		n := t.count(w)
		switch {
		case n > 1:
			return t.fail(t.line, "column "+quote(w), fmt.Sprintf("occurs %d times", n), "give the columns different names")
		case n == 0:
			return t.fail(t.line, "", "there is no column "+quote(w), "there are: "+t.list(w)+t.mend)
		}
	}
	return nil
}

// list names the columns, those first that differ from wanted by case or spaces
// only.
func (t *table) list(wanted string) string {
	const most = 60
	names := slices.Clone(t.columns)
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, " ", "")) }
	rank := func(name string) int {
		if plain(name) == plain(wanted) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	for i, n := range names {
		if len(n) > 40 || strings.ContainsFunc(n, func(r rune) bool { return !unicode.IsPrint(r) }) {
			names[i] = quote(n)
		}
	}
	return strings.Join(names, ", ") + more
}

// check returns what is wrong with the name of a column, or nil.
func (t *table) check(name string) error {
	switch n := t.count(name); n {
	case 0:
		return fmt.Errorf("there is no column %s", quote(name))
	case 1:
		return nil
	default:
		return fmt.Errorf("%d columns have this name", n)
	}
}

// count returns how many columns have a name. A number that is no name is that of a column,
// from 1.
func (t *table) count(name string) (n int) {
	for _, c := range t.columns {
		if c == name {
			n++
		}
	}
	if n == 0 && t.index(name) >= 0 {
		return 1
	}
	return n
}

// index returns the place of a column by its name, else by its number, from 1; −1 without.
func (t *table) index(name string) int {
	i := slices.Index(t.columns, name)
	if n, err := strconv.Atoi(name); i < 0 && err == nil && n >= 1 && n <= len(t.columns) {
		i = n - 1
	}
	return i
}

// place is index of a column that may be left open: −1 where it is.
func (t *table) place(name string) int {
	if name == "" {
		return -1
	}
	return t.index(name)
}

func (t *table) fields() (out []telemetry.Field) {
	for _, c := range t.columns[:min(len(t.columns), telemetry.MaxFields)] {
		out = append(out, telemetry.Field{Path: c})
	}
	return out
}

// next returns the cells of the next row, as many as there are columns, valid
// until the next call, or io.EOF.
func (t *table) next() ([]string, error) {
	if t.rows != nil {
		t.line++
		cells, err := t.rows.Next()
		if err != nil && !errors.Is(err, io.EOF) {
			err = t.failed(err)
		}
		return cells, err
	}
	cells, err := t.records.Read()
	for err == nil && len(cells) == 1 && strings.TrimSpace(cells[0]) == "" && len(t.columns) > 1 {
		cells, err = t.records.Read() // after a line of spaces
	}
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err != nil {
		return nil, t.failed(err)
	}
	t.line, _ = t.records.FieldPos(0)
	for len(cells) > len(t.columns) && strings.TrimSpace(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1] // a separator at the end of the line
	}
	switch {
	case len(cells) != len(t.columns):
		return nil, t.uneven(cells)
	case t.names == nil && (cells[0] == "" || cells[0][0] > '9') && slices.Contains(t.columns, cells[0]) && named(cells):
		return cells, t.renamed(cells)
	}
	t.sound++
	return cells, nil
}

// renamed returns the error of a line that names columns anew; nil of one that holds other texts.
func (t *table) renamed(cells []string) error {
	known := 0
	for _, c := range cells {
		if slices.Contains(t.columns, c) {
			known++
		}
	}
	switch {
	case slices.Equal(cells, t.columns):
		return t.fail(t.line, "", "it repeats the names of the columns", "delete the line; if another recording begins there, write it to a separate file")
	case 2*known > len(cells):
		return t.fail(t.line, "", "it names the columns anew, in another order or with others among them: another table begins there", "write it to a separate file")
	}
	t.sound++
	return nil
}

// inPandas returns how Python reads the table.
func (t *table) inPandas() string {
	if t.rows != nil && strings.HasSuffix(t.path, ".parquet") {
		return "pandas.read_parquet('IN')"
	}
	return "pandas.read_csv('IN')"
}

// uneven returns the error of a line with fewer or more cells than there are columns.
func (t *table) uneven(cells []string) error {
	n, names, remedy := len(cells), named(cells), "correct the line or delete it"
	if n > 1 && len(t.columns) == 1 {
		remedy = "if other lines precede the names of the columns, delete these or begin them with #"
	}
	for i := range cells[:n-1] { // as Python's logging writes times
		if time := cells[i] + "," + cells[i+1]; t.comma == ',' && n == len(t.columns)+1 && strings.Contains(time, ":") && value(time) {
			return t.fail(t.line, "", fmt.Sprintf("the comma in %s separates cells, so that there are %d for %d columns", quote(time), n, len(t.columns)), `write points into the times, as by: sed -E 's/(:[0-9]{2}),/\1./g' IN > OUT`)
		}
	}
	if t.comma == ',' && n == 2*len(t.columns) && n > 2 && !slices.ContainsFunc(cells, func(c string) bool { return strings.ContainsAny(c, ".:") || !number(c) }) {
		return t.fail(t.line, "", fmt.Sprintf("%d cells, and there are %d columns: numbers have decimal commas, it seems, and commas separate cells, too", n, len(t.columns)), "export the numbers with decimal points, or semicolons between cells")
	}
	after, err := t.records.Read() // into the same cells
	switch {
	case errors.Is(err, io.EOF) && t.lines.open == 0:
		remedy = "it is the last line: delete it"
	case errors.Is(err, io.EOF):
		remedy = "it is the last line, so the file was cut off: delete the line or use the whole file"
	case err == nil && names && len(after) == n && slices.ContainsFunc(after, number) && t.sound >= fewestRows:
		remedy = "another table seems to begin there: write it to a separate file"
	case err == nil && names && len(after) == n && slices.ContainsFunc(after, number):
		remedy = fmt.Sprintf("it seems to name the columns: delete lines 1 to %d, which precede it, or begin them with #", t.line-1)
	}
	return t.fail(t.line, "", fmt.Sprintf("%d cells, and there are %d columns", n, len(t.columns)), remedy)
}
