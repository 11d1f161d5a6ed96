package priordynamics

import (
	"fmt"
	"math"
)

// Ellipsoid bounds coordinates v together: where |E v| > 1, v is divided by |E v|. It is the lower triangle of E
// (n(n+1)/2 numbers, row by row); none = no bound. Products of coordinates that are each within their bounds, but never were large
// together, are what a roll-out diverges by under a new manoeuvre.
type Ellipsoid []float64

// check returns what contradicts itself for n coordinates, or nil.
func (e Ellipsoid) check(n int) error {
	if len(e) > 0 && len(e) != n*(n+1)/2 {
		return fmt.Errorf("ellipsoid: %d numbers, expected %d", len(e), n*(n+1)/2)
	}
	for i, d := 0, 0; d < len(e); i, d = i+1, d+i+2 {
		if !(e[d] > 0) {
			return fmt.Errorf("ellipsoid: %v in row %d of the diagonal must be positive", e[d], i)
		}
	}
	return nil
}

// Square returns |E v|².
func (e Ellipsoid) Square(v []float64) (sum float64) {
	for i := 1; len(e) > 0; i++ {
		d := dot(e[:i], v[:i])
		sum, e = sum+d*d, e[i:]
	}
	return sum
}

// enter divides v, where it is outside, and returns by what it was multiplied.
func (e Ellipsoid) enter(v []float64) float64 {
	square := e.Square(v)
	if !(square > 1) {
		return 1
	}
	s := 1 / math.Sqrt(square)
	for i := range v {
		v[i] *= s
	}
	return s
}

// onSurface is how far |E v|² of coordinates that were divided is from 1 at most, by rounding.
const onSurface = 1e-9

// normal writes g = EᵀE v to dst and reports whether v, as Coordinates returns it, was divided. Then the derivative of v is d − v gᵀd, d being
// that of Coordinates' slope.
func (e Ellipsoid) normal(dst, v []float64) bool {
	if len(e) == 0 || e.Square(v) < 1-onSurface {
		return false
	}
	clear(dst)
	for i := range v {
		row := e[:i+1]
		addScaled(dst[:i+1], dot(row, v[:i+1]), row)
		e = e[i+1:]
	}
	return true
}

// tangent makes dv, the derivative of coordinates v by Coordinates' slope alone, the whole derivative. g (L+P) is memory.
func (e Ellipsoid) tangent(dv, v, g []float64) {
	if e.normal(g, v) {
		addScaled(dv, -dot(g, dv), v)
	}
}

// Adjoint makes derivatives by coordinates v, columns of K numbers each, those that Coordinates' slope is to be multiplied with. g (L+P) and
// sum (K) are memory.
func (e Ellipsoid) Adjoint(columns, v, g, sum []float64) {
	if !e.normal(g, v) {
		return
	}
	K := len(columns) / len(v)
	sum = sum[:K]
	clear(sum)
	for i, a := range v {
		addScaled(sum, a, columns[i*K:(i+1)*K])
	}
	for i, a := range g {
		addScaled(columns[i*K:(i+1)*K], -a, sum)
	}
}
