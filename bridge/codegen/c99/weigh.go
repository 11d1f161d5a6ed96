package c99

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// weigh evaluates y_rj = w_rj x_rj + c_rj, and ẏ = w ẋ.
func (s *scope) weigh(o *program.Weigh) {
	cols := s.p.Shape(o.Out).Cols
	x := s.get(o.X)
	y := s.set(o.Out, x)
	if all(o.C, 0) { // also without
		s.beginWeighed(of(y), of(x), o.W, cols)
	} else {
		s.constants(y, o.C, cols)
		s.addWeighed(of(y), of(x), o.W, cols)
	}
	if y.active {
		s.beginWeighed(tangent(y), tangent(x), o.W, cols)
	}
}

// constants sets y to numbers by row and column.
func (s *scope) constants(y *value, c []float64, cols int) {
	if name, stride := s.table(c, y.rows, cols); stride < 0 {
		s.call("spread", s.columns, of(y), name, y.rows)
	} else {
		s.call("load", s.columns, of(y), name, y.rows, stride)
	}
}

// beginWeighed sets y to w x.
func (s *scope) beginWeighed(y, x place, w []float64, cols int) {
	if len(w) > 0 && all(w, w[0]) && w[0] != 0 {
		s.call("scale", 0, y, x, s.number(w[0]), y.rows*s.columns)
		return
	}
	s.clear(y)
	s.addWeighed(y, x, w, cols)
}

func (s *scope) addWeighed(y, x place, w []float64, cols int) {
	switch {
	case len(w) == 0 || all(w, 0):
		return
	case all(w, w[0]):
		s.call("add", 0, y, x, s.number(w[0]), y.rows*s.columns)
		return
	}
	if name, stride := s.table(w, y.rows, cols); stride < 0 {
		s.call("weighed", s.columns, y, x, name, y.rows)
	} else {
		s.call("weighed_columns", s.columns, y, x, name, y.rows, stride)
	}
}

// table returns the name of numbers by row and column with the block's first column added, and how far apart their rows
// lie: 0 where all rows are the same, −1 where all columns are.
func (s *scope) table(v []float64, rows, cols int) (name string, stride int) {
	if len(v) == rows { // also where there is one column
		return s.reals(v), -1
	}
	column := make([]float64, 0, rows)
	for row := range slices.Chunk(v, cols) {
		if !all(row, row[0]) {
			break
		}
		column = append(column, row[0])
	}
	if len(column) == rows {
		return s.reals(column), -1
	}
	stride = 0
	for row := range slices.Chunk(v, cols) {
		if !slices.Equal(row, v[:cols]) {
			stride = cols
		}
	}
	if stride == 0 {
		v = v[:cols]
	}
	return s.reals(v) + " + " + s.first, stride
}
