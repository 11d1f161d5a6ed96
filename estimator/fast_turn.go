package estimator

import (
	"math"

	"github.com/tphakala/simd/f64"
)

// turn multiplies an inverse factor from the left by an orthogonal matrix, which
// changes no variance, so that the basis comes first. Packed by rows it is
//
//	L⁻¹ = [M₁ 0; M₂ M₃]   features, then basis        turned: [N₁ N₂; 0 N₃]
//
// with N₁ lower triangular. What is multiplied point by point then is N₁ alone, F×F:
// over a horizon the basis hardly varies. The result has (F+B)×(B+F) numbers, row
// after row, the columns of the basis in front, and both times their amplitude.
//
// Householder reflections, from the last column of M₂ to the first, each of one row
// of features with all of the basis.
func turn(inverse []float64, F, B int, amp [2]float64) []float64 {
	n := F + B
	t := make([]float64, n*n)
	for r, o := 0, 0; r < n; r++ {
		row := t[r*n : (r+1)*n]
		for c, v := range inverse[o : o+r+1] {
			if c < F {
				row[B+c] = amp[0] * v
			} else {
				row[c-F] = amp[1] * v
			}
		}
		o += r + 1
	}
	if B == 0 {
		return t
	}
	v, sum, rows := make([]float64, B+1), make([]float64, n), make([][]float64, B+1)
	for i := range B { // the basis; in front of it comes the row of a feature
		rows[1+i] = t[(F+i)*n : (F+i+1)*n]
	}
	for c := F - 1; c >= 0; c-- {
		at := B + c
		rows[0] = t[c*n : (c+1)*n]
		norm := 0.0
		for i, row := range rows {
			v[i] = row[at]
			norm += v[i] * v[i]
		}
		norm = math.Sqrt(norm)
		if norm == 0 {
			continue
		}
		pivot := -math.Copysign(norm, v[0])
		v[0] -= pivot
		scale := -1 / (pivot * v[0]) // 2/‖v‖²
		clear(sum[:at])
		for i, row := range rows {
			f64.AddScaled(sum[:at], v[i], row[:at])
		}
		for i, row := range rows {
			f64.AddScaled(row[:at], -scale*v[i], sum[:at])
			row[at] = 0
		}
		rows[0][at] = pivot
	}
	return t
}
