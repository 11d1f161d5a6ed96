package paper

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/trainer/posterior"
)

// ExactPosterior predicts with a fit that was trained with the exact kernel.
type ExactPosterior struct {
	f       *Fit
	obs     *feature.Eval
	kernels []*posterior.Exact // of each channel, conditioned
	prec    [][]float64
}

// Exact conditions the exact kernel of a fit on its data.
func (f *Fit) Exact() (*ExactPosterior, error) {
	m, rows := &f.Params.Map, f.batch.Obs
	e := &ExactPosterior{f: f, obs: feature.NewEval(m, rows.N)}
	m.Forward(e.obs, rows, true)
	mu := make([]float64, rows.N)
	for k := range m.K {
		for i := range mu {
			mu[i], _ = m.Mu(e.obs, i, k)
		}
		r, prec := f.residuals(mu, k)
		kernel := posterior.NewExact(rows.N, 0)
		if _, ok := kernel.Condition(m, e.obs, k, r, prec); !ok {
			return nil, errors.New("the kernel matrix cannot be factorised")
		}
		e.kernels, e.prec = append(e.kernels, kernel), append(e.prec, prec)
	}
	return e, nil
}

// Predict writes mean and standard deviation of the state at times after the start x0
// (both len(times)×K row-major, raw units).
func (e *ExactPosterior) Predict(mean, std, x0, times []float64) {
	m, in := &e.f.Params.Map, e.f.Inputs
	N := e.obs.Rows.N
	eval := feature.NewEval(m, len(times))
	m.Forward(eval, rowsAt(in, x0, times), true)
	cross := make([]float64, N)
	c := blas64.Vector{N: N, Inc: 1, Data: cross}
	for k := range m.K {
		kernel := e.kernels[k]
		L := blas64.Triangular{N: N, Stride: N, Data: kernel.Factor()[:N*N], Uplo: blas.Lower, Diag: blas.NonUnit}
		for i := range times {
			p := m.Exact(eval, i, k)
			mu, _ := m.Mu(eval, i, k)
			for j := range N {
				cross[j] = 0
				if e.prec[k][j] > 0 {
					o := m.Exact(e.obs, j, k)
					cross[j], _ = m.Covariance(k, &p, &o)
				}
			}
			mu += blas64.Dot(c, blas64.Vector{N: N, Inc: 1, Data: kernel.Alpha()})
			v, _ := m.PriorVariance(k, &p)
			blas64.Trsv(blas.NoTrans, L, c)
			v -= blas64.Dot(c, c)
			mean[i*m.K+k] = in.Lift.Mean[k] + in.Lift.Std[k]*mu
			std[i*m.K+k] = in.Lift.Std[k] * math.Sqrt(v)
		}
	}
}
