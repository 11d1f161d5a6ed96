package paper

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// adjoint integrates dx/dt = net(x), raw states and seconds, by the classical method
// of order 4 and carries derivatives of what is reached back through every step: the
// cost does not grow with the number of parameters, as that of sensitivities does.
// With stages k_q = f(x_q), weights w = 1, 2, 2, 1 and λ = ∂L/∂x of a step's end,
//
//	g4 = h/6 λ      g3 = h/3 λ + h J4ᵀg4      g2 = h/3 λ + h/2 J3ᵀg3      g1 = h/6 λ + h/2 J2ᵀg2
//	λ ← λ + Σ J_qᵀ g_q      θ̄ += Σ (∂f/∂θ)ᵀ g_q
type adjoint struct {
	net    *mlp.Net
	K      int
	width  int         // of all layers of one evaluation, with its input
	tape   []float64   // stages × width: input, then every layer's output
	h      []float64   // of every step
	reach  []float64   // observations×K: states at the observations
	steps  []int       // steps taken when an observation is reached
	g, gb  []float64   // widest
	back   [][]float64 // 4 × K: J_qᵀ g_q
	lambda []float64   // K
	stage  []float64   // K: g_q
	grad   *mlp.Net    // view of the gradient
	x      []float64   // K
}

func newAdjoint(net *mlp.Net) *adjoint {
	a := &adjoint{net: net, K: net.In(), width: net.In()}
	widest := a.K
	for i := range net.Layers {
		a.width += net.Layers[i].Out
		widest = max(widest, net.Layers[i].Out)
	}
	a.g, a.gb = make([]float64, widest), make([]float64, widest)
	for range 4 {
		a.back = append(a.back, make([]float64, a.K))
	}
	a.lambda, a.stage, a.x = make([]float64, a.K), make([]float64, a.K), make([]float64, a.K)
	return a
}

// row returns the tape of evaluation i.
func (a *adjoint) row(i int) []float64 {
	for len(a.tape) < (i+1)*a.width {
		a.tape = append(a.tape, make([]float64, 64*a.width)...)
	}
	return a.tape[i*a.width : (i+1)*a.width]
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
func (a *adjoint) pull(dst, row, g []float64) {
	top, gy := a.width, a.g[:len(g)]
	copy(gy, g)
	for i := len(a.net.Layers) - 1; i >= 0; i-- {
		l, d := &a.net.Layers[i], &a.grad.Layers[i]
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
	a.h, a.steps, a.reach = a.h[:0], a.steps[:0], a.reach[:0]
	copy(a.x, x0)
	now := 0.0
	for _, t := range times {
		n := 0
		if t > now {
			n = int(math.Ceil((t - now) / longest))
		}
		for range n {
			if !a.step((t - now) / float64(n)) {
				return false
			}
		}
		now = t
		a.steps = append(a.steps, len(a.h))
		a.reach = append(a.reach, a.x...)
	}
	return true
}

// step takes a step of length h; ok is false where the state leaves all bounds.
func (a *adjoint) step(h float64) (ok bool) {
	K, at := a.K, 4*len(a.h)
	a.h = append(a.h, h)
	var stages [4][]float64 // derivatives
	for q, c := range [4]float64{0, h / 2, h / 2, h} {
		row := a.row(at + q)
		copy(row, a.x)
		if q > 0 {
			for k, v := range stages[q-1] {
				row[k] += c * v
			}
		}
		a.evaluate(row)
		stages[q] = row[a.width-K:]
	}
	// The tape may have moved while it grew: rows are looked up again.
	for q, w := range [4]float64{h / 6, h / 3, h / 3, h / 6} {
		for k, v := range a.row(at + q)[a.width-K:] {
			a.x[k] += w * v
		}
	}
	for _, v := range a.x {
		if !(math.Abs(v) < 1e6) {
			return false
		}
	}
	return true
}

// reverse adds to grad the derivative by the parameters of something whose
// derivatives by the states at the observations are bar (observations×K).
func (a *adjoint) reverse(grad *mlp.Net, bar []float64) {
	a.grad = grad
	K := a.K
	clear(a.lambda)
	done := len(a.h)
	for i := len(a.steps) - 1; i >= -1; i-- {
		from := 0
		if i >= 0 {
			from = a.steps[i]
		}
		for ; done > from; done-- {
			a.reverseStep(done - 1)
		}
		if i >= 0 {
			for k, v := range bar[i*K : (i+1)*K] {
				a.lambda[k] += v
			}
		}
	}
}

// reverseStep carries lambda from the end of a step to its beginning.
func (a *adjoint) reverseStep(step int) {
	h := a.h[step]
	for q := 3; q >= 0; q-- {
		own, above := h/3, h/2
		if q == 0 || q == 3 {
			own = h / 6
		}
		if q == 2 {
			above = h
		}
		for k, v := range a.lambda {
			a.stage[k] = own * v
			if q < 3 {
				a.stage[k] += above * a.back[q+1][k]
			}
		}
		a.pull(a.back[q], a.row(4*step+q), a.stage)
	}
	for _, b := range a.back {
		for k, v := range b {
			a.lambda[k] += v
		}
	}
}
