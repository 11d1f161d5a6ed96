package estimator

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// dot returns x·y, for vectors of equal length.
func dot(x, y []float64) float64 {
	return blas64.Dot(blas64.Vector{N: len(x), Inc: 1, Data: x}, blas64.Vector{N: len(x), Inc: 1, Data: y})
}

// squares returns ‖L⁻¹x‖² for L⁻¹ packed by rows.
func squares(inverse, x []float64) float64 {
	s := 0.0
	for j, o := 0, 0; j < len(x); j++ {
		a := dot(inverse[o:o+j+1], x[:j+1])
		s += a * a
		o += j + 1
	}
	return s
}

func zero(s ...[]float64) {
	for _, v := range s {
		clear(v)
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func allFinite(s []float64) bool {
	for _, v := range s {
		if !finite(v) {
			return false
		}
	}
	return true
}
