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
// for each trajectory. A difference equation beside the net is left out.
//
// Either the trajectories are integrated one after the other, each with the steps
// that it needs, as samples of the net's weights would have to be; or, since only ε
// differs here, all together as one system of equations, sixteen trajectories in a
// vector, with the steps that all of them need.
type monteCarlo struct {
	net           *net
	alone, joined *ode.Dopri5
	times         []float64
	eps           []float32 // [block][K][Width]
	x0            []float64 // [block][K][Width], over the scales
	states        []float64 // T × the same
	one           []float64 // T×K, of one trajectory

	mean, std []float64 // T×K
}

func newMonteCarlo(m *model.Model, times []float64) *monteCarlo {
	blocks := (samples + simd.Width - 1) / simd.Width
	K, T, n := m.K, len(times), blocks*m.K*simd.Width
	c := &monteCarlo{
		net: newNet(m), alone: ode.NewDopri5(K, ode.Config{RTol: 1e-3, Dense: true}), joined: ode.NewDopri5(n, ode.Config{RTol: 1e-3, Dense: true}),
		times: times, x0: make([]float64, n), states: make([]float64, T*n), one: make([]float64, T*K), mean: make([]float64, T*K), std: make([]float64, T*K),
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range n {
		c.eps = append(c.eps, float32(rng.NormFloat64()))
	}
	return c
}

// at returns where trajectory i has its first state in a row of states.
func (c *monteCarlo) at(i int) int {
	return i/simd.Width*c.net.m.K*simd.Width + i%simd.Width
}

// together sets mean and std from all trajectories in one; ok is false where they
// do not stay finite.
func (c *monteCarlo) together(x0 []float64) (ok bool) {
	for i := range c.x0 {
		k := i / simd.Width % c.net.m.K
		c.x0[i] = x0[k] / c.net.m.Scale[k]
	}
	ok = c.joined.Solve(c.states, func(dst []float64, _ float64, x []float64) {
		block := c.net.m.K * simd.Width
		for i := 0; i < len(x); i += block {
			c.net.slope(dst[i:i+block], x[i:i+block], c.eps[i:i+block])
		}
	}, c.x0, 0, c.times)
	c.sum()
	return ok
}

// oneByOne does the same with every trajectory for itself.
func (c *monteCarlo) oneByOne(x0 []float64) (ok bool) {
	K, n := c.net.m.K, len(c.x0)
	for k, v := range x0 {
		c.x0[k] = v / c.net.m.Scale[k]
	}
	ok = true
	for i := range samples {
		at := c.at(i)
		ok = c.alone.Solve(c.one, func(dst []float64, _ float64, x []float64) {
			c.net.slopeOf(dst, x, c.eps[at:])
		}, c.x0[:K], 0, c.times) && ok
		for t := range c.times {
			for k := range K {
				c.states[t*n+at+k*simd.Width] = c.one[t*K+k]
			}
		}
	}
	c.sum()
	return ok
}

// sum makes mean and std of the states.
func (c *monteCarlo) sum() {
	K, n := c.net.m.K, len(c.x0)
	for t := range c.times {
		row := c.states[t*n : (t+1)*n]
		for k := range K {
			sum, square := 0.0, 0.0
			for i := 0; i < samples; i += simd.Width {
				from := c.at(i) + k*simd.Width
				for _, v := range row[from : from+min(simd.Width, samples-i)] {
					sum += v
					square += v * v
				}
			}
			mean := sum / samples
			c.mean[t*K+k] = c.net.m.Scale[k] * mean
			c.std[t*K+k] = c.net.m.Scale[k] * math.Sqrt(max(square/samples-mean*mean, 0))
		}
	}
}

// net is a dynamics net for sixteen states at once.
type net struct {
	m       *model.Model
	weights [][]float32 // by layer, panels
	biases  [][]float32
	in      []float32 // L+P rows
	eps     []float32 // K
	x       [2][]float32
	one     []float32
	of      []int     // L: the state that a coordinate reads
	shift   []float32 // L: of its reading, standardised
	gain    []float32 // L: of a state over its scale
}

func newNet(m *model.Model) *net {
	layers := m.Dynamics.Net.Layers
	n := &net{m: m, in: make([]float32, layers[0].In*simd.Width), eps: make([]float32, m.K), one: make([]float32, simd.Width)}
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

// slope writes dx/dt of sixteen states over their scales, per second.
func (n *net) slope(dst, x []float64, eps []float32) {
	for l, k := range n.of {
		to := n.in[l*simd.Width : (l+1)*simd.Width]
		for j, v := range x[k*simd.Width : (k+1)*simd.Width] {
			to[j] = n.shift[l] + n.gain[l]*float32(v)
		}
	}
	n.derivative(dst, n.forward(len(n.weights)), eps, simd.Width)
}

// slopeOf writes that of one state (K), whose ε stand Width apart.
func (n *net) slopeOf(dst, x []float64, eps []float32) {
	for l, k := range n.of {
		n.in[l*simd.Width] = n.shift[l] + n.gain[l]*float32(x[k])
	}
	out := n.forward(len(n.weights))
	for r := range 2 * n.m.K {
		out[r] = out[r*simd.Width]
	}
	for k := range n.m.K {
		n.eps[k] = eps[k*simd.Width]
	}
	n.derivative(dst, out, n.eps, 1)
}

// derivative writes f + ε·log(1 + eˢ) per second, for so many states of which out
// holds f and s.
func (n *net) derivative(dst []float64, out, eps []float32, width int) {
	K := n.m.K * width
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
