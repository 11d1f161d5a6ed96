package study

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// Group are the rows of one line of a table.
type Group []*Row

// Of returns a number of each row that has one.
func (g Group) Of(name string) []float64 {
	var out []float64
	for _, r := range g {
		if v := r.Number(name); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// Where returns the rows that pass.
func (g Group) Where(pass func(r *Row) bool) Group {
	return slices.DeleteFunc(slices.Clone(g), func(r *Row) bool { return !pass(r) })
}

// GroupBy returns groups of rows with the same text, in the order of their first rows.
func GroupBy(rows []*Row, by func(r *Row) string) []Group {
	var out []Group
	at := map[string]int{}
	for _, r := range rows {
		k := by(r)
		if _, ok := at[k]; !ok {
			at[k] = len(out)
			out = append(out, nil)
		}
		out[at[k]] = append(out[at[k]], r)
	}
	return out
}

// BySet is a GroupBy of the seeds of one set and variant.
func BySet(r *Row) string { return r.Set + " " + r.Variant }

// Single is a GroupBy that makes every row a line.
func Single(r *Row) string { return r.Key.String() }

// Column is one column of a table: what it makes of the rows of a line.
type Column struct {
	Head string
	Cell func(g Group) string
}

// Of returns the column of a part of each line's rows; its cell is empty where there are none.
func (c Column) Of(part func(g Group) Group) Column {
	return Column{c.Head, func(g Group) string {
		if g = part(g); len(g) > 0 {
			return c.Cell(g)
		}
		return ""
	}}
}

// Columns of one value. A line none of whose rows has the value gets an empty cell.
func column(head, name string, cell func(v []float64) string) Column {
	return Column{head, func(g Group) string {
		if v := g.Of(name); len(v) > 0 {
			return cell(v)
		}
		return ""
	}}
}

// MeanOf is the mean with so many decimals.
func MeanOf(head, name string, decimals int) Column {
	return column(head, name, func(v []float64) string { return Fixed(Mean(v), decimals) })
}

// SpreadOf is mean and standard deviation.
func SpreadOf(head, name string) Column { return column(head, name, Spread) }

// MedianOf is the median with two decimals.
func MedianOf(head, name string) Column {
	return column(head, name, func(v []float64) string { return Fixed(Median(v), 2) })
}

// LeastOf is the least with two decimals.
func LeastOf(head, name string) Column {
	return column(head, name, func(v []float64) string { return Fixed(slices.Min(v), 2) })
}

// RangeOf is the least and the greatest with two decimals.
func RangeOf(head, name string) Column {
	return column(head, name, func(v []float64) string { return Fixed(slices.Min(v), 2) + "-" + Fixed(slices.Max(v), 2) })
}

// QuantileOf is a quantile with two decimals.
func QuantileOf(head, name string, p float64) Column {
	return column(head, name, func(v []float64) string { return Fixed(Quantile(v, p), 2) })
}

// Digits is the first row's number in the shortest form of so many significant digits, with
// a factor.
func Digits(head, name string, factor float64, digits int) Column {
	return column(head, name, func(v []float64) string { return fmt.Sprintf("%.*g", digits, factor*v[0]) })
}

// TextOf is the first row's text.
func TextOf(head, name string) Column {
	return Column{head, func(g Group) string { return g[0].Text(name) }}
}

// TruthOf is whether a bool of the first row is true.
func TruthOf(head, name string) Column {
	return Column{head, func(g Group) string {
		switch {
		case !g[0].Has(name):
			return ""
		case g[0].Is(name):
			return "yes"
		}
		return "no"
	}}
}

// Count is the number of rows.
func Count(head string) Column {
	return Column{head, func(g Group) string { return fmt.Sprint(len(g)) }}
}

// ForSet is a text by the line's set.
func ForSet(head string, text func(set string) string) Column {
	return Column{head, func(g Group) string { return text(g[0].Set) }}
}

// Table is one table of a study with its pictures.
type Table struct {
	Name        string // of its marker in a page
	Title, Text string
	Columns     []Column
	Groups      []Group
}

// Lines returns the heads of the columns and the cells, line by line. A column whose cells
// are all empty is left out.
func (t *Table) Lines() [][]string {
	out := make([][]string, 1+len(t.Groups))
	for _, c := range t.Columns {
		cells, empty := []string{c.Head}, true
		for _, g := range t.Groups {
			cells = append(cells, c.Cell(g))
			empty = empty && cells[len(cells)-1] == ""
		}
		for i := range out {
			if !empty {
				out[i] = append(out[i], cells[i])
			}
		}
	}
	return out
}

// print writes the table as text.
func (t *Table) print(w io.Writer) error {
	fmt.Fprintln(w, t.Title)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, line := range t.Lines() {
		fmt.Fprintln(tw, strings.Join(line, "\t")+"\t")
	}
	return tw.Flush()
}

// markdown returns the table without its title.
func (t *Table) markdown() string {
	var b strings.Builder
	for i, line := range t.Lines() {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(line, " | "))
		if i == 0 {
			fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(line)))
		}
	}
	return b.String()
}

func show(w io.Writer, all []Table) error {
	for i := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := all[i].print(w); err != nil {
			return err
		}
	}
	return nil
}
