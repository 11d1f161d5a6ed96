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

var errExact = errors.New("the kernel matrix cannot be factorised")

// Exact conditions the exact kernel of a fit on its data.
func (f *Fit) Exact() (*ExactPosterior, error) {
	p, b := f.Params, f.batch
	K, N := p.Map.K, b.Obs.N
	e := &ExactPosterior{f: f, obs: feature.NewEval(&p.Map, N)}
	p.Map.Forward(e.obs, b.Obs, true)
	for k := range K {
		r, prec := f.residuals(e.obs, k)
		kernel := posterior.NewExact(N, 0)
		if _, ok := kernel.Condition(&p.Map, e.obs, k, r, prec); !ok {
			return nil, errExact
		}
		e.kernels, e.prec = append(e.kernels, kernel), append(e.prec, prec)
	}
	return e, nil
}

// Predict writes mean and standard deviation of the state at times after the start x0
// (both len(times)×K row-major, raw units).
func (e *ExactPosterior) Predict(mean, std, x0, times []float64) {
	m, in := &e.f.Params.Map, e.f.Inputs
	K, n, N := m.K, len(times), e.obs.Rows.N
	start := make([]float64, K)
	in.Lift.Apply(start, x0)
	rows := feature.NewRows(n, in, feature.Basis{})
	rows.N = n
	for i, t := range times {
		e.f.row(rows, i, t, start)
	}
	eval := feature.NewEval(m, n)
	m.Forward(eval, rows, true)
	cross := make([]float64, N)
	for k := range K {
		kernel := e.kernels[k]
		L := blas64.Triangular{N: N, Stride: N, Data: kernel.Factor()[:N*N], Uplo: blas.Lower, Diag: blas.NonUnit}
		for i := range n {
			p := m.Exact(eval, i, k)
			mu, _ := m.Mu(eval, i, k)
			for j := range N {
				cross[j] = 0
				if e.prec[k][j] > 0 {
					o := m.Exact(e.obs, j, k)
					cross[j], _ = m.Covariance(k, &p, &o)
				}
			}
			c := blas64.Vector{N: N, Inc: 1, Data: cross}
			mu += blas64.Dot(c, blas64.Vector{N: N, Inc: 1, Data: kernel.Alpha()})
			v, _ := m.PriorVariance(k, &p)
			blas64.Trsv(blas.NoTrans, L, c)
			v -= blas64.Dot(c, c)
			mean[i*K+k] = in.Lift.Mean[k] + in.Lift.Std[k]*mu
			std[i*K+k] = in.Lift.Std[k] * math.Sqrt(v)
		}
	}
}
