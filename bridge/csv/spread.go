package csv

import (
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// coarse is what is known of times that are coarser than the rows, so that several rows have
// each.
type coarse struct {
	whole int64 // ns, the resolution; 0 = each row has a time of its own
	usual int   // rows with one time

	run     []timedRow // with one time, not yet returned
	next    *timedRow  // the row behind them
	err     error      // behind that
	line    int        // of the table, up to which it was read
	started bool
}

// timedRow is a row and its time.
type timedRow struct {
	cells []string
	t     int64
	line  int
}

const (
	coarseRows  = 20_000  // rows that are looked at, of a table of a few columns
	coarseCells = 1 << 20 // cells of them
	coarseLeast = 1e6     // ns, the finest resolution that is taken for one
	longestRun  = 1 << 14 // rows with one time
)

// coarseness looks at the first rows of a table for times that are whole milliseconds, or
// coarser, and rise by one of these at a time, so that at least every tenth row repeats a time
// with other values: these are of a clock that is coarser than the rows.
func coarseness(r *Reader) coarse {
	whole, last := int64(1e9), int64(0)
	var steps []int64
	var runs []int // rows with one time
	var all [][]string
	rows, repeats := 0, 0
	for ; rows < coarseRows && rows*len(r.columns) < coarseCells; rows++ {
		cells, t, err := r.stamped()
		if err != nil {
			break
		}
		for whole >= coarseLeast && t%whole != 0 {
			whole /= 10
		}
		switch {
		case rows == 0:
			runs = append(runs, 1)
		case t != last:
			steps, runs = append(steps, t-last), append(runs, 1)
		case !slices.Equal(all[len(all)-1], cells):
			repeats++
			runs[len(runs)-1]++
		}
		last, all = t, append(all, cloned(cells))
	}
	if whole < coarseLeast || len(steps) < 2 || rows < 20 || 10*repeats < rows {
		return coarse{}
	}
	slices.Sort(steps)
	slices.Sort(runs)
	usual := runs[len(runs)/2]
	if steps[len(steps)/2] != whole || takeTurns(all, usual) {
		return coarse{}
	}
	return coarse{whole: whole, usual: usual}
}

// turns is the ratio of the steps to the row n before to those to the row before, below which
// rows are of n robots. Of one smooth signal it is n, of noise 1.
const turns = 0.4

// mostRobots bounds the robots that are distinguished by their rows alone.
const mostRobots = 8

// takeTurns reports whether rows are in turns of n robots, whose rows have one time: half of the
// columns that vary, or more, continue the row n before.
func takeTurns(rows [][]string, n int) bool {
	if n < 2 || n > mostRobots || len(rows) <= n {
		return false
	}
	varying, turning := 0, 0
	for k := range rows[0] {
		var one, far float64
		for i := n; i < len(rows); i++ {
			v, err := strconv.ParseFloat(rows[i][k], 64)
			before, errBefore := strconv.ParseFloat(rows[i-1][k], 64)
			behind, errBehind := strconv.ParseFloat(rows[i-n][k], 64)
			if err == nil && errBefore == nil && errBehind == nil {
				one, far = one+math.Abs(v-before), far+math.Abs(v-behind)
			}
		}
		if one > 0 {
			varying++
		}
		if far < turns*one {
			turning++
		}
	}
	return turning > 0 && 2*turning >= varying
}

// spreadTimes returns the next row and its time: of rows that have one time, which is coarser
// than they are, times that are spread evenly.
func (r *Reader) spreadTimes() ([]string, int64, error) {
	c := &r.coarse
	if c.whole == 0 {
		return r.stamped()
	}
	if len(c.run) == 0 {
		if err := r.fill(); err != nil {
			return nil, 0, err
		}
	}
	row := c.run[0]
	c.run = c.run[1:]
	r.line = row.line
	return row.cells, row.t, nil
}

// fill reads the rows that have one time, and gives them theirs.
func (r *Reader) fill() error {
	c := &r.coarse
	r.line = c.line
	if c.next != nil {
		c.run, c.next = append(c.run[:0], *c.next), nil
	}
	for c.err == nil && len(c.run) < longestRun {
		cells, t, err := r.stamped()
		if c.line = r.line; err != nil {
			c.err = err
			break
		}
		row := timedRow{cloned(cells), t, r.line}
		if n := len(c.run); n > 0 && t != c.run[0].t {
			c.next = &row
			break
		} else if n > 0 && slices.Equal(cells, c.run[n-1].cells) {
			r.cfg.Counts.Duplicates.Add(r.path, r.line)
			continue
		}
		c.run = append(c.run, row)
	}
	n := len(c.run)
	if n == 0 {
		return c.err
	}
	rows, from := n, int64(0)
	if n < c.usual-1 {
		rows = c.usual // some are not there
	}
	step := c.whole / int64(rows)
	if !c.started && n < rows && !errors.Is(c.err, io.EOF) {
		from = c.whole - int64(n)*step // recording began within it
	}
	c.started = true
	for i := range c.run {
		c.run[i].t += from + int64(i)*step
	}
	if n > 1 {
		r.cfg.Counts.Spread.Add(r.path, c.run[1].line)
		r.cfg.Counts.Spread.N += n - 2
	}
	return nil
}

// cloned copies the cells of a row.
func cloned(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = strings.Clone(c)
	}
	return out
}
