package ood

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/ood"
)

// ridge is added to the correlation matrix before it is inverted: a direction in
// which states hardly spread must not dominate the distance.
const ridge = 0.005

// Fit describes n lifted, standardised states x (n×L) by at most m reference
// points. The two coordinates of an angle share one scale: the cosine of an angle
// that stays small hardly varies, and its noise must not be blown up to look like
// news. ok is false if the states have no finite covariance.
//
// The points are picked one by one, each the state farthest from those picked so
// far (the greedy solution of the k-centre problem, Gonzalez 1985): no training
// state is then farther from its nearest reference point than any other way of
// picking could halve.
func Fit(lift *channel.Lift, x []float64, m int) (r ood.Detector, ok bool) {
	L := lift.Dim()
	if L == 0 || len(x) < 2*L {
		return ood.Detector{}, false
	}
	n := len(x) / L
	r.Mean = make([]float64, L)
	for i := range n {
		for j := range L {
			r.Mean[j] += x[i*L+j] / float64(n)
		}
	}
	cov := make([]float64, L*L)
	for i := range n {
		row := x[i*L : (i+1)*L]
		for a := range L {
			for b := range a + 1 {
				cov[a*L+b] += (row[a] - r.Mean[a]) * (row[b] - r.Mean[b]) / float64(n)
			}
		}
	}
	w := weights(lift, cov)
	for a := range L {
		for b := range a + 1 {
			cov[a*L+b] *= w[a] * w[b]
		}
		cov[a*L+a] += ridge
	}
	if _, ok := lapack64.Potrf(blas64.Symmetric{N: L, Stride: L, Data: cov, Uplo: blas.Lower}); !ok {
		return ood.Detector{}, false
	}
	if !lapack64.Trtri(blas64.Triangular{N: L, Stride: L, Data: cov, Uplo: blas.Lower, Diag: blas.NonUnit}) {
		return ood.Detector{}, false
	}
	for a := range L {
		for b := range a + 1 {
			r.Inverse = append(r.Inverse, cov[a*L+b]*w[b])
		}
	}
	white := make([]float64, len(x))
	for i := range n {
		r.Whiten(white[i*L:(i+1)*L], x[i*L:(i+1)*L])
	}
	r.Points = centres(white, L, m)
	return r, true
}

// weights returns what the coordinates are multiplied by before they are
// whitened: one over the common standard deviation of all coordinates of a
// channel, of which cov (L×L, standardised) holds the variances on its diagonal.
func weights(lift *channel.Lift, cov []float64) []float64 {
	L := lift.Dim()
	raw := make(map[int]float64) // variance of a channel's coordinates, in their own units
	for l, k := range lift.Of {
		raw[k] += cov[l*L+l] * lift.Std[l] * lift.Std[l]
	}
	w := make([]float64, L)
	for l, k := range lift.Of {
		if s := math.Sqrt(raw[k]); s > 0 {
			w[l] = lift.Std[l] / s
		}
	}
	return w
}

// centres picks at most m of the points x (n×L), each the farthest from those
// before it, beginning with the first.
func centres(x []float64, L, m int) [][]float64 {
	n := len(x) / L
	left := make([]float64, n)
	for i := range left {
		left[i] = math.Inf(1)
	}
	var out [][]float64
	for at := 0; len(out) < min(m, n); {
		c := x[at*L : (at+1)*L]
		out = append(out, c)
		far := -1.0
		for i := range n {
			sum := 0.0
			for j, v := range c {
				d := x[i*L+j] - v
				sum += d * d
			}
			left[i] = math.Min(left[i], sum)
			if left[i] > far {
				far, at = left[i], i
			}
		}
		if far <= 0 {
			break // all others lie on a point that was picked
		}
	}
	return out
}
