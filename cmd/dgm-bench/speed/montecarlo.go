package speed

import (
	"math"
	"math/rand/v2"

	"github.com/tphakala/simd/f32"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/numeric/ode"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// samples is how many trajectories make a distribution.
const samples = 200

// monteCarlo predicts by sampling the learned dynamics, dx/dt = f + ε·sD with an ε
// for each trajectory. A difference equation beside the net is left out. Trajectories are
// integrated one after the other, each with the steps that it needs, as samples of the net's
// weights would have to be.
type monteCarlo struct {
	net     *net
	solver  *ode.Dopri5
	times   []float64
	eps     []float32 // samples×K
	x0      []float64 // K, over the scales
	one     []float64 // T×K, of one trajectory
	squares []float64 // T×K

	mean, std []float64 // T×K
}

func newMonteCarlo(m *model.Model, times []float64) *monteCarlo {
	n := len(times) * m.K
	v := func(n int) []float64 { return make([]float64, n) }
	c := &monteCarlo{
		net: newNet(m), solver: ode.NewDopri5(m.K, ode.Config{RTol: 1e-3, Dense: true}), times: times,
		x0: v(m.K), one: v(n), squares: v(n), mean: v(n), std: v(n),
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range samples * m.K {
		c.eps = append(c.eps, float32(rng.NormFloat64()))
	}
	return c
}

// predict sets mean and std; ok is false where a trajectory does not stay finite.
func (c *monteCarlo) predict(x0 []float64) (ok bool) {
	K, scale := c.net.m.K, c.net.m.Scale
	for k, v := range x0 {
		c.x0[k] = v / scale[k]
	}
	clear(c.mean)
	clear(c.squares)
	ok = true
	for i := range samples {
		eps := c.eps[i*K : (i+1)*K]
		ok = c.solver.Solve(c.one, func(dst []float64, _ float64, x []float64) { c.net.slope(dst, x, eps) }, c.x0, 0, c.times) && ok
		for j, v := range c.one {
			c.mean[j] += v / samples
			c.squares[j] += v * v / samples
		}
	}
	for j, m := range c.mean {
		c.std[j] = scale[j%K] * math.Sqrt(max(c.squares[j]-m*m, 0))
		c.mean[j] = scale[j%K] * m
	}
	return ok
}

// net is a dynamics net in the kernels of the fast predictor, of which it uses one lane of the vectors.
type net struct {
	m       *model.Model
	weights [][]float32 // by layer, panels
	biases  [][]float32
	in      []float32 // L+P rows
	x       [2][]float32
	one     []float32
	of      []int     // L: the state that a coordinate reads
	shift   []float32 // L: of its reading, standardised
	gain    []float32 // L: of a state over its scale
}

func newNet(m *model.Model) *net {
	layers := m.Dynamics.Net.Layers
	n := &net{m: m, in: make([]float32, layers[0].In*simd.Width), one: make([]float32, simd.Width)}
	for i := range n.one {
		n.one[i] = 1
	}
	most := 0
	for i := range layers {
		l := &layers[i]
		panels := simd.Panels(l.Out)
		w, b := make([]float32, panels*simd.Rows*l.In), make([]float32, panels*simd.Rows)
		simd.Pack(w, l.Out, l.In, func(r, c int) float64 { return l.W[c*l.Out+r] })
		simd.Pack(b, l.Out, 1, func(r, _ int) float64 { return l.B[r] })
		n.weights, n.biases = append(n.weights, w), append(n.biases, b)
		most = max(most, panels*simd.Rows*simd.Width)
	}
	n.x = [2][]float32{make([]float32, most), make([]float32, most)}
	lift := &m.Inputs.Lift
	for l, k := range lift.Of {
		n.of = append(n.of, k)
		n.shift = append(n.shift, float32(-lift.Mean[l]/lift.Std[l]))
		n.gain = append(n.gain, float32(m.Scale[k]/lift.Std[l]))
	}
	return n
}

// forward evaluates layers up to n at the states in in; the result is valid until
// the next.
func (n *net) forward(layers int) []float32 {
	x := n.in
	for i := range layers {
		l := &n.m.Dynamics.Net.Layers[i]
		y := n.x[i%2]
		panels := simd.Panels(l.Out)
		parts := [2]simd.Part{{L: n.biases[i], X: n.one, K: 1}, {L: n.weights[i], X: x, K: l.In}}
		simd.Best().Product(y, panels, parts[:])
		switch y := y[:panels*simd.Rows*simd.Width]; l.Act {
		case mlp.Sigmoid:
			simd.Best().Logistic(y, 1, 1, 0)
		case mlp.Tanh:
			simd.Best().Logistic(y, 2, 2, -1)
		}
		x = y
	}
	return x
}

// slope writes dx/dt of a state (K) over its scales, per second: f + ε·log(1 + eˢ), f and s being
// what the net returns.
func (n *net) slope(dst, x []float64, eps []float32) {
	for l, k := range n.of {
		n.in[l*simd.Width] = n.shift[l] + n.gain[l]*float32(x[k])
	}
	out, K := n.forward(len(n.weights)), n.m.K
	for r := range 2 * K {
		out[r] = out[r*simd.Width]
	}
	f, s := out[:K], out[K:2*K]
	f32.Clamp(s, s, -60, 60)
	f32.Exp(s, s)
	f32.AddScalar(s, s, 1)
	f32.Log(s, s)
	f32.FMA(f, s, eps, f)
	f32.Scale(f, f, float32(1/n.m.Inputs.TimeStd))
	for i, v := range f {
		dst[i] = float64(v)
	}
}

// hiddenAt writes what the last layer reads at state x (K) to dst.
func (n *net) hiddenAt(dst, x []float64) {
	for l, k := range n.of {
		n.in[l*simd.Width] = n.shift[l] + n.gain[l]*float32(x[k]/n.m.Scale[k])
	}
	out := n.forward(len(n.weights) - 1)
	for i := range dst {
		dst[i] = float64(out[i*simd.Width])
	}
}
