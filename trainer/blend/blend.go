// Package blend decides how far to trust an addition to a prediction, from how both
// did on data that neither has seen.
package blend

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Row is one outcome: what the first prediction left of it, and what the addition
// would have added.
type Row struct {
	At   int       // which horizon
	Left float64   // measured − first prediction
	Step float64   // the addition
	Hat  []float64 // Q, weights of the knots at that horizon
}

// ridge pulls the share towards 0, relative to the data's own weight.
const ridge = 0.02

// Share returns, at Q knots, the share ρ of the addition (0…1) that leaves the
// least of what happened,
//
//	Left ≈ ρ(τ) Step      ρ linear in √τ between the knots
//
// by least squares, every one of the horizons weighing the same. (Robust weights
// were worse: where a robot rests half of the time, they take all motion for
// outliers.)
func Share(rows []Row, Q, horizons int) []float64 {
	scale := scales(rows, horizons)
	gram, rhs := make([]float64, Q*Q), make([]float64, Q)
	for _, r := range rows {
		weight := 1 / scale[r.At]
		for i, hi := range r.Hat {
			if hi == 0 {
				continue
			}
			rhs[i] += weight * hi * r.Step * r.Left
			for j, hj := range r.Hat[:i+1] {
				gram[i*Q+j] += weight * hi * hj * r.Step * r.Step
			}
		}
	}
	trace := 0.0
	for i := range Q {
		trace += gram[i*Q+i] / float64(Q)
	}
	for i := range Q {
		gram[i*Q+i] += ridge*(trace+gram[i*Q+i]) + 1e-300
	}
	tri, ok := lapack64.Potrf(blas64.Symmetric{N: Q, Stride: Q, Data: gram, Uplo: blas.Lower})
	if !ok {
		return make([]float64, Q)
	}
	lapack64.Potrs(tri, blas64.General{Rows: Q, Cols: 1, Stride: 1, Data: rhs})
	for i, v := range rhs {
		rhs[i] = math.Min(math.Max(v, 0), 1)
	}
	return rhs
}

// scales returns the mean squared error of the better of the two at every horizon.
func scales(rows []Row, horizons int) []float64 {
	a, b := make([]float64, horizons), make([]float64, horizons)
	for _, r := range rows {
		a[r.At] += r.Left * r.Left
		b[r.At] += (r.Left - r.Step) * (r.Left - r.Step)
	}
	for i := range a {
		a[i] = math.Min(a[i], b[i]) + 1e-300
	}
	return a
}

// Agreed returns the mean of several shares less some of its standard errors, at
// least 0: where parts of the data disagree, the addition counts less.
func Agreed(shares [][]float64, errors float64) []float64 {
	n := float64(len(shares))
	out := make([]float64, len(shares[0]))
	for j := range out {
		mean, squares := 0.0, 0.0
		for _, s := range shares {
			mean += s[j] / n
			squares += s[j] * s[j] / n
		}
		err := math.Sqrt(math.Max(0, squares-mean*mean) / math.Max(1, n-1))
		out[j] = math.Max(0, mean-errors*err)
	}
	return out
}
