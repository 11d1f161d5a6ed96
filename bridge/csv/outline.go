package csv

import (
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/frames"
)

// outlineRows is how many rows an outline looks at.
const outlineRows = 10_000

// Outline is what the first rows of a table show.
type Outline struct {
	Rows    int
	Columns []Column
	Time    int    // which column looks like the time
	Unit    string // of the time
	Named   bool   // Unit is part of the column's name; else it is a guess by the step
}

// Column is what an outline knows of a column.
type Column struct {
	Column    string // its name in the file
	Name      string // without its unit
	Unit      string // of a column that is called like omega [rad/s] or omega_dps, else ""
	Numbers   int    // cells that are numbers
	Others    int    // cells that are neither a number nor missing
	Low, High float64
	Turns     frames.Turns // whether its values wrap as those of an angle
	Same      string       // an earlier column of which it is a copy, filtered, rounded or measured again; "" = none

	rises bool // no cell is below the one before it
	whole bool // all cells are whole numbers
	new   int  // cells that differ from the one before them
	last  float64
	steps []float64
	some  []float64 // a value of each sampledRows rows, NaN = none
}

// Look reads the start of a table: the column that looks like the time, its unit by
// the name or the step, and the range of each column.
func Look(path string) (*Outline, error) {
	t, err := openTable(path, nil)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	o := &Outline{Columns: make([]Column, len(t.columns))}
	names := map[string]int{}
	for i, text := range t.columns {
		name, unit := splitUnit(text)
		if t.names != nil && text == strconv.Itoa(i+1) {
			name = "column" + text
		}
		o.Columns[i] = Column{Column: text, Name: name, Unit: unit, rises: true, whole: true, last: math.Inf(-1), Low: math.Inf(1), High: math.Inf(-1)}
		names[name]++
	}
	for i := range o.Columns {
		if c := &o.Columns[i]; names[c.Name] > 1 {
			c.Name = c.Column // one name of two columns is ambiguous
		}
	}
	for ; o.Rows < outlineRows; o.Rows++ {
		cells, err := t.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for i := range o.Columns {
			o.Columns[i].add(t.point(cells[i]), o.Rows%sampledRows == 0)
		}
	}
	o.findCopies()
	if o.Time = timeOf(o.Columns); o.Rows == 0 || o.Time < 0 {
		return nil, t.fail(0, "", "no column of it looks like a time", "add a column of numbers that rise, such as the seconds since the start, or write the map by hand")
	}
	clock := &o.Columns[o.Time]
	o.Unit = clock.Unit
	if _, o.Named = unitPower[o.Unit]; !o.Named {
		o.Unit = unitOf(clock)
	}
	return o, nil
}

const (
	sampledRows = 10  // each so many rows columns are compared
	leastRows   = 50  // fewer do not show a copy
	copyError   = 0.1 // of the standard deviation: a copy differs by less, rms
)

// copies reports whether a column has nearly the values of another one.
func (c *Column) copies(of *Column) bool {
	var n, sum, square, off float64
	for i, v := range of.some {
		if d := v - c.some[i]; !math.IsNaN(d) {
			n, sum, square, off = n+1, sum+v, square+v*v, off+d*d
		}
	}
	return n >= leastRows && off < copyError*copyError*(square-sum*sum/n)
}

// findCopies names the columns that are copies of an earlier one.
func (o *Outline) findCopies() {
	for i := range o.Columns {
		if k := slices.IndexFunc(o.Columns[:i], func(c Column) bool { return c.Same == "" && o.Columns[i].copies(&c) }); k >= 0 {
			o.Columns[i].Same = o.Columns[k].Column
		}
	}
}

func (c *Column) add(cell string, sampled bool) {
	v, err := strconv.ParseFloat(cell, 64)
	if sampled {
		c.some = append(c.some, v)
		if err != nil {
			c.some[len(c.some)-1] = math.NaN()
		}
	}
	if missing(cell) {
		return
	}
	if err != nil || math.IsInf(v, 0) {
		c.Others++
		return
	}
	c.whole = c.whole && v == math.Trunc(v)
	if v != c.last {
		c.new++
	}
	if c.Numbers > 0 {
		c.rises = c.rises && v >= c.last
		if d := v - c.last; d > 0 && len(c.steps) < 1000 {
			c.steps = append(c.steps, d)
		}
	}
	c.Numbers++
	c.Turns.Add(v)
	c.last, c.Low, c.High = v, math.Min(c.Low, v), math.Max(c.High, v)
}

// NumbersSegments reports whether a column seems to number the segments of a table: whole
// numbers that rise now and then.
func (c *Column) NumbersSegments() bool {
	return c.Others == 0 && c.whole && c.rises && c.new > 1 && segmentRows*c.new <= c.Numbers
}

// segmentRows is how many rows a segment has at least, in the mean.
const segmentRows = 20

// timeOf returns the column that looks like the time, or −1: one that rises, best
// one that is called so.
func timeOf(columns []Column) int {
	best, score := -1, 0
	for i := range columns {
		c := &columns[i]
		if c.Others > 0 || c.Numbers == 0 || len(c.steps) == 0 && c.Numbers > 1 {
			continue
		}
		n, name := 0, strings.ToLower(c.Column)
		if c.rises {
			n += 4
		}
		if name == "t" || name == "time" || name == "timestamp" {
			n += 4
		} else if strings.HasPrefix(name, "t[") || strings.HasPrefix(name, "t_") || strings.Contains(name, "time") || strings.Contains(name, "stamp") {
			n += 3
		}
		if n > score && n >= 4 {
			best, score = i, n
		}
	}
	return best
}

// unitOf guesses the unit of the time from the median step: the first in which a
// robot could have been sampled so.
func unitOf(c *Column) string {
	if len(c.steps) == 0 {
		return "s"
	}
	slices.Sort(c.steps)
	for _, unit := range units {
		if step := c.steps[len(c.steps)/2] * math.Pow10(unitPower[unit]); step >= 1 && step < 1e18 && plausible(step) {
			return unit
		}
	}
	return "s"
}

// splitUnit returns name and unit of a column that is called like omega [rad/s], omega (rad/s)
// or omega_dps. The brackets of q[0] hold no unit.
func splitUnit(column string) (name, unit string) {
	for _, brackets := range []string{"[]", "()"} {
		name, rest, ok := strings.Cut(column, brackets[:1])
		unit, closed := strings.CutSuffix(rest, brackets[1:])
		name, unit = strings.TrimSpace(name), strings.TrimSpace(unit)
		if ok && closed && name != "" && !strings.ContainsAny(unit, "[]()") && strings.Trim(unit, "0123456789:") != "" {
			return name, unit
		}
	}
	return column, frames.NamedUnit(column)
}
