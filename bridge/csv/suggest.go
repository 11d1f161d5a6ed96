package csv

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// suggestRows is how many rows a suggestion looks at.
const suggestRows = 10_000

// column is what a suggestion knows of a column.
type column struct {
	name      string
	numbers   int  // cells that are numbers
	others    int  // cells that are neither a number nor missing
	rises     bool // no cell is below the one before it
	last      float64
	low, high float64
	steps     []float64
}

// Suggest reads the start of a table and writes a map of what is in it, commented:
// the column that looks like the time, its unit by the step, and a channel for
// each column of numbers that vary.
func Suggest(w io.Writer, path string) error {
	t, err := openTable(path, nil)
	if err != nil {
		return err
	}
	defer t.close()
	columns := make([]column, len(t.columns))
	for i, name := range t.columns {
		columns[i] = column{name: name, rises: true, last: math.Inf(-1), low: math.Inf(1), high: math.Inf(-1)}
	}
	rows := 0
	for ; rows < suggestRows; rows++ {
		cells, err := t.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		for i := range columns {
			columns[i].take(strings.TrimSpace(cells[i]))
		}
	}
	clock := timeOf(columns)
	if rows == 0 || clock < 0 {
		return t.fail(0, "", "no column of it looks like a time", "add a column whose values rise, or write the map by hand")
	}
	unit, how := unitOf(&columns[clock]), "guessed from the step"
	if _, said := parted(columns[clock].name); said != "" {
		if _, known := unitPower[said]; known {
			unit, how = said, "as the column says"
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# What is in %s, by its first %d rows. Correct it: roles, units, and\n# period = 6.283185307179586 of an angle.\nvehicle = \"robot\"\n\n[time]\ncolumn = %s\nunit = %s # s, ms, us or ns: %s\n",
		filepath.Base(path), rows, strconv.Quote(columns[clock].name), strconv.Quote(unit), how)
	times := map[string]int{}
	for i := range columns {
		name, _ := parted(columns[i].name)
		times[name]++
	}
	for i := range columns {
		if c := &columns[i]; i != clock {
			name, unit := parted(c.name)
			if times[name] > 1 {
				name = c.name // one name for two columns would be none
			}
			c.write(&b, name, unit)
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// take looks at a cell.
func (c *column) take(cell string) {
	if missing(cell) {
		return
	}
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil || math.IsInf(v, 0) {
		c.others++
		return
	}
	if c.numbers > 0 {
		c.rises = c.rises && v >= c.last
		if d := v - c.last; d > 0 && len(c.steps) < 1000 {
			c.steps = append(c.steps, d)
		}
	}
	c.numbers++
	c.last, c.low, c.high = v, math.Min(c.low, v), math.Max(c.high, v)
}

// timeOf returns the column that looks like the time, or −1: one that rises, best
// one that is called so.
func timeOf(columns []column) int {
	best, score := -1, 0
	for i := range columns {
		c := &columns[i]
		if c.others > 0 || c.numbers == 0 || len(c.steps) == 0 && c.numbers > 1 {
			continue
		}
		n, name := 0, strings.ToLower(c.name)
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
func unitOf(c *column) string {
	if len(c.steps) == 0 {
		return "s"
	}
	slices.Sort(c.steps)
	for _, unit := range []string{"s", "ms", "us", "ns"} {
		if step := c.steps[len(c.steps)/2] * math.Pow10(unitPower[unit]); step >= 1 && step < 1e18 && plausible(step) {
			return unit
		}
	}
	return "s"
}

// inputWords are parts of the names of columns that hold commands.
var inputWords = []string{"cmd", "command", "input", "torque", "motor", "pwm", "thrust", "setpoint", "actuator", "ctrl"}

// parted returns name and unit of a column that is called like omega [rad/s]. The
// brackets of q[0] hold no unit.
func parted(column string) (name, unit string) {
	name, rest, ok := strings.Cut(column, "[")
	unit, closed := strings.CutSuffix(rest, "]")
	name, unit = strings.TrimSpace(name), strings.TrimSpace(unit)
	if !ok || !closed || name == "" || unit == "" || strings.ContainsAny(unit, "[]") || strings.Trim(unit, "0123456789:") == "" {
		return column, ""
	}
	return name, unit
}

// write writes the channel of a column, commented out where it cannot be one.
func (c *column) write(b *strings.Builder, called, unit string) {
	hash, why := "", ""
	switch {
	case c.numbers == 0 && c.others == 0:
		hash, why = "# ", "empty"
	case c.others > 0:
		hash, why = "# ", "text: perhaps segment_column of [time]"
	case c.low == c.high:
		hash, why = "# ", fmt.Sprintf("%.6g throughout", c.low)
	default:
		why = fmt.Sprintf("%.6g to %.6g", c.low, c.high)
	}
	role, name := "state", strings.ToLower(called)
	if slices.ContainsFunc(inputWords, func(w string) bool { return strings.Contains(name, w) }) || name == "u" && unit != "m/s" { // a velocity of the body is called so, too
		role = "input"
	}
	fmt.Fprintf(b, "\n%s[[channel]] # %s\n%sname = %s\n%scolumn = %s\n", hash, why, hash, strconv.Quote(called), hash, strconv.Quote(c.name))
	if unit != "" {
		fmt.Fprintf(b, "%sunit = %s\n", hash, strconv.Quote(unit))
	}
	fmt.Fprintf(b, "%srole = %q\n", hash, role)
}
