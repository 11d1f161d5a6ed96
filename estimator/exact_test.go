package estimator_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/modeltest"
)

// With the kernel's nonlinear part switched off the exact kernel is that of the
// linear basis, and conditioning in the space of its weights must say the same:
//
//	A = I + ΦᵀΦ/σ²      w = A⁻¹Φᵀr/σ²
func TestExactKernelIsTheWeightSpaceOfItsBasis(t *testing.T) {
	const N, sigma2 = 25, 0.09
	rng := rand.New(rand.NewPCG(40, 1))
	kernel := modeltest.New(modeltest.Shape{K: 2, P: 1, Exact: N, Basis: 1}, rng)
	weights := modeltest.New(modeltest.Shape{K: 2, P: 1, Basis: 1}, rng)
	weights.Inputs, weights.Scale, weights.Sensor = kernel.Inputs, kernel.Scale, kernel.Sensor
	e, f := &kernel.Members[0], &weights.Members[0]
	e.Map.LogAmp = []float64{-60, 0.3, -60, -0.2}
	f.Map.Core, f.Map.Head, f.Map.LogAmp, f.Map.D = e.Map.Core, e.Map.Head, e.Map.LogAmp, e.Map.D
	f.Posterior[0].LogSigma = e.Posterior[0].LogSigma
	Q := e.Map.Features()
	for k := range 2 {
		r := normal(rng, N)
		data := e.Posterior[0].Exact
		phi := make([]float64, N*Q)
		for i := range N {
			for q := range Q {
				phi[i*Q+q] = data.Gate[i] * amplitude[k] * data.B[i*Q+q]
			}
		}
		// K = ΦΦᵀ + σ²I and A = I + ΦᵀΦ/σ²
		M, A, b := make([]float64, N*N), make([]float64, Q*Q), make([]float64, Q)
		blas64.Syrk(blas.NoTrans, 1, dense(N, Q, phi), 0, lower(N, M))
		blas64.Syrk(blas.Trans, 1/sigma2, dense(N, Q, phi), 0, lower(Q, A))
		blas64.Gemv(blas.Trans, 1/sigma2, dense(N, Q, phi), vec(r), 0, vec(b))
		condition(&e.Posterior[0], k, M, sigma2, r)
		condition(&f.Posterior[0], k, A, 1, b)
	}
	q := query(rng, kernel, 3)
	a, b := predict(t, kernel, grid(6), q), predict(t, weights, grid(6), q)
	for j := range a.Mean {
		near(t, "mean", a.Mean[j], b.Mean[j], 1e-11)
		near(t, "std", a.Std[j], b.Std[j], 1e-9)
		near(t, "derivative", a.DMean[j], b.DMean[j], 1e-10)
		near(t, "its std", a.DStd[j], b.DStd[j], 1e-8)
	}
}

// e^a2 of the two channels above.
var amplitude = [2]float64{1.3498588075760032, 0.8187307530779818}

func dense(r, c int, d []float64) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: c, Data: d}
}

func lower(n int, d []float64) blas64.Symmetric {
	return blas64.Symmetric{N: n, Stride: n, Data: d, Uplo: blas.Lower}
}

func vec(d []float64) blas64.Vector { return blas64.Vector{N: len(d), Inc: 1, Data: d} }

// condition puts (a + diagonal·I)⁻¹q and the inverse factor into the posterior.
func condition(p *model.Posterior, k int, a []float64, diagonal float64, q []float64) {
	n := len(q)
	for i := range n {
		a[i*n+i] += diagonal
	}
	L, ok := lapack64.Potrf(lower(n, a))
	if !ok {
		panic("not positive definite")
	}
	L.Uplo, L.Diag = blas.Lower, blas.NonUnit
	p.Weights[k] = append([]float64(nil), q...)
	blas64.Trsv(blas.NoTrans, L, vec(p.Weights[k]))
	blas64.Trsv(blas.Trans, L, vec(p.Weights[k]))
	lapack64.Trtri(L)
	p.InverseFactor[k] = nil
	for i := range n {
		p.InverseFactor[k] = append(p.InverseFactor[k], a[i*n:i*n+i+1]...)
	}
}
