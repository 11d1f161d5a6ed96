package csv

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// stamped returns the cells of the next row of the robot that is read, and its time.
func (r *Reader) stamped() (cells []string, t int64, err error) {
	for {
		if cells, err = r.next(); err != nil {
			return nil, 0, err
		}
		if r.groupAt < 0 || strings.TrimSpace(cells[r.groupAt]) == r.cfg.Group {
			break
		}
	}
	t, err = r.stamp(cells)
	return cells, t, err
}

// stamp returns the time of a row, of one column or two.
func (r *Reader) stamp(cells []string) (int64, error) {
	if r.timeAt < 0 {
		return int64(r.read) * int64(r.cfg.Step), nil
	}
	cell := cells[r.timeAt]
	field := "column " + quote(r.cfg.Column)
	var t int64
	var err error
	switch {
	case r.cfg.Unit == isoUnit && r.dateAt >= 0:
		date := strings.TrimSpace(cells[r.dateAt])
		if t, err = parseDate(date+"T"+strings.TrimSpace(cell), r.cfg.datesIn()); err == nil {
			t = r.wraps.dated(date, t)
		}
	case r.cfg.Unit == isoUnit:
		if t, err = parseDate(cell, r.cfg.datesIn()); err == nil {
			t = r.leaped(t, cell)
		}
	case r.cfg.Unit == clockUnit:
		if t, err = parseClock(cell); err == nil && !strings.Contains(cell, "day") {
			t = r.wraps.clock(t)
		}
	default:
		if t, err = r.time(cell); err != nil {
			return 0, err
		}
		if r.fractionAt < 0 {
			return r.wraps.add(t, int64(scales[r.cfg.Unit].ns())), nil
		}
		ns, err := parseTime(r.point(cells[r.fractionAt]), scales[cmp.Or(r.cfg.FractionUnit, "ns")])
		if err != nil {
			return 0, r.fail(r.line, "column "+quote(r.cfg.Fraction), quote(cells[r.fractionAt])+" "+err.Error(), "correct it or delete the line")
		}
		return t + ns, nil
	}
	switch {
	case errors.Is(err, errDayMonth):
		return 0, r.fail(r.line, field, quote(cell)+" "+err.Error(), "write day_first = true under [time], or false")
	case err != nil:
		return 0, r.fail(r.line, field, quote(cell)+" "+err.Error(), "correct it, delete the line, or correct time.unit in the map")
	}
	return t, nil
}

// leaped returns a time on a clock that goes on over leap seconds.
func (r *Reader) leaped(t int64, cell string) int64 {
	t, ended := r.wraps.afterLeap(t, leap(cell))
	if ended && r.cfg.Counts != nil {
		r.cfg.Counts.Leaps.Add(r.path, r.line)
	}
	return t
}

// bare returns a time without the unit behind it, if that is the one of all times.
func (r *Reader) bare(cell string) string {
	if number, unit, ok := measured(cell); ok && spelled(strings.ToLower(unit)) == r.cfg.Unit {
		return number
	}
	return cell
}

// time reads the time in a cell that is a number.
func (r *Reader) time(cell string) (int64, error) {
	if r.ambiguous(cell) {
		return 0, r.fail(r.line, "column "+quote(r.cfg.Column), quote(cell)+pointAmongCommas, alike)
	}
	cell = r.point(cell)
	t, err := parseTime(cell, scales[r.cfg.Unit])
	if err != nil {
		t, err = parseTime(r.bare(cell), scales[r.cfg.Unit])
	}
	if err == nil {
		return t, nil
	}
	field := "column " + quote(r.cfg.Column)
	if v, bad := strconv.ParseFloat(cell, 64); bad == nil && r.rescaled(v) > 0 {
		return 0, r.otherUnit(r.rescaled(v))
	}
	if missing(cell) {
		return 0, r.fail(r.line, field, "the time is missing", "fill it in or delete the line")
	}
	remedy := "correct it or delete the line"
	_, unit, behind := measured(cell)
	switch {
	case behind && spelled(strings.ToLower(unit)) != "":
		remedy = "write unit = \"clock\" under [time], which reads units behind numbers"
	case errors.Is(err, errTooLarge):
		remedy = "correct time.unit in the map"
	case strings.ContainsRune(cell, ',') && r.decimal:
		remedy = alike
	case strings.ContainsRune(cell, ','):
		remedy = withPoints
	case strings.ContainsRune(cell, ':'):
		remedy = "write unit = \"iso\" under [time] for dates with times, \"clock\" for times of day"
	}
	return 0, r.fail(r.line, field, quote(cell)+" "+err.Error(), remedy)
}

// What a change of the unit of times is.
const (
	leastRescaled = 500 // times as large as the time before, or as small
	mostStepsOn   = 10  // the steps that the time goes on, in the new unit
	leastSteps    = 100 // ahead of it: the ratio of times near 0 means nothing
)

// rescaled returns how many times as large as those before it a time is, where that is a power of 1000 and the time goes on as it
// did: its unit changes. 0 = it does not.
func (r *Reader) rescaled(digits float64) float64 {
	ratio := digits / r.written
	if !(ratio > leastRescaled || ratio > 0 && ratio < 1.0/leastRescaled) || len(r.steps) < leastSteps {
		return 0
	}
	factor := math.Pow(1000, math.Round(math.Log(ratio)/math.Log(1000)))
	steps := slices.Sorted(slices.Values(r.steps))
	usual := steps[len(steps)/2]
	if on := digits/factor - r.written; on < -usual || on > mostStepsOn*usual || math.Abs(r.written) < leastSteps*usual {
		return 0
	}
	return factor
}

// otherUnit returns the error of a row from which on times have another unit.
func (r *Reader) otherUnit(factor float64) error {
	what := fmt.Sprintf("%.6g times as large", factor)
	if factor < 1 {
		what = fmt.Sprintf("%.6g times as small", 1/factor)
	}
	return r.fail(r.line, "column "+quote(r.cfg.Column), "the times are "+what+" from here on: their unit changes", "convert the column to one unit, or import the parts as files of their own")
}
