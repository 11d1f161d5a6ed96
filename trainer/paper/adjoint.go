package paper

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// adjoint integrates dx/dt = net(x), raw states and seconds, by the classical method
// of order 4, and carries adjoints back through every step: the cost does not grow with the
// number of parameters, unlike that of sensitivities. With stages k_q = f(x_q), weights
// w = 1, 2, 2, 1 and λ = ∂L/∂x of a step's end,
//
//	g4 = h/6 λ      g3 = h/3 λ + h J4ᵀg4      g2 = h/3 λ + h/2 J3ᵀg3      g1 = h/6 λ + h/2 J2ᵀg2
//	λ ← λ + Σ J_qᵀ g_q      θ̄ += Σ (∂f/∂θ)ᵀ g_q
type adjoint struct {
	net    *mlp.Net
	K      int
	width  int          // of all layers of one evaluation, with its input
	tape   [][]float64  // of every stage its input, then every layer's output
	h      []float64    // of every step
	states []float64    // observations×K
	steps  []int        // steps until each observation
	g, gb  []float64    // widest layer, scratch
	back   [4][]float64 // K, J_qᵀ g_q
	lambda []float64    // K
	stage  []float64    // K, g_q
}

func newAdjoint(net *mlp.Net) *adjoint {
	v := func(n int) []float64 { return make([]float64, n) }
	K := net.In()
	a := &adjoint{net: net, K: K, width: K, lambda: v(K), stage: v(K), back: [4][]float64{v(K), v(K), v(K), v(K)}}
	widest := K
	for _, l := range net.Layers {
		a.width += l.Out
		widest = max(widest, l.Out)
	}
	a.g, a.gb = v(widest), v(widest)
	return a
}

// evaluate sets row to its input and all layers there, and returns the last.
func (a *adjoint) evaluate(row []float64) []float64 {
	x, rest := row[:a.K], row[a.K:]
	for i := range a.net.Layers {
		l := &a.net.Layers[i]
		y := rest[:l.Out]
		evaluate(y, l, x)
		x, rest = y, rest[l.Out:]
	}
	return x
}

// pull sets dst (K) to Jᵀ g at an evaluated row and adds (∂f/∂θ)ᵀ g to the gradient.
func (a *adjoint) pull(dst []float64, grad *mlp.Net, row, g []float64) {
	top, gy := a.width, a.g[:len(g)]
	copy(gy, g)
	for i := len(a.net.Layers) - 1; i >= 0; i-- {
		l, d := &a.net.Layers[i], &grad.Layers[i]
		y, x := row[top-l.Out:top], row[top-l.Out-l.In:top-l.Out]
		top -= l.Out
		l.Act.Derivative(gy, y, gy)
		for o, v := range gy {
			d.B[o] += v
		}
		gx := a.gb[:l.In]
		if i == 0 {
			gx = dst
		}
		for r, v := range x {
			w, dw := l.W[r*l.Out:(r+1)*l.Out], d.W[r*l.Out:(r+1)*l.Out]
			s := 0.0
			for o, q := range gy {
				dw[o] += v * q
				s += w[o] * q
			}
			gx[r] = s
		}
		a.g, a.gb = a.gb, a.g
		gy = gx
	}
}

// forward integrates from x0 through times (rising); ok is false where the state
// leaves all bounds.
func (a *adjoint) forward(x0, times []float64, longest float64) (ok bool) {
	a.h, a.steps, a.states = a.h[:0], a.steps[:0], a.states[:0]
	x := append([]float64(nil), x0...)
	now := 0.0
	for _, t := range times {
		n := 0
		if t > now {
			n = int(math.Ceil((t - now) / longest))
		}
		for range n {
			if !a.step(x, (t-now)/float64(n)) {
				return false
			}
		}
		now = t
		a.steps = append(a.steps, len(a.h))
		a.states = append(a.states, x...)
	}
	return true
}

// step moves x by a step of length h; ok is false where it leaves all bounds.
func (a *adjoint) step(x []float64, h float64) (ok bool) {
	first := 4 * len(a.h)
	a.h = append(a.h, h)
	for len(a.tape) < first+4 {
		a.tape = append(a.tape, make([]float64, a.width))
	}
	along, weights := stages(h)
	var f [4][]float64
	for q, row := range a.tape[first : first+4] {
		copy(row, x)
		if q > 0 {
			for k, v := range f[q-1] {
				row[k] += along[q] * v
			}
		}
		f[q] = a.evaluate(row)
	}
	for q, w := range weights {
		for k, v := range f[q] {
			x[k] += w * v
		}
	}
	return !slices.ContainsFunc(x, func(v float64) bool { return !(math.Abs(v) < 1e6) })
}

// reverse adds to grad the derivative by the parameters of a function whose derivatives by
// the states at the observations are bar (observations×K).
func (a *adjoint) reverse(grad *mlp.Net, bar []float64) {
	clear(a.lambda)
	observation := len(a.steps) - 1
	for step := len(a.h); step >= 0; step-- {
		for ; observation >= 0 && a.steps[observation] == step; observation-- {
			for k, v := range bar[observation*a.K : (observation+1)*a.K] {
				a.lambda[k] += v
			}
		}
		if step > 0 {
			a.reverseStep(grad, step-1)
		}
	}
}

// reverseStep carries lambda from the end of a step to its beginning.
func (a *adjoint) reverseStep(grad *mlp.Net, step int) {
	along, weights := stages(a.h[step])
	for q := 3; q >= 0; q-- {
		for k, v := range a.lambda {
			a.stage[k] = weights[q] * v
			if q < 3 {
				a.stage[k] += along[q+1] * a.back[q+1][k]
			}
		}
		a.pull(a.back[q], grad, a.tape[4*step+q], a.stage)
	}
	for _, b := range a.back {
		for k, v := range b {
			a.lambda[k] += v
		}
	}
}
