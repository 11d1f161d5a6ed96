package paper

import (
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// Smoother predicts in the paper's closed form, for every channel k
//
//	mean_k = μ_k + φ(z_k)·w_k      var_k = ‖M_k φ(z_k)‖²
//
// with μ and z of one core on (t, x0): what a posterior of the weights predicts, of
// mean w and covariance MᵀM.
type Smoother struct {
	Inputs *feature.Inputs
	Map    feature.Map
	W      [][]float64 // K×F
	M      [][]float64 // K, each F×F lower triangular
	Lost   int         // starts of its lessons that were left out, for what teaches it runs off from there
}

// newSmoother takes core and means from a net whose outputs are the means of the
// channels, standardised, and the logarithms of how uncertain they are. These are
// the first of the smoother's features z; the others are drawn from the core.
func newSmoother(net *mlp.Net, in *feature.Inputs, d, f int, src mlp.Normal) *Smoother {
	last := len(net.Layers) - 1
	out := &net.Layers[last]
	K := out.Out / 2
	var core []int
	var acts []mlp.Activation
	for i := range net.Layers[:last] {
		core, acts = append(core, net.Layers[i].Out), append(acts, net.Layers[i].Act)
	}
	s := &Smoother{Inputs: in, Map: feature.NewMap(in.Dim(), K, d, f, core, acts, feature.Basis{}, false)}
	s.Map.DrawOmega(src)
	for i := range s.Map.Core.Layers {
		copy(s.Map.Core.Layers[i].W, net.Layers[i].W)
		copy(s.Map.Core.Layers[i].B, net.Layers[i].B)
	}
	head := &s.Map.Head.Layers[0]
	for k := range K {
		z := K + k*d
		head.B[k], head.B[z] = out.B[k], 0 // the place of z is of no matter
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

// fold lets the core read starts as Inputs gives them where it has learned to read
// them scaled to a box.
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
	m, in := &s.Map, s.Inputs
	K, n := m.K, len(times)
	start := make([]float64, K)
	in.Lift.Apply(start, x0)
	I := in.Dim()
	x := make([]float64, n*I)
	for i, t := range times {
		in.Row(x[i*I:(i+1)*I], nil, t, start, nil, nil)
	}
	s.channels(x, n, func(k int, mu, phi []float64) {
		v := make([]float64, n)
		factorVariance(v, s.M[k], phi, n)
		std := in.Lift.Std[k]
		for i := range n {
			mean[i*K+k] = in.Lift.Mean[k] + std*(mu[i]+dot(s.W[k], phi[i*m.F:]))
			variance[i*K+k] = std * std * v[i]
		}
	})
}

// channels evaluates the map at n rows of inputs and calls use with μ (n) and φ
// (n×F) of each channel in turn, which are overwritten by the next.
func (s *Smoother) channels(x []float64, n int, use func(k int, mu, phi []float64)) {
	m, in := &s.Map, s.Inputs
	rows := feature.NewRows(n, in, feature.Basis{})
	rows.N = n
	copy(rows.S, x)
	for i := range n {
		rows.Fill(i, in, false, feature.Basis{}, 0)
	}
	eval, phi := feature.NewEval(m, n), feature.NewPhi(m, n)
	m.Forward(eval, rows, false)
	mu := make([]float64, n)
	for k := range m.K {
		m.RandomFeatures(phi, eval, k)
		for i := range mu {
			mu[i], _ = m.Mu(eval, i, k)
		}
		use(k, mu, phi.Phi[:n*m.F])
	}
}
