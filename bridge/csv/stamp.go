package csv

import (
	"cmp"
	"errors"
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
		t, err = parseDate(strings.TrimSpace(cells[r.dateAt]) + "T" + strings.TrimSpace(cell))
	case r.cfg.Unit == isoUnit:
		t, err = parseDate(cell)
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
	if err != nil {
		return 0, r.fail(r.line, field, quote(cell)+" "+err.Error(), "correct it, delete the line, or correct time.unit in the map")
	}
	return t, nil
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
