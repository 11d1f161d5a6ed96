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

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// row is one row as it goes into the log. Its slices are valid until the next
// row.
type row struct {
	line      int
	t         int64     // ns
	begins    bool      // a segment starts here
	name      string    // of the segment
	x, u, aux []float64 // K, P, A
}

// rows reads the rows of one file as a Map asks: converted, cut, in order, and
// divided into segments.
type rows struct {
	m     *Map
	table *table
	named bool // segments are named by the file, too
	seen  *Oddities

	timeAt     int
	segmentsAt []int
	columnAt   []int       // of each channel
	timesAt    []int       // of each channel: the column that is its factor, or −1
	dst        [][]float64 // of each channel: the cell in row's vectors that it fills, as a slice of one
	turnings   []turning   // of the map's attitudes
	row        row

	started bool  // a row was read
	first   int64 // time of the file's first row, whether cut or not
	final   int64 // time of the row last read, whether cut or not
	read    int   // rows
	moves   bool  // not all rows read have the time of the first
	begun   bool  // a row was kept
	last    int64 // time of the row last kept
	segment string
	written float64   // time of the row last kept or dropped, as the file has it
	steps   []float64 // between rows of a segment, as the file has them; the first maxSteps
}

// maxSteps is how many steps of time are kept for their median.
const maxSteps = 1 << 16

// newRows opens a file. Its first error is about the file and its columns.
func newRows(m *Map, path string, named bool, seen *Oddities) (*rows, error) {
	wanted := slices.Concat([]string{m.Time.Column}, m.Time.SegmentColumn)
	for _, c := range m.Channels {
		wanted = append(wanted, c.Column)
		if c.Times != "" {
			wanted = append(wanted, c.Times)
		}
	}
	for i := range m.Attitudes {
		wanted = append(wanted, m.Attitudes[i].Columns...)
	}
	t, err := openTable(path, wanted)
	if err != nil {
		return nil, err
	}
	r := &rows{m: m, table: t, named: named, seen: seen, timeAt: t.index(m.Time.Column)}
	for _, c := range m.Time.SegmentColumn {
		r.segmentsAt = append(r.segmentsAt, t.index(c))
	}
	all := m.channels()
	r.row.x = make([]float64, len(channel.Select(all, channel.State)))
	r.row.u = make([]float64, len(channel.Select(all, channel.Input)))
	r.row.aux = make([]float64, len(channel.Select(all, channel.Aux)))
	free := map[channel.Role][]float64{channel.State: r.row.x, channel.Input: r.row.u, channel.Aux: r.row.aux}
	for _, c := range m.Channels {
		r.columnAt = append(r.columnAt, t.index(c.Column))
		factor := -1
		if c.Times != "" {
			factor = t.index(c.Times)
		}
		r.timesAt = append(r.timesAt, factor)
		r.dst = append(r.dst, free[c.Role][:1:1])
		free[c.Role] = free[c.Role][1:]
	}
	for i := range m.Attitudes {
		a := &m.Attitudes[i]
		turn := turning{a: a, missing: &seen.Missing[len(m.Channels)+i], crooked: &seen.Crooked[i].Count}
		for k, c := range a.columns() {
			turn.at[k] = t.index(c)
		}
		for k, c := range a.channels() {
			turn.dst[k] = free[c.Role][:1:1]
			free[c.Role] = free[c.Role][1:]
		}
		r.turnings = append(r.turnings, turn)
	}
	return r, nil
}

func (r *rows) close() { r.table.close() }

// next returns the next row that goes into the log, or io.EOF.
func (r *rows) next() (*row, error) {
	for {
		cells, err := r.table.next()
		if errors.Is(err, io.EOF) {
			return nil, r.atEnd()
		}
		if err != nil {
			return nil, err
		}
		t, err := r.time(cells[r.timeAt])
		if err != nil {
			return nil, err
		}
		if !r.started {
			r.first, r.started = t, true
		}
		r.final = t
		r.read++
		r.moves = r.moves || t != r.first
		if r.cut(t - r.first) {
			continue
		}
		keep, err := r.order(t, cells[r.timeAt], r.name(cells))
		if err != nil {
			return nil, err
		}
		if !keep {
			continue
		}
		for i := range r.m.Channels {
			if r.dst[i][0], err = r.value(i, cells); err != nil {
				return nil, err
			}
		}
		for i := range r.turnings {
			if err = r.attitude(&r.turnings[i], cells); err != nil {
				return nil, err
			}
		}
		r.row.t, r.row.line = t, r.table.line
		return &r.row, nil
	}
}

// cut says whether the map cuts away a row at a time from the file's first. With
// no cut given none is made: rows before the first are for order to judge.
func (r *rows) cut(at int64) bool {
	from, to := int64(r.m.Time.From), int64(r.m.Time.To)
	return (from > 0 && at < from) || (to > 0 && at > to)
}

// atEnd returns io.EOF, or an error where the file gave no row.
func (r *rows) atEnd() error {
	switch {
	case r.begun:
		return io.EOF
	case !r.started:
		return r.table.fail(0, "", "the file names its columns and holds no row", "export it again")
	}
	return r.table.fail(0, "time.from and time.to", "nothing is left between them of a file that lasts "+seconds(r.final-r.first),
		"both count from the file's first sample; correct them or time.unit in the map")
}

// time reads the cell of the time.
func (r *rows) time(cell string) (int64, error) {
	cell = strings.TrimSpace(cell)
	t, err := parseTime(cell, unitPower[r.m.Time.Unit])
	if err == nil {
		return t, nil
	}
	field := "column " + quote(r.m.Time.Column)
	if missing(cell) {
		return 0, r.table.fail(r.table.line, field, "the time is missing", "fill it in or delete the line")
	}
	mend := "correct it or delete the line"
	if errors.Is(err, errTooLarge) {
		mend = "correct time.unit in the map"
	}
	return 0, r.table.fail(r.table.line, field, quote(cell)+" "+err.Error(), mend)
}

// name returns the segment that a row says it belongs to.
func (r *rows) name(cells []string) string {
	if len(r.segmentsAt) == 0 {
		return stem(r.table.path)
	}
	if len(r.segmentsAt) == 1 && !r.named {
		return strings.TrimSpace(cells[r.segmentsAt[0]])
	}
	var parts []string
	if r.named {
		parts = append(parts, stem(r.table.path))
	}
	for _, i := range r.segmentsAt {
		parts = append(parts, strings.TrimSpace(cells[i]))
	}
	return strings.Join(parts, "/")
}

// stem is the name of a file without its folder and its endings for text and
// packing.
func stem(path string) string {
	base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".zst")
	if short := strings.TrimSuffix(base, filepath.Ext(base)); short != "" {
		return short
	}
	return base
}

// order looks at the time of a row, which the file writes so: whether it is kept,
// and whether it begins a segment.
func (r *rows) order(t int64, cell, segment string) (keep bool, err error) {
	step := t - r.last
	fresh := !r.begun || segment != r.segment
	// Of times in the wrong unit, nanoseconds may be too coarse to tell the steps.
	digits, _ := strconv.ParseFloat(strings.TrimSpace(cell), 64) // was parsed before
	if d := digits - r.written; !fresh && d > 0 && len(r.steps) < maxSteps {
		r.steps = append(r.steps, d)
	}
	r.written = digits
	line, field := r.table.line, "column "+quote(r.m.Time.Column)
	switch policy := r.m.Time; {
	case fresh && len(segment) > flightlog.MaxName:
		return false, r.table.fail(line, "time.segment_column", fmt.Sprintf("a name of %d bytes, the limit is %d", len(segment), flightlog.MaxName),
			"choose a column with shorter values")
	case fresh:
		r.row.begins = true
	case step == 0 && policy.OnDuplicate == Fail:
		return false, r.table.fail(line, field, "the time is that of the row before", `delete the line, or write on_duplicate = "drop" under [time]`)
	case step == 0:
		r.seen.Duplicates.add(r.table.path, line)
		if policy.OnDuplicate == Drop {
			return false, nil
		}
		r.row.begins = false
	case step < 0 && policy.OnBackwards == Fail:
		return false, r.table.fail(line, field, fmt.Sprintf("the time runs backwards by %s", seconds(-step)),
			`sort the file by time; or, if the clock was set or another recording begins here, write on_backwards = "segment" under [time]`)
	case step < 0:
		r.seen.Backwards.add(r.table.path, line)
		r.row.begins = policy.OnBackwards == Segment
	case policy.MaxGap > 0 && step > int64(policy.MaxGap):
		r.seen.Gaps.add(r.table.path, line)
		r.seen.LongestGap = max(r.seen.LongestGap, step)
		r.row.begins = true
	default:
		r.row.begins = false
	}
	r.begun, r.last, r.segment, r.row.name = true, t, segment, segment
	return true, nil
}

// value reads channel i from the cells of a row. NaN = not measured.
func (r *rows) value(i int, cells []string) (float64, error) {
	c := &r.m.Channels[i]
	cell := cells[r.columnAt[i]]
	v, err := r.number(c.Column, cell)
	if err == nil && r.timesAt[i] >= 0 {
		var factor float64
		factor, err = r.number(c.Times, cells[r.timesAt[i]])
		v *= factor
	}
	if err != nil {
		return 0, err
	}
	if math.IsNaN(v) {
		r.seen.Missing[i].add(r.table.path, r.table.line)
		return v, nil
	}
	if c.Scale != nil {
		v *= *c.Scale
	}
	if v += c.Offset; math.IsInf(v, 0) {
		return 0, r.table.fail(r.table.line, "column "+quote(c.Column), quote(cell)+" is infinite after scale and offset", "correct it, or scale and offset in the map")
	}
	return v, nil
}

// number reads a cell of the named column; NaN where nothing was measured.
func (r *rows) number(column, cell string) (float64, error) {
	cell = strings.TrimSpace(cell)
	if missing(cell) {
		return math.NaN(), nil
	}
	field := "column " + quote(column)
	v, err := strconv.ParseFloat(cell, 64)
	switch {
	case math.IsInf(v, 0):
		return 0, r.table.fail(r.table.line, field, quote(cell)+" is infinite", "correct it, or clear the cell if nothing was measured")
	case err != nil && strings.ContainsRune(cell, ','):
		return 0, r.table.fail(r.table.line, field, quote(cell)+" is not a number", "export numbers with a decimal point instead of a comma")
	case err != nil:
		return 0, r.table.fail(r.table.line, field, quote(cell)+" is not a number", "correct it, or clear the cell if nothing was measured")
	}
	return v, nil
}

// missing says whether a cell stands for no measurement.
func missing(cell string) bool {
	if len(cell) > 4 {
		return false
	}
	switch strings.ToLower(cell) {
	case "", "nan", "-nan", "na", "n/a", "null", "none":
		return true
	}
	return false
}

// checkTimes returns an error where all rows are of one time, which is none at all.
func (r *rows) checkTimes() error {
	if r.read < 2 || r.moves {
		return nil
	}
	return r.table.fail(0, "column "+quote(r.m.Time.Column), fmt.Sprintf("all %d rows are at one time, %s", r.read, seconds(r.first)),
		"name the column that holds the time, or correct time.unit in the map")
}

// checkRate returns an error where the median step of time is one that no robot
// has, as far as this file goes.
func (r *rows) checkRate() error {
	if r.m.Time.AnyRate || len(r.steps) < 3 {
		return nil
	}
	slices.Sort(r.steps)
	digits := r.steps[len(r.steps)/2]
	median := digits * math.Pow10(unitPower[r.m.Time.Unit])
	if plausible(median) {
		return nil
	}
	mend := "correct time.unit in the map"
	for _, unit := range []string{"s", "ms", "us", "ns"} {
		if step := digits * math.Pow10(unitPower[unit]); plausible(step) {
			mend = fmt.Sprintf("with unit = %q it would be %s: correct time.unit in the map", unit, seconds(step))
			break
		}
	}
	return r.table.fail(0, "time.unit", fmt.Sprintf("with unit = %q the median step is %s", r.m.Time.Unit, seconds(median)),
		mend+", or write any_rate = true under [time] if it is right")
}

// plausible says whether a robot may be sampled with such a step, ns.
func plausible(step float64) bool { return step > 50_000 && step < 1_000_000_000 }

// seconds writes a time in ns for people.
func seconds[T int64 | float64](ns T) string {
	return strconv.FormatFloat(1e-9*float64(ns), 'g', 6, 64) + " s"
}
