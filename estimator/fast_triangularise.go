package estimator

import (
	"math"

	"github.com/tphakala/simd/f64"
)

// triangulariser multiplies inverse factors from the left by orthogonal matrices, which
// changes no variance, so that the basis comes first. Packed by rows a factor is
//
//	L⁻¹ = [M₁ 0; M₂ M₃]   features, then basis        result: [N₁ N₂; 0 N₃]
//
// with N₁ lower triangular. Only N₁, F×F, is then multiplied point by point: over a
// horizon the basis hardly varies. The columns of the basis come first, and both have
// their amplitude.
//
// Loading a model spends most of its time here. So the rows of the basis are stored by
// columns: a reflection reads each once, while it is in cache.
type triangulariser struct {
	F, B  int
	top   []float64   // F×(B+F) row-major: [N₂ N₁]
	below [][]float64 // B+F columns of the rows of the basis: N₃, then zeros; B each, and zeros up to whole vectors
	at    []float64   // memory of below
	sums  []float64   // B+F
	v     []float64   // as long as a column of below, a reflection's part of it
	zeros []float64   // B
}

// newTriangulariser takes the memory for factors of F features and B columns of a basis.
func newTriangulariser(F, B int) *triangulariser {
	const vector = 8
	n, whole := F+B, (B+vector-1)/vector*vector
	t := &triangulariser{
		F: F, B: B, top: make([]float64, F*n), below: make([][]float64, n), at: make([]float64, n*whole),
		sums: make([]float64, n), v: make([]float64, whole), zeros: make([]float64, B),
	}
	for j := range t.below {
		t.below[j] = t.at[j*whole : (j+1)*whole]
	}
	return t
}

// triangularise sets top and below.
//
// Householder reflections, from the last column of M₂ to the first, each of one row
// of features with all of the basis.
func (t *triangulariser) triangularise(inverse []float64, amp [2]float64) {
	F, B, n := t.F, t.B, t.F+t.B
	t.fill(inverse, amp)
	if B == 0 {
		return
	}
	for c := F - 1; c >= 0; c-- {
		at := B + c
		row, column := t.top[c*n:c*n+at+1], t.below[at]
		norm := math.Sqrt(row[at]*row[at] + f64.DotProduct(column, column))
		if norm == 0 {
			continue
		}
		pivot := -math.Copysign(norm, row[at])
		first := row[at] - pivot
		copy(t.v, column)
		scale := -1 / (pivot * first) // 2/‖v‖²
		sums := t.sums[:at]
		f64.DotProductBatch(sums, t.below[:at], t.v)
		f64.AddScaled(sums, first, row[:at])
		f64.Scale(sums, sums, -scale)
		f64.AddScaled(row[:at], first, sums)
		for j, below := range t.below[:at] {
			f64.AddScaled(below, sums[j], t.v)
		}
		row[at] = pivot
		clear(column)
	}
}

// fill writes a factor, packed by rows, times its amplitudes.
func (t *triangulariser) fill(inverse []float64, amp [2]float64) {
	F, B, n := t.F, t.B, t.F+t.B
	clear(t.top)
	clear(t.at)
	for r := range F {
		row := t.top[r*n+B:]
		for c, v := range inverse[:r+1] {
			row[c] = amp[0] * v
		}
		inverse = inverse[r+1:]
	}
	for r := range B {
		for c, v := range inverse[:F] {
			t.below[B+c][r] = amp[0] * v
		}
		for c, v := range inverse[F : F+r+1] {
			t.below[c][r] = amp[1] * v
		}
		inverse = inverse[F+r+1:]
	}
}

// row returns the columns of the basis of a row of top; zeros after the last row.
func (t *triangulariser) row(r int) []float64 {
	if r >= t.F {
		return t.zeros
	}
	n := t.F + t.B
	return t.top[r*n : r*n+t.B]
}
