package priordynamics

import (
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// leastVariance is added to the variance of each standardised coordinate, so that coordinates which follow from others are allowed
// to differ from them by a little.
const leastVariance = 1e-2

// ellipsoid returns the bound of all coordinates together: as far from their mean as productSlack times the farthest of the training data,
// by the distance of Mahalanobis. nil where they have no covariance.
func ellipsoid(m *priordynamics.Model, data iter.Seq[step]) (e priordynamics.Ellipsoid) {
	n := len(m.Bound)
	v, count := make([]float64, n), 0.0
	covariance := blas64.Symmetric{N: n, Stride: n, Data: make([]float64, n*n), Uplo: blas.Lower}
	for s := range data {
		m.Bounded(v, nil, s.x, s.u)
		blas64.Syr(1, blas64.Vector{N: n, Data: v, Inc: 1}, covariance)
		count++
	}
	for i := range covariance.Data {
		covariance.Data[i] /= count
	}
	for i := range n {
		covariance.Data[i*n+i] += leastVariance
	}
	root, ok := lapack64.Potrf(covariance)
	if !ok || count == 0 || !lapack64.Trtri(root) {
		return nil
	}
	for i := range n {
		e = append(e, root.Data[i*n:i*n+i+1]...)
	}
	farthest := 0.0
	for s := range data {
		m.Bounded(v, nil, s.x, s.u)
		farthest = math.Max(farthest, e.Square(v))
	}
	unit := productSlack * math.Sqrt(farthest)
	if !(unit > 0) || slices.ContainsFunc(e, math.IsNaN) {
		return nil
	}
	for i := range e {
		e[i] /= unit
	}
	return e
}
