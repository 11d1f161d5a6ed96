package c99

import (
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// sinCos evaluates the cosines of all rows, below them the sines; tangents are −sin x ẋ and cos x ẋ.
func (s *scope) sinCos(o *program.SinCos) {
	x := s.get(o.X)
	y := s.set(o.Out, x)
	s.call("cos_sin", 0, of(y), of(x), x.size())
	if y.active {
		s.call("cos_sin_tangent", 0, tangent(y), tangent(x), of(y), x.size())
	}
}

// clamp evaluates y_r = min(max(x_r, low_r), high_r); ẏ is 0 where a bound holds.
func (s *scope) clamp(o *program.Clamp) {
	x := s.get(o.X)
	y := s.set(o.Out, x)
	low, high := "0", "0"
	if !all(o.Low, math.Inf(-1)) {
		low = s.reals(o.Low)
	}
	if !all(o.High, math.Inf(1)) {
		high = s.reals(o.High)
	}
	s.call("clamp", s.columns, of(y), of(x), low, high, y.rows)
	if y.active {
		s.call("clamp_tangent", s.columns, tangent(y), tangent(x), of(x), low, high, y.rows)
	}
}

// distances evaluates y_j = ‖x − p_j‖², and ẏ_j = 2 (x − p_j)ᵀ ẋ.
func (s *scope) distances(o *program.Distances) {
	x := s.get(o.X)
	y := s.set(o.Out, x)
	points := s.reals(o.Points)
	s.call("distances", s.columns, of(y), of(x), points, y.rows, x.rows)
	if y.active {
		s.call("distances_tangent", s.columns, tangent(y), tangent(x), of(x), points, y.rows, x.rows)
	}
}

// largest evaluates y_r, the largest of the rows r, R + r, … of x; ẏ is that of the first of these.
func (s *scope) largest(o *program.Largest) {
	x := s.get(o.X)
	y := s.set(o.Out, x)
	n := y.size()
	s.call("largest", 0, of(y), of(x), n, x.rows/y.rows)
	if y.active {
		s.call("largest_tangent", 0, tangent(y), tangent(x), of(x), of(y), n, x.rows/y.rows)
	}
}

// local evaluates y(:,j) = M_j x(:,j), and the same of ẋ.
func (s *scope) local(o *program.Local) {
	x := s.get(o.X)
	y := s.set(o.Out, x)
	if s.p.Shape(o.Out).Cols == 1 { // one matrix
		s.clear(of(y))
		s.multiply(of(y), of(x), o.M)
		if y.active {
			s.clear(tangent(y))
			s.multiply(tangent(y), tangent(x), o.M)
		}
		return
	}
	m := fmt.Sprintf("%s + %s * %d", s.reals(o.M), s.first, y.rows*x.rows)
	s.call("local", s.columns, of(y), m, of(x), y.rows, x.rows)
	if y.active {
		s.call("local", s.columns, tangent(y), m, tangent(x), y.rows, x.rows)
	}
}

// sumColumns evaluates y(:,j) = Σ_i x(:,i) m_ij of whole registers, and the same of ẋ.
func (b *builder) sumColumns(o *program.Columns, y, x *value) {
	y.active = x.active
	var at []int
	var w []float64
	for _, e := range o.Entries {
		at, w = append(at, e.To, e.From), append(w, e.W)
	}
	numbers := "0"
	if !all(w, 1) {
		numbers = b.reals(w)
	}
	add := func(y, x place) {
		b.clear(y)
		if len(w) > 0 && y.rows > 0 {
			b.call("sum_columns", 0, y, y.width, x, x.width, y.rows, b.places(at), numbers, len(w))
		}
	}
	add(of(y), of(x))
	if y.active {
		add(tangent(y), tangent(x))
	}
}
