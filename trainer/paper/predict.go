package paper

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/trainer/posterior"
)

// posteriors are the conditioned posteriors of all channels of a fit with random
// features.
type posteriors struct {
	sums []*posterior.Sum
}

// rowsAtOnce is how many rows are conditioned or predicted at a time.
const rowsAtOnce = 256

// condition returns the posterior given all rows of the batch; nil where it
// cannot be computed.
func (f *Fit) condition() *posteriors {
	p, b := f.Params, f.batch
	K, N := p.Map.K, b.Obs.N
	eval := feature.NewEval(&p.Map, N)
	p.Map.Forward(eval, b.Obs, false)
	out := &posteriors{}
	phi := feature.NewPhi(&p.Map, N)
	for k := range K {
		p.Map.RandomFeatures(phi, eval, k)
		r, prec := f.residuals(eval, k)
		s := posterior.NewSum(p.Map.Features(), max(N, rowsAtOnce))
		s.Reset()
		s.Add(phi.Phi, N, r, prec)
		if !s.Solve() {
			return nil
		}
		out.sums = append(out.sums, s)
	}
	return out
}

// residuals returns what the prior mean leaves of the observations of channel k, and
// their precisions; 0 where nothing was measured.
func (f *Fit) residuals(eval *feature.Eval, k int) (r, prec []float64) {
	p, b := f.Params, f.batch
	K, N := p.Map.K, b.Obs.N
	r, prec = make([]float64, N), make([]float64, N)
	for i := range N {
		y := b.Y[i*K+k]
		if math.IsNaN(y) {
			continue
		}
		mu, _ := p.Map.Mu(eval, i, k)
		r[i] = y - mu
		ls := 0.0
		for q := range noiseKnots {
			ls += b.Noise[i*noiseKnots+q] * p.LogSigma[k*noiseKnots+q]
		}
		prec[i] = math.Exp(-2 * ls)
	}
	return r, prec
}

// Predict writes mean and variance of the state at times after the start x0
// (both len(times)×K row-major, raw units). It is not safe for concurrent use.
func (f *Fit) Predict(mean, variance, x0, times []float64) {
	m, in := &f.Params.Map, f.Inputs
	K, n := m.K, len(times)
	start := make([]float64, K)
	in.Lift.Apply(start, x0)
	rows := feature.NewRows(n, in, feature.Basis{})
	rows.N = n
	for i, t := range times {
		f.row(rows, i, t, start)
	}
	eval, phi := feature.NewEval(m, n), feature.NewPhi(m, n)
	m.Forward(eval, rows, false)
	mk, vk := make([]float64, n), make([]float64, n)
	for k := range K {
		m.RandomFeatures(phi, eval, k)
		f.post.sums[k].At(phi.Phi, n, mk, vk)
		s := in.Lift.Std[k]
		for i := range n {
			mu, _ := m.Mu(eval, i, k)
			mean[i*K+k] = in.Lift.Mean[k] + s*(mu+mk[i])
			variance[i*K+k] = s * s * vk[i]
		}
	}
}

// Sigma returns the learned noise of every channel, raw units (K).
func (f *Fit) Sigma() []float64 {
	out := make([]float64, f.Params.Map.K)
	for k := range out {
		out[k] = f.Inputs.Lift.Std[k] * math.Exp(f.Params.LogSigma[k*noiseKnots])
	}
	return out
}

// factorVariance sets v to ‖M φ‖², M lower triangular, for n rows of features.
func factorVariance(v, m, phi []float64, n int) {
	F := len(phi) / n
	for i := range n {
		p := phi[i*F : (i+1)*F]
		v[i] = 0
		for j := range F {
			s := 0.0
			for c, a := range m[j*F : j*F+j+1] {
				s += a * p[c]
			}
			v[i] += s * s
		}
	}
}
