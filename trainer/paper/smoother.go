package paper

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// Smoother predicts in the paper's closed form, for every channel k
//
//	mean_k = μ_k + φ(z_k)·w_k      var_k = ‖M_k φ(z_k)‖²
//
// with μ and z of one core on (t, x0): the prediction of a posterior of the weights, of
// mean w and covariance MᵀM.
type Smoother struct {
	Inputs *feature.Inputs
	Map    feature.Map
	W      [][]float64 // K×F
	M      [][]float64 // K, each F×F lower triangular
	Lost   int         // starts of its distillation set that were left out, for the teacher diverges from there
}

// newSmoother takes core and means from a net whose outputs are the means of the
// channels, standardised, and the logarithms of their standard deviations. These are the
// first of the smoother's features z; the others are drawn from the core. The smoother
// keeps the net's memory.
func newSmoother(net *mlp.Net, in *feature.Inputs, set *Distillation, src mlp.Normal) *Smoother {
	last := len(net.Layers) - 1
	out := &net.Layers[last]
	K, d := out.Out/2, set.D
	acts := slices.Repeat([]mlp.Activation{set.Act}, last)
	s := &Smoother{
		Inputs: in, Map: feature.NewMap(in.Dim(), K, d, set.F, set.Core, acts, feature.Basis{}, false),
		W: make([][]float64, K), M: make([][]float64, K),
	}
	s.Map.DrawOmega(src)
	copy(s.Map.Core.Layers, net.Layers)
	head := &s.Map.Head.Layers[0]
	for k := range K {
		z := K + k*d
		head.B[k], head.B[z] = out.B[k], 0 // a shift of z has no effect
		for h := range out.In {
			head.W[h*head.Out+k] = out.W[h*out.Out+k]
			head.W[h*head.Out+z] = out.W[h*out.Out+K+k]
			for j := 1; j < d; j++ {
				head.W[h*head.Out+z+j] = src.NormFloat64() / float64(out.In)
			}
		}
	}
	return s
}

// fold changes the first layer of the core, which was trained on starts scaled to a box,
// so that it reads them as Inputs gives them.
func (s *Smoother) fold(b *box) {
	l := &s.Map.Core.Layers[0]
	for k, rate := range b.rate {
		for o := range l.Out {
			w := &l.W[(1+k)*l.Out+o]
			*w *= rate
			l.B[o] -= b.center[k] * *w
		}
	}
}

// Predict writes mean and variance of the state at times after the start x0
// (both len(times)×K row-major, raw units).
func (s *Smoother) Predict(mean, variance, x0, times []float64) {
	predict(mean, variance, &s.Map, s.Inputs, x0, times, func(k int, phi, mean, variance []float64) {
		factorVariance(variance, s.M[k], phi)
		for i := range mean {
			mean[i] = dot(s.W[k], phi[i*s.Map.F:])
		}
	})
}

// factorVariance sets v to ‖M φ‖², M lower triangular, for len(v) rows of features.
func factorVariance(v, m, phi []float64) {
	F := len(phi) / len(v)
	for i := range v {
		p := phi[i*F : (i+1)*F]
		v[i] = 0
		for j := range F {
			s := dot(m[j*F:j*F+j+1], p)
			v[i] += s * s
		}
	}
}

// channels is that of the smoother's map at n rows of inputs x.
func (s *Smoother) channels(x []float64, n int, use func(k int, mu, phi []float64)) {
	rows := feature.NewRows(n, s.Inputs, feature.Basis{})
	rows.N = n
	copy(rows.S, x)
	for i := range n {
		rows.Fill(i, s.Inputs, false, feature.Basis{}, 0)
	}
	channels(&s.Map, rows, use)
}
