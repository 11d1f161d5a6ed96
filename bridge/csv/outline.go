package csv

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dgm-robotics/dgm/bridge/frames"
)

// outlineRows is how many rows an outline looks at.
const outlineRows = 200_000

// Outline is what the first rows of a table show.
type Outline struct {
	Rows    int
	Columns []Column
	Time    int    // which column looks like the time
	Unit    string // of the time
	Named   bool   // Unit is part of the column's name, or the text shows it; else it is a guess by the step
	Shown   bool   // the text shows it

	Fraction     int      // which column has the rest of a time in whole seconds, −1 = none
	FractionUnit string   // of it
	Date         int      // which column has the date of a time of day, −1 = none
	DayFirst     string   // true or false, where dates may have the day or the month first; else ""
	DayFirstBy   string   // what shows it
	Segments     []int    // which columns number or name segments, for sure
	Group        int      // which column names robots whose rows take turns; −1 = none
	LeftOut      []string // what of the file is no column, with the reason
	path         string
}

// Column is what an outline knows of a column.
type Column struct {
	Column    string // its name in the file, or its number where it has none
	Name      string // without its unit
	Unit      string // of a column that is called like omega [rad/s] or omega_dps, else ""
	Numbers   int    // cells that are numbers
	Others    int    // cells that are neither a number nor missing
	Infinite  int    // cells that are an infinite number
	Low, High float64
	Turns     frames.Turns // whether its values wrap as those of an angle
	Clock     bool         // it looks like a time, or a part of one
	Runs      float64      // of another time than the one that is proposed: how fast it runs, where it does not run alike; else 0
	Not       string       // why it is proposed as no channel; "" = it may be one
	Same      string       // an earlier column of which it is a copy, filtered, rounded or measured again; "" = none

	inCells string // unit behind each number
	unnamed bool   // as the index of a frame of pandas

	whole bool           // all cells are whole numbers
	falls int            // cells below the one before them
	new   int            // cells that differ from the one before them
	dates int            // cells that are a date and a time
	clock int            // cells that are a time of day
	days  int            // cells that are a date
	order orders         // of the day and the month in dates
	sixty float64        // the largest rest of a value behind its hundreds
	text  string         // of the cell before
	other string         // the first cell that is no number
	named map[string]int // the first mostNames different cells
	ones  int            // steps of 1
	rests moments        // in rows, between cells that differ
	jumps moments        // of what cells differ by, where they do
	since int            // numbers since the last that differed
	mixed bool           // some number is no time of day without colons
	turns int            // full minutes, if they are such times
	last  float64
	steps []float64
	some  []float64 // a value of each sampledRows rows, NaN = none
}

// Look reads the start of a table: the column that looks like the time, its unit by
// the name or the step, and the range of each column. open, if not nil, opens tables that are
// not of text.
func Look(path string, open Opener) (*Outline, error) {
	t, err := openTable(path, nil, open)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if i := slices.IndexFunc(t.columns, func(name string) bool { return strings.ContainsFunc(name, unicode.IsControl) }); i >= 0 {
		return nil, t.fail(0, "column "+quote(strconv.Itoa(i+1)), "its name is written in another encoding than UTF-8, UTF-16 and ISO 8859-1, such as Shift JIS or GBK", "save the table in UTF-8")
	}
	o := t.outline()
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
	if o.Rows == 0 {
		return nil, t.fail(0, "", "the file names its columns and has no row", "export it again")
	}
	for i := range o.Columns {
		if c := &o.Columns[i]; c.clocks() {
			c.clock = c.Numbers
		}
	}
	o.findCopies()
	o.findMinutes()
	o.findScaled()
	o.findSegments()
	if o.Time = o.timeOf(); o.Time < 0 {
		reason, remedy := o.nearlyTime()
		return nil, t.fail(0, "", "no column of it looks like a time"+reason, remedy)
	}
	if signal, value := o.tidy(); signal != nil {
		return nil, t.fail(0, "column "+quote(signal.Column), fmt.Sprintf("names %d signals, one in each row, whose values are in column %s: a table needs a column for each", len(signal.named), quote(value.Column)),
			fmt.Sprintf("in Python: import pandas; %s.pivot_table(index=%q, columns=%q, values=%q).to_csv('OUT')", t.inPandas(), o.Columns[o.Time].Column, signal.Column, value.Column))
	}
	o.findFraction()
	o.findRates()
	o.findBlocks()
	o.findUnit()
	if c := &o.Columns[o.Time]; !o.Named && c.otherUnit() != "" {
		return nil, t.fail(0, "column "+quote(c.Column), fmt.Sprintf("looks like the time and is in %s, which is no unit of times here (s, ms, us, ns, min, h, d, datenum)", quote(c.otherUnit())), "write the times in s, and that into the name; or, where this is no unit, rename the column")
	}
	return o, nil
}

// outline returns the columns of a table by their names, before any row.
func (t *table) outline() *Outline {
	o := &Outline{path: t.path, Columns: make([]Column, len(t.columns)), Date: -1}
	if t.rows != nil {
		o.LeftOut = t.rows.LeftOut()
	}
	names := map[string]int{}
	for i, text := range t.columns {
		name, unit := splitUnit(text)
		if _, err := strconv.Atoi(text); err == nil {
			name = "column" + text
		}
		if t.units != nil && unit == "" {
			unit = plainUnit(t.units[i])
		}
		if name == "" {
			name = "index"
		}
		unnamed := text == ""
		if unnamed || t.count(text) > 1 {
			text = strconv.Itoa(i + 1)
		}
		o.Columns[i] = Column{Column: text, unnamed: unnamed, named: map[string]int{}, Name: name, Unit: unit, whole: true, last: math.Inf(-1), Low: math.Inf(1), High: math.Inf(-1)}
		names[name]++
	}
	for i := range o.Columns {
		if c := &o.Columns[i]; names[c.Name] > 1 && t.count(t.columns[i]) == 1 {
			c.Name = c.Column // one name of two columns is ambiguous
		}
	}
	return o
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
	if yes, ok := truth(cell); ok {
		v, err = yes, nil
	}
	if sampled {
		c.some = append(c.some, v)
		if err != nil {
			c.some[len(c.some)-1] = math.NaN()
		}
	}
	if missing(cell) {
		return
	}
	if c.text != cell {
		c.new++
		c.text = strings.Clone(cell)
	}
	if _, there := c.named[cell]; there || len(c.named) < mostNames {
		c.named[c.text]++
	}
	if math.IsInf(v, 0) {
		c.Infinite++
		return
	}
	if number, unit, ok := measured(cell); err != nil && ok && (c.inCells == unit || c.inCells == "" && c.Numbers+c.Others == 0) {
		c.inCells = unit
		c.Unit = unit
		v, err = strconv.ParseFloat(number, 64)
	}
	if err != nil {
		if c.Others == 0 {
			c.other = strings.Clone(cell)
		}
		c.Others++
		if isDate(cell) {
			c.dates++
			c.order.add(cell)
		} else if _, err := parseClock(cell); err == nil {
			c.clock++
		} else if isDate(cell + "T00:00") {
			c.days++
			c.order.add(cell)
		}
		return
	}
	if mayBeDate(v) && isDate(cell) {
		c.dates++
		c.Others++
		return
	}
	c.number(v)
}

// number takes a cell that is a number.
func (c *Column) number(v float64) {
	c.whole = c.whole && v == math.Trunc(v)
	c.sixty = max(c.sixty, math.Mod(math.Abs(v), 100))
	c.mixed = c.mixed || v < 0 || v >= 240000 || math.Mod(v, 100) >= 60 || math.Mod(v, 10000) >= 6000
	if c.Numbers > 0 {
		if c.fullMinute(v) {
			c.turns++
		}
		switch d := v - c.last; {
		case d < 0:
			c.falls++
		case d > 0 && len(c.steps) < 1000:
			c.steps = append(c.steps, d)
		}
		if v-c.last == 1 {
			c.ones++
		}
		if c.since++; v != c.last {
			c.jumps.add(math.Abs(v - c.last))
			c.rests.add(float64(c.since))
			c.since = 0
		}
	}
	c.Numbers++
	c.Turns.Add(v)
	c.last, c.Low, c.High = v, math.Min(c.Low, v), math.Max(c.High, v)
}

// dateDigits is the least number of 14 digits, which is no time of any unit: a date and a time without signs.
const dateDigits = 1e13

// longDate is a year of a date and a time without signs, with thousandths of a second, which is no time of any unit either.
const longDate = 1e13

// mayBeDate reports whether a number may be a date and a time without signs.
func mayBeDate(v float64) bool {
	return v >= dateDigits && v < 10*dateDigits || v >= 1900*longDate && v < 2200*longDate
}

// fullMinute reports whether a number is behind the last one as the first time of a minute is behind the last of the one before, in
// times of day without colons: 123100 follows 123059.98.
func (c *Column) fullMinute(v float64) bool {
	before, after := math.Mod(c.last, 100), math.Mod(v, 100)
	return before > 50 && after < 10 && (v-after == c.last-before+100 || math.Mod(v-after, 10000) == 0)
}

// clocks reports whether numbers are times of day without colons: minutes and seconds end at 60, and they rise, unlike a heading around north.
func (c *Column) clocks() bool { return !c.mixed && c.turns > 0 && c.falls <= c.turns }

// Units returns the unit of most cells of a column, and the first cell that has another one; "" where there is none.
func (c *Column) Units() (unit, other string) {
	if _, _, ok := measured(c.other); ok && c.inCells != "" {
		return c.inCells, c.other
	}
	return "", ""
}

// Other returns the first cell that is neither a number nor missing.
func (c *Column) Other() string { return c.other }

// Lists reports whether the cells are lists, as in [1, 2].
func (c *Column) Lists() bool { return strings.HasPrefix(c.other, "[") }

// mostNames bounds the different cells that are kept of a column.
const mostNames = 64

// Counts reports whether a column seems to count rows or messages, or what is between them: one by one, or, where it is called as a
// counter is, by steps that are nearly alike.
func (c *Column) Counts() bool {
	rises := c.falls == 0 && 10*c.changes() >= 9*(c.Numbers-1) && c.jumps.spread() < 1
	return c.Others == 0 && c.whole && 20*c.falls < c.Numbers && c.Numbers > segmentRows &&
		(10*c.ones >= 9*(c.Numbers-1-c.falls) || rises && hasWord(c.Name, counterWords) && !hasWord(c.Name, []string{"encoder", "enc", "wheel"}))
}

// Falls reports whether a column falls now and then, as no clock does.
func (c *Column) Falls() bool { return 20*c.falls > c.Numbers }

// FallsOften reports whether a column falls now and then, or in more than a quarter of its changes, as no clock does that begins anew with
// each part of a table: a command that rests between its changes falls in few rows.
func (c *Column) FallsOften() bool { return c.Falls() || c.falls > 1 && 4*c.falls > c.changes() }

// Flag reports whether a column is a truth value.
func (c *Column) Flag() bool {
	return c.Others == 0 && len(c.named) == 2 && c.whole && c.Low == 0 && c.High == 1
}

// NumbersSegments reports whether a column seems to number the segments of a table: whole
// numbers that rise now and then.
func (c *Column) NumbersSegments() bool {
	return c.Others == 0 && c.whole && c.falls == 0 && c.new > 1 && segmentRows*c.new <= c.Numbers
}

// segmentRows is how many rows a segment has at least, in the mean.
const segmentRows = 20

// splitUnit returns name and unit of a column that is called like omega [rad/s], omega (rad/s), omega / rad/s
// or omega_dps. The brackets of q[0] hold no unit.
func splitUnit(column string) (name, unit string) {
	column = strings.ReplaceAll(column, "Â°", "°") // UTF-8 that was read as one byte a character
	for _, brackets := range []string{"[]", "()"} {
		name, rest, ok := strings.Cut(column, brackets[:1])
		unit, closed := strings.CutSuffix(rest, brackets[1:])
		name, unit = strings.TrimSpace(name), strings.TrimSpace(unit)
		unit = strings.Replace(unit, "°", "deg", 1)
		if ok && closed && name != "" && name != "der" && !strings.ContainsAny(unit, "[]()") && (unit == "" || strings.Trim(unit, "0123456789:") != "") {
			return name, unit
		}
	}
	for _, between := range []string{" / ", ", "} { // as DIN 1313 has it
		if name, unit, ok := strings.Cut(column, between); ok && (frames.IsUnit(unit) || spelled(strings.ToLower(unit)) != "") {
			return strings.TrimSpace(name), unit
		}
	}
	return column, frames.NamedUnit(column)
}
