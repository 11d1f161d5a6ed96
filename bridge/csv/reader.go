package csv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/timebase"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// Topic is the name of the one topic of a table.
const Topic = "table"

// Config describes how a table is read.
type Config struct {
	Time
	Columns   []string // that must be in the file, beside those of Time
	FileNames bool     // segments are named by the file as well as by the segment column
	Counts    *Counts  // receives what is counted
	Open      Opener   // (optional) opens tables that are not of text
	Group     string   // only rows with this value in the group column
}

// Reader reads the rows of one file: converted, cut, in order, and divided into
// segments.
type Reader struct {
	*table
	cfg   Config
	topic telemetry.Topic
	msg   telemetry.Message
	row   telemetry.Row

	timeAt     int
	fractionAt int // −1 = none
	dateAt     int // −1 = none
	groupAt    int // −1 = none
	wraps      wraps
	coarse     coarse
	segmentsAt []int
	wantedAt   []int // columns of the values
	inCells    bool  // some column has units behind its numbers

	started bool    // a row was read
	first   int64   // ns, time of the file's first row, whether cut or not
	final   int64   // ns, time of the row last read, whether cut or not
	read    int     // rows
	moves   bool    // not all rows read have the time of the first
	begun   bool    // a row was kept
	last    int64   // ns, time of the row last kept
	written float64 // time of the row last kept or dropped, as the file has it
	between timebase.Steps
	longest int64     // ns, of the steps between
	behind  int       // line behind it
	twice   bool      // a row has the time of the one before: from there on the row before is kept
	before  []byte    // its cells
	steps   []float64 // between rows of a segment, as the file has them; the first maxSteps
}

var _ telemetry.Source = (*Reader)(nil)

// maxSteps is how many steps of time are kept for their median.
const maxSteps = 1 << 16

// Open opens a table. Its first error is about the file and its columns.
func Open(path string, wants telemetry.Wants, cfg Config) (*Reader, error) {
	var clock coarse
	if cfg.OnDuplicate == Spread && cfg.Step == 0 {
		look := cfg
		look.OnDuplicate, look.Counts = Drop, &Counts{}
		first, err := Open(path, telemetry.Wants{}, look)
		if err != nil {
			return nil, err
		}
		clock = coarseness(first)
		if err := first.Close(); err != nil {
			return nil, err
		}
	}
	own := slices.DeleteFunc([]string{cfg.Column, cfg.Fraction, cfg.Date, cfg.GroupColumn}, func(c string) bool { return c == "" })
	t, err := openTable(path, slices.Concat(own, cfg.SegmentColumn, cfg.Columns), cfg.Open)
	if err != nil {
		return nil, err
	}
	r := &Reader{table: t, cfg: cfg, coarse: clock, timeAt: t.place(cfg.Column), fractionAt: t.place(cfg.Fraction), dateAt: t.place(cfg.Date), groupAt: t.place(cfg.GroupColumn)}
	for _, c := range cfg.SegmentColumn {
		r.segmentsAt = append(r.segmentsAt, t.index(c))
	}
	r.topic = telemetry.Topic{Name: Topic, Fields: t.fields, Check: t.check}
	paths := wants.Paths(&r.topic)
	for _, p := range paths {
		if err := t.check(p); err != nil {
			t.Close()
			return nil, telemetry.NewFieldError(path, &r.topic, p, err.Error())
		}
		r.wantedAt = append(r.wantedAt, t.index(p))
	}
	if err := t.agree(cfg.Counts, append(own, paths...)); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	r.msg = telemetry.Message{Topic: &r.topic, Row: &r.row, Values: make([]float64, len(paths))}
	r.inCells = cfg.Counts != nil && len(cfg.Counts.InCells()) > 0
	return r, nil
}

// Problems returns nothing: what cannot be read of a table is an error.
func (r *Reader) Problems() *telemetry.Problems { return &telemetry.Problems{} }

// Next returns the next row that the configuration keeps, or io.EOF.
func (r *Reader) Next() (*telemetry.Message, error) {
	cells, t, err := r.kept()
	if err != nil {
		return nil, err
	}
	for i, k := range r.wantedAt {
		if r.msg.Values[i], err = r.number(r.columns[k], cells[k], r.msg.Values[i]); err != nil {
			return nil, err
		}
	}
	r.msg.Time, r.msg.Logged, r.row.Line = t, t, r.line
	return &r.msg, nil
}

// kept returns the cells of the next row that the configuration keeps, and its time.
func (r *Reader) kept() (cells []string, t int64, err error) {
	for {
		cells, t, err = r.spreadTimes()
		if errors.Is(err, io.EOF) {
			return nil, 0, r.atEnd()
		}
		if err != nil {
			return nil, 0, err
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
		keep, err := r.order(t, r.digits(t, cells), r.name(cells), cells)
		if err != nil {
			return nil, 0, err
		}
		if r.twice {
			r.before = joined(r.before[:0], cells)
		}
		if keep {
			return cells, t, nil
		}
	}
}

// cut reports whether a row at a time from the file's first is cut away. With no cut
// given none is made: order judges rows before the first.
func (r *Reader) cut(at int64) bool {
	from, to := int64(r.cfg.From), int64(r.cfg.To)
	return (from > 0 && at < from) || (to > 0 && at > to)
}

// digits returns a time as the file has it, in its unit.
func (r *Reader) digits(t int64, cells []string) float64 {
	if r.timeAt < 0 || r.fractionAt >= 0 || r.coarse.whole > 0 || r.cfg.Unit == isoUnit || r.cfg.Unit == clockUnit {
		return float64(t-r.first) / scales[r.cfg.Unit].ns()
	}
	// Of times in the wrong unit, nanoseconds may be too coarse to distinguish the steps.
	cell := r.point(cells[r.timeAt])
	digits, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		digits, _ = strconv.ParseFloat(r.bare(cell), 64) // was parsed before
	}
	return digits
}

func (r *Reader) name(cells []string) string {
	if len(r.segmentsAt) == 0 && r.groupAt < 0 {
		return Stem(r.path)
	}
	if len(r.segmentsAt) == 1 && !r.cfg.FileNames && r.groupAt < 0 {
		return strings.TrimSpace(cells[r.segmentsAt[0]])
	}
	var parts []string
	if r.cfg.FileNames {
		parts = append(parts, Stem(r.path))
	}
	if r.groupAt >= 0 {
		parts = append(parts, r.cfg.Group)
	}
	for _, i := range r.segmentsAt {
		parts = append(parts, strings.TrimSpace(cells[i]))
	}
	return strings.Join(parts, "/")
}

// Stem is the name of a file without its folder and its endings for kind and packing,
// as a segment is called.
func Stem(path string) string {
	base := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".zst")
	if short := strings.TrimSuffix(base, filepath.Ext(base)); short != "" {
		return short
	}
	return base
}

// compare counts whether a row with the time of the row before repeats it, where that is kept.
func (r *Reader) compare(cells []string) {
	if r.twice {
		r.cfg.Counts.Compared++
		if bytes.Equal(joined(nil, cells), r.before) {
			r.cfg.Counts.Repeated++
		}
	}
	r.twice = true
}

// joined appends cells, with a zero behind each.
func joined(b []byte, cells []string) []byte {
	for _, c := range cells {
		b = append(append(b, c...), 0)
	}
	return b
}

// order judges the time of a row, which the file has as digits: whether the row is
// kept, and whether it begins a segment.
func (r *Reader) order(t int64, digits float64, segment string, cells []string) (keep bool, err error) {
	step := t - r.last
	fresh := !r.begun || segment != r.row.Segment
	if d := digits - r.written; !fresh && d > 0 && len(r.steps) < maxSteps {
		r.steps = append(r.steps, d)
	}
	factor := r.rescaled(digits)
	r.written = digits
	field, begins := "column "+quote(r.cfg.Column), fresh
	switch counts := r.cfg.Counts; {
	case fresh && len(segment) > flightlog.MaxName:
		return false, r.fail(r.line, "time.segment_column", fmt.Sprintf("a name of %d bytes, the limit is %d", len(segment), flightlog.MaxName),
			"choose a column with shorter values")
	case fresh:
	case factor > 0:
		return false, r.otherUnit(factor)
	case step == 0 && r.cfg.OnDuplicate == Fail:
		return false, r.fail(r.line, field, "the time is that of the row before", `delete the line, or write on_duplicate = "drop" under [time]`)
	case step == 0:
		counts.Duplicates.Add(r.path, r.line)
		r.compare(cells)
		if r.cfg.OnDuplicate != Keep {
			return false, nil
		}
	case step < 0 && r.cfg.OnBackwards == Fail:
		return false, r.backwards(field, t, -step)
	case step < 0:
		counts.Backwards.Add(r.path, r.line)
		begins = r.cfg.OnBackwards == Segment
	case r.cfg.MaxGap > 0 && step > int64(r.cfg.MaxGap):
		counts.Gaps.Add(r.path, r.line)
		counts.LongestGap = max(counts.LongestGap, step)
		begins = true
	default:
		if len(r.steps) < maxSteps || r.between.Pause(step) {
			r.between.Add(step)
		}
		if step > r.longest {
			r.longest, r.behind = step, r.line
		}
	}
	r.begun, r.last, r.row.Segment, r.row.Begins = true, t, segment, begins
	return true, nil
}

// backwards returns the error of a row whose time is before that of the row ahead of it, by so many ns.
func (r *Reader) backwards(field string, t, by int64) error {
	const segment = `write on_backwards = "segment" under [time]`
	usual := r.between.Usual()
	switch what := within(by, usual); {
	case what != "" && r.cfg.Unit == isoUnit:
		return r.fail(r.line, field, fmt.Sprintf("the clock is set back by one %s, as at the end of summer time", what), segment+", or write the times with their zone, as 12:30:00+02:00")
	case what != "":
		return r.fail(r.line, field, fmt.Sprintf("the time restarts: it seems to count within the %s", what), "write the whole time into one column")
	case by <= 1e9 && atLeap(t):
		return r.fail(r.line, field, fmt.Sprintf("the time runs backwards by %s at a leap second, which UTC counts twice", seconds(by)), segment)
	case t >= r.first && t-r.first <= usual:
		return r.fail(r.line, field, "the time restarts at the first time of the file: another recording may begin here", segment)
	}
	return r.fail(r.line, field, fmt.Sprintf("the time runs backwards by %s", seconds(by)),
		"sort the file by time, or write join = true under [time], which does so; or, if the clock was set or another recording begins here, "+segment)
}

// atEnd returns io.EOF, or what the file as a whole shows to be wrong.
func (r *Reader) atEnd() error {
	switch {
	case !r.started:
		return r.fail(0, "", "the file names its columns and has no row", "export it again")
	case !r.begun:
		return r.fail(0, "time.from and time.to", "no row is between them in a file that lasts "+seconds(r.final-r.first),
			"both count from the file's first sample; correct them or time.unit in the map")
	}
	if err := r.checkRate(); err != nil {
		return err
	}
	r.pauses()
	if r.rows != nil {
		for _, what := range r.rows.LeftOut() {
			if all := &r.cfg.Counts.LeftOut; !slices.Contains(*all, what) {
				*all = append(*all, what)
			}
		}
	}
	for line := range r.ahead {
		r.cfg.Counts.Ahead.Add(r.path, line+1)
	}
	if r.lines != nil && r.lines.open > 0 && r.lines.open == r.row.Line {
		r.cfg.Counts.Open.Add(r.path, r.row.Line)
	}
	if r.read > 1 && !r.moves {
		return r.fail(0, "column "+quote(r.cfg.Column), fmt.Sprintf("all %d rows are at one time, %s", r.read, seconds(r.first)),
			"name the column of the time, or correct time.unit in the map")
	}
	return io.EOF
}

// pauses counts the steps in which nothing was recorded.
func (r *Reader) pauses() {
	r.cfg.Counts.Step = max(r.cfg.Counts.Step, r.between.Median())
	if r.cfg.MaxGap > 0 || !r.between.Pause(r.longest) {
		return
	}
	c := &r.cfg.Counts.Pauses
	if c.N += max(1, r.between.Pauses()); r.longest > c.Longest {
		*c = Pauses{c.N, r.longest, r.between.Usual(), Count{1, r.path, r.behind}}
	}
}

// checkRate returns an error where the median step of time is one that no robot has. Dates have no other unit.
func (r *Reader) checkRate() error {
	if r.cfg.AnyRate || r.cfg.Unit == "iso" || len(r.steps) < 3 {
		return nil
	}
	slices.Sort(r.steps)
	digits := r.steps[len(r.steps)/2]
	median := digits * scales[r.cfg.Unit].ns()
	if plausible(median) {
		return nil
	}
	remedy := "correct time.unit in the map"
	if unit := unitBy(digits, r.written); unit != "" {
		remedy = fmt.Sprintf("with unit = %q it would be %s: correct time.unit in the map", unit, seconds(digits*scales[unit].ns()))
	}
	return r.fail(0, "time.unit", fmt.Sprintf("with unit = %q the median step is %s", r.cfg.Unit, seconds(median)),
		remedy+", or write any_rate = true under [time] if it is right")
}

// seconds prints a time in ns.
func seconds[T int64 | float64](ns T) string {
	return strconv.FormatFloat(1e-9*float64(ns), 'g', 6, 64) + " s"
}
