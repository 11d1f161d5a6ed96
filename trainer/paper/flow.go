package paper

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/mlp"
	"github.com/dgm-robotics/dgm/trainer/matmul"
)

// Flow is a vector field, the mean of a fit's dynamics refined by shooting, with
// the Laplace approximation of its posterior.
type Flow struct {
	Inputs   *feature.Inputs
	Known    *Known    // (optional) a field that Net is added to; its parameters come first in Theta
	Net      mlp.Net   // K → K; without layers beside a known field that nothing is added to
	Theta    []float64 // P, of which Net is a view
	Alpha    []float64 // precision of the prior, a group of parameters
	Sigma    []float64 // K, noise, standardised
	Free     float64   // effective number of parameters
	Cost     float64   // ½ Σ e²/σ² + ½ Σ α θ²
	Evidence float64   // −log evidence, up to a constant
	Inv      []float64 // P×P, inverse factor L⁻¹ of the posterior's precision
}

// NewFlow takes the mean of the fit's dynamics.
func (f *Fit) NewFlow() *Flow {
	K := f.Params.Map.K
	src := &f.Params.Dynamics
	widths := []int{K}
	var acts []mlp.Activation
	for i := range src.Layers {
		widths = append(widths, src.Layers[i].Out)
		acts = append(acts, src.Layers[i].Act)
	}
	widths[len(widths)-1] = K
	fl := &Flow{Inputs: f.Inputs, Net: mlp.New(widths, acts)}
	for i := range src.Layers {
		a, b := &src.Layers[i], &fl.Net.Layers[i]
		for r := range a.In {
			copy(b.W[r*b.Out:(r+1)*b.Out], a.W[r*a.Out:])
		}
		copy(b.B, a.B)
	}
	fl.Theta = make([]float64, fl.Net.Params())
	fl.Net.Bind(fl.Theta)
	_, n := groups(&fl.Net)
	for range n {
		fl.Alpha = append(fl.Alpha, math.Max(f.Settings.Decay, 1e-3))
	}
	for k := range K {
		fl.Sigma = append(fl.Sigma, math.Exp(f.Params.LogSigma[k*noiseKnots]))
	}
	return fl
}

// Copy returns a flow of its own memory.
func (f *Flow) Copy() *Flow {
	c := *f
	c.Net.Layers = append([]mlp.Layer(nil), f.Net.Layers...)
	c.Theta = make([]float64, len(f.Theta))
	copy(c.Theta, f.Theta)
	c.Net.Bind(c.Theta[f.known():])
	c.Alpha = append([]float64(nil), f.Alpha...)
	c.Sigma = append([]float64(nil), f.Sigma...)
	c.Inv = nil
	return &c
}

// Predict writes mean and variance of the state at times (rising) after x0
// (len(times)×K, raw units). ok is false where the flow cannot be integrated.
func (f *Flow) Predict(mean, variance, x0, times []float64) (ok bool) {
	K, P := f.Dim(), len(f.Theta)
	U, ok := f.spread(mean, x0, times)
	if !ok {
		return false
	}
	for i := range len(times) * K {
		row := blas64.Vector{N: P, Inc: 1, Data: U[i*P : (i+1)*P]}
		variance[i] = blas64.Dot(row, row)
	}
	return true
}

// solve writes the mean as Predict does.
func (f *Flow) solve(mean, x0, times []float64) (ok bool) {
	return f.walk(f.tangent(false), mean, x0, times, func(int) {})
}

// spread writes the mean as Predict does, and returns U (len(times)·K×P, raw
// units) such that the covariance of all these states is U Uᵀ.
func (f *Flow) spread(mean, x0, times []float64) (U []float64, ok bool) {
	K, P := f.Dim(), len(f.Theta)
	t := f.tangent(true)
	all := make([]float64, len(times)*K*P)
	if !f.walk(t, mean, x0, times, func(i int) {
		for k := range K {
			dst := all[(i*K+k)*P : (i*K+k+1)*P]
			for p, v := range t.S[k*P : (k+1)*P] {
				dst[p] = f.Inputs.Lift.Std[k] * v
			}
		}
	}) {
		return nil, false
	}
	R := len(times) * K
	U = make([]float64, R*P)
	var w matmul.Work
	w.Mul(blas64.General{Rows: R, Cols: P, Stride: P, Data: U}, 1, false, blas64.General{Rows: R, Cols: P, Stride: P, Data: all}, true, blas64.General{Rows: P, Cols: P, Stride: P, Data: f.Inv}, 0)
	return U, true
}

// walk integrates t from x0 through the times (rising), writes the states to mean
// and calls at when each is reached.
func (f *Flow) walk(t *tangent, mean, x0, times []float64, at func(i int)) (ok bool) {
	K := f.Dim()
	z0 := make([]float64, K)
	f.Inputs.Lift.Apply(z0, x0)
	t.start(z0)
	now := f.Inputs.Standard(0)
	for i, when := range times {
		if to := f.Inputs.Standard(when); to > now {
			s := int(math.Ceil((to - now) / maxStep))
			if !t.advance((to-now)/float64(s), s) {
				return false
			}
			now = to
		}
		for k := range K {
			mean[i*K+k] = f.Inputs.Lift.Mean[k] + f.Inputs.Lift.Std[k]*t.z[k]
		}
		at(i)
	}
	return true
}
