package csv

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Reason and remedies of numbers that are written in several ways.
const (
	withPoints       = "export numbers with a decimal point instead of a comma"
	pointAmongCommas = " has a point, and the numbers before it have a decimal comma"
	alike            = "write all numbers of the table alike, without separators of thousands"
)

// number reads a cell of the named column, whose number in the row before was another one; NaN where nothing was measured.
func (r *Reader) number(column, cell string, before float64) (float64, error) {
	if r.ambiguous(cell) {
		return 0, r.fail(r.line, "column "+quote(column), quote(cell)+pointAmongCommas, alike)
	}
	cell = r.point(cell)
	if missing(cell) {
		return math.NaN(), nil
	}
	if v, ok := truth(cell); ok {
		return v, nil
	}
	v, err := strconv.ParseFloat(cell, 64)
	if strings.ContainsRune(cell, '_') { // between digits Go reads them, and no table means them
		err = strconv.ErrSyntax
	}
	reason, remedy := "is not a number", "correct it, or clear the cell if nothing was measured"
	switch {
	case math.IsInf(v, 0):
		reason = "is infinite"
	case err == nil && v != 0 && r.inCells && r.cfg.Counts.units[column].inCells:
		reason, remedy = "has no unit, and numbers before it have", oneUnit
	case err == nil:
		return v, nil
	case strings.ContainsRune(cell, ',') && (r.decimal || strings.ContainsRune(cell, '.')), thousands.MatchString(cell):
		remedy = alike
	case strings.ContainsRune(cell, ','):
		remedy = withPoints
	default:
		if number, unit, ok := measured(cell); ok {
			return r.measure(column, cell, number, unit, before)
		}
	}
	return 0, r.fail(r.line, "column "+quote(column), quote(cell)+" "+reason, remedy)
}

// measure returns the number in a cell with a unit, which is that of all cells of the column.
func (r *Reader) measure(column, cell, number, unit string, before float64) (float64, error) {
	counts := r.cfg.Counts
	r.inCells = true
	if counts.units == nil {
		counts.units = map[string]unitAt{}
	}
	known, ok := counts.units[column]
	switch {
	case ok && known.unit != unit:
		return 0, r.fail(r.line, "column "+quote(column), fmt.Sprintf("%s is in %s, and numbers before it are in %s", quote(cell), quote(unit), quote(known.unit)), oneUnit)
	case !ok && r.read > 1 && before != 0 && !math.IsNaN(before):
		return 0, r.fail(r.line, "column "+quote(column), fmt.Sprintf("%s is in %s, and numbers before it have no unit", quote(cell), quote(unit)), oneUnit)
	case !ok:
		counts.units[column] = unitAt{unit: unit, file: r.path, inCells: true}
	}
	return strconv.ParseFloat(number, 64)
}

// oneUnit is the remedy of a column whose cells have several units.
const oneUnit = "convert the column to one unit"

// InCells returns the units that cells of columns have behind their numbers, by column.
func (c *Counts) InCells() map[string]string {
	all := map[string]string{}
	for column, at := range c.units {
		if at.inCells {
			all[column] = at.unit
		}
	}
	return all
}
