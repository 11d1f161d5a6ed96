package calibration

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// outcome is what the first of two predictions left of a measurement, and what the
// second would have added.
type outcome struct {
	at       int // which horizon
	residual float64
	addition float64
}

// weightRidge pulls a weight towards 0, relative to the data's own weight.
const weightRidge = 0.02

// weight returns, at Q knots, the weight w of the addition (0…1) that leaves the least of
// what was measured,
//
//	residual ≈ w(τ) addition      w linear in √τ between the knots
//
// by least squares, every one of the horizons weighing the same; hats (T×Q) are the
// weights of the knots at the horizons. (Robust weights were worse: where a robot rests
// half of the time, they take all motion for outliers.)
func weight(outcomes []outcome, hats [][]float64) []float64 {
	Q, scale := len(hats[0]), scales(outcomes, len(hats))
	gram, rhs := make([]float64, Q*Q), make([]float64, Q)
	for _, o := range outcomes {
		weight, hat := 1/scale[o.at], hats[o.at]
		for i, hi := range hat {
			if hi == 0 {
				continue
			}
			rhs[i] += weight * hi * o.addition * o.residual
			for j, hj := range hat[:i+1] {
				gram[i*Q+j] += weight * hi * hj * o.addition * o.addition
			}
		}
	}
	trace := 0.0
	for i := range Q {
		trace += gram[i*Q+i] / float64(Q)
	}
	for i := range Q {
		gram[i*Q+i] += weightRidge*(trace+gram[i*Q+i]) + 1e-300
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
func scales(outcomes []outcome, horizons int) []float64 {
	a, b := make([]float64, horizons), make([]float64, horizons)
	for _, o := range outcomes {
		a[o.at] += o.residual * o.residual
		b[o.at] += (o.residual - o.addition) * (o.residual - o.addition)
	}
	for i := range a {
		a[i] = math.Min(a[i], b[i]) + 1e-300
	}
	return a
}

// agreed returns the mean over folds of their weights less its standard error, at least
// 0: where folds disagree, the addition counts less.
func agreed(folds [][]float64) []float64 {
	out, column := make([]float64, len(folds[0])), make([]float64, len(folds))
	for j := range out {
		for f, w := range folds {
			column[f] = w[j]
		}
		mean, standardError := Mean(column)
		out[j] = math.Max(0, mean-standardError)
	}
	return out
}
