package paper

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/matmul"
)

// Virtual says at which starts and times a smoother learns what a flow says.
type Virtual struct {
	Starts int // beside those of the data, drawn from the box of these
	Times  int // a start, equidistant
}

var errFlow = errors.New("the refined dynamics cannot be integrated over the horizon")

// distil trains a smoother on the mean solution of the flows, so that predictions
// need no integration, and gives it the flows' posterior: that of each and, as one
// more column each, how far it is from the mean. With features Φ of a channel at
// the virtual points, the covariance there U Uᵀ, and the misfit σ² of the smoother:
//
//	A = ΦᵀΦ/σ² + I      B = A⁻¹ ΦᵀU/σ²      Cov w = B Bᵀ + A⁻¹ = MᵀM      var = ‖M φ‖²
//
// which has the form and the cost of the smoother's own posterior. To this a
// constant is added for each channel: how far the smoother is from its teachers at
// points that it has not seen.
func distil(ctx context.Context, flows []*Flow, d *Data, set Settings, v Virtual, seed uint64) (*Fit, error) {
	rng := rand.New(rand.NewPCG(seed, 0x64697374696c))
	low, high := d.Starts()
	var starts [][]float64
	for j := range d.Trajectories {
		starts = append(starts, d.Trajectories[j].X0)
	}
	if len(starts) > 1 {
		for range v.Starts {
			x := make([]float64, d.K)
			for k := range x {
				x[k] = low[k] + (high[k]-low[k])*rng.Float64()
			}
			starts = append(starts, x)
		}
	}
	times := make([]float64, v.Times)
	for i := range times {
		times[i] = d.End() * float64(i) / float64(v.Times-1)
	}
	virtual, ok := solutions(flows, starts, times)
	if !ok {
		return nil, errFlow
	}
	fit, err := Train(ctx, virtual, set, seed)
	if err != nil {
		return nil, err
	}
	if err := fit.take(flows, virtual); err != nil {
		return nil, err
	}
	// Points that it has not seen: between the times and, of many, other starts.
	fresh := starts[:1]
	if len(starts) > 1 {
		fresh = nil
		for range freshStarts {
			x := make([]float64, d.K)
			for k := range x {
				x[k] = low[k] + (high[k]-low[k])*rng.Float64()
			}
			fresh = append(fresh, x)
		}
	}
	between := make([]float64, len(times)-1)
	for i := range between {
		between[i] = (times[i] + times[i+1]) / 2
	}
	unseen, ok := solutions(flows, fresh, between)
	if !ok {
		return nil, errFlow
	}
	fit.allow(unseen)
	return fit, nil
}

// freshStarts is the number of starts by which the misfit of a smoother is judged.
const freshStarts = 40

// solutions returns the mean solution of the flows from starts at times.
func solutions(flows []*Flow, starts [][]float64, times []float64) (d *Data, ok bool) {
	K := flows[0].Dim()
	d = &Data{K: K, Trajectories: make([]Trajectory, len(starts))}
	failed := make([]bool, len(starts))
	cores.Each(len(starts), func(i int) {
		y, one := make([]float64, len(times)*K), make([]float64, len(times)*K)
		for _, f := range flows {
			failed[i] = failed[i] || !f.solve(one, starts[i], times)
			for j, x := range one {
				y[j] += x / float64(len(flows))
			}
		}
		d.Trajectories[i] = Trajectory{X0: starts[i], T: times, Y: y}
	})
	return d, !slices.Contains(failed, true)
}

// allow adds to all variances of a channel the mean square by which the smoother
// is wrong about points that it has not seen.
func (f *Fit) allow(unseen *Data) {
	K, n := unseen.K, float64(unseen.Rows())
	f.post.misfit = make([]float64, K)
	misfit := make([]float64, K)
	for j := range unseen.Trajectories {
		tr := &unseen.Trajectories[j]
		mean := make([]float64, len(tr.Y))
		f.Predict(mean, make([]float64, len(tr.Y)), tr.X0, tr.T)
		for i, y := range tr.Y {
			misfit[i%K] += (y - mean[i]) * (y - mean[i]) / n
		}
	}
	f.post.misfit = misfit
}

// take replaces the variances by those of the flows.
func (f *Fit) take(flows []*Flow, virtual *Data) error {
	m, in := &f.Params.Map, f.Inputs
	K, F, E := m.K, m.F, len(flows)
	P := len(flows[0].Theta)
	cols := E * (P + 1)
	n := len(virtual.Trajectories[0].T)
	A, q, prec := make([][]float64, K), make([][]float64, K), make([]float64, K)
	work, phis, us := make([]matmul.Work, K), make([]*feature.Phi, K), make([][]float64, K)
	for k := range K {
		A[k], q[k] = make([]float64, F*F), make([]float64, F*cols)
		for j := range F {
			A[k][j*F+j] = 1
		}
		phis[k], us[k] = feature.NewPhi(m, n), make([]float64, n*cols)
		prec[k] = math.Exp(-2 * f.Params.LogSigma[k*noiseKnots])
	}
	rows := feature.NewRows(n, in, feature.Basis{})
	rows.N = n
	eval := feature.NewEval(m, n)
	start := make([]float64, K)
	spreads, means, fine := make([][]float64, E), make([][]float64, E), make([]bool, E)
	for e := range means {
		means[e] = make([]float64, n*K)
	}
	share := 1 / math.Sqrt(float64(E))
	for j := range virtual.Trajectories {
		tr := &virtual.Trajectories[j]
		cores.Each(E, func(e int) { spreads[e], fine[e] = flows[e].spread(means[e], tr.X0, tr.T) })
		if slices.Contains(fine, false) {
			return errFlow
		}
		in.Lift.Apply(start, tr.X0)
		for i, t := range tr.T {
			f.row(rows, i, t, start)
		}
		m.Forward(eval, rows, false)
		cores.Each(K, func(k int) {
			m.Random(phis[k], eval, k)
			scale := share / in.Lift.Std[k]
			for i := range n {
				for e := range E {
					dst := us[k][i*cols+e*(P+1):]
					for p, v := range spreads[e][(i*K+k)*P : (i*K+k+1)*P] {
						dst[p] = scale * v
					}
					dst[P] = scale * (means[e][i*K+k] - tr.Y[i*K+k])
				}
			}
			phi := general(n, F, phis[k].Phi[:n*F])
			work[k].MulLower(general(F, F, A[k]), prec[k], true, phi, false, phi, 1)
			work[k].Mul(general(F, cols, q[k]), prec[k], true, phi, false, general(n, cols, us[k]), 1)
		})
	}
	f.post.factors = make([][]float64, K)
	cores.Each(K, func(k int) { f.post.factors[k] = covarianceFactor(&work[k], A[k], q[k], F, cols) })
	for _, m := range f.post.factors {
		if m == nil {
			return errors.New("the covariance of the weights cannot be factorised")
		}
	}
	return nil
}

// covarianceFactor returns the lower triangular M (F×F) with
// MᵀM = A⁻¹q qᵀA⁻¹ + A⁻¹; nil where it cannot.
func covarianceFactor(w *matmul.Work, A, q []float64, F, P int) []float64 {
	inv := make([]float64, F*F)
	if !w.Cholesky(general(F, F, A), general(F, F, inv)) {
		return nil
	}
	cov := make([]float64, F*F)
	w.Mul(general(F, F, cov), 1, true, general(F, F, inv), false, general(F, F, inv), 0)
	b := make([]float64, F*P)
	w.Mul(general(F, P, b), 1, false, general(F, F, cov), false, general(F, P, q), 0)
	w.Mul(general(F, F, cov), 1, false, general(F, P, b), true, general(F, P, b), 1)
	// With the order of the features reversed, R Rᵀ = cov for lower R is M = reversed Rᵀ.
	rev := make([]float64, F*F)
	for i := range F {
		for j := range F {
			rev[i*F+j] = cov[(F-1-i)*F+F-1-j]
		}
	}
	if _, ok := lapack64.Potrf(blas64.Symmetric{N: F, Stride: F, Data: rev, Uplo: blas.Lower}); !ok {
		return nil
	}
	for i := range F {
		for j := range F {
			m := 0.0
			if j <= i {
				m = rev[(F-1-j)*F+F-1-i]
			}
			cov[i*F+j] = m
		}
	}
	return cov
}

func general(r, c int, d []float64) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: c, Data: d}
}
