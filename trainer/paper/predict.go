package paper

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/feature"
)

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
