package motion

import "github.com/dgm-robotics/dgm/estimator/program"

// Work evaluates the increments of an equation at one place. It takes all its memory in NewWork, and is not safe for concurrent
// use. A nil Work is of no equation, and adds nothing.
type Work struct {
	machine   *program.Machine[float64]
	x, u, out program.Reg
	k, p      int
	g         []float64 // (K+P)×K, of Jacobian
}

// NewWork takes the memory for steps of h seconds, K states and P inputs; nil without an equation.
func NewWork(e *Equation, K, P int, h float64) *Work {
	if e.Empty() {
		return nil
	}
	p := &program.Program{}
	w := &Work{x: p.Input("x", K, 1), u: program.None, k: K, p: P, g: make([]float64, (K+P)*K)}
	if P > 0 {
		w.u = p.Input("u", P, 1)
	}
	w.out = Increment(p, e, w.x, w.u, program.None, h)
	p.Output("increment", w.out)
	w.machine = program.New[float64](p, program.Options{Tangents: []string{"x", "u"}, Seeds: K + P})
	for c := range K {
		w.machine.SetTangent(w.x, c, 0, c, 1)
	}
	for c := range P {
		w.machine.SetTangent(w.u, c, 0, K+c, 1)
	}
	return w
}

// Add adds the increment at state x (K) under input u (P) to dst (K).
func (w *Work) Add(dst, x, u []float64) {
	if w == nil {
		return
	}
	w.evaluate(x, u)
	for k := range dst {
		dst[k] += w.machine.Get(w.out, k, 0, 0)
	}
}

func (w *Work) evaluate(x, u []float64) {
	for k, v := range x {
		w.machine.Set(w.x, k, 0, 0, v)
	}
	for j, v := range u {
		w.machine.Set(w.u, j, 0, 0, v)
	}
	w.machine.Value()
}

// Jacobian adds the derivatives of the increment at state x (K) under input u (P) to g ((K+P)×K, by state or input c at
// c·K …).
func (w *Work) Jacobian(g, x, u []float64) {
	if w == nil {
		return
	}
	w.evaluate(x, u)
	w.machine.Tangent()
	for c := range w.k + w.p {
		row := g[c*w.k : (c+1)*w.k]
		for k := range row {
			row[k] += w.machine.TangentOf(w.out, k, 0, 0, c)
		}
	}
}

// JVP adds the derivative of the increment along directions dx (K) and du (P; nil = 0) to dst (K).
func (w *Work) JVP(dst, dx, du, x, u []float64) {
	if w == nil {
		return
	}
	clear(w.g)
	w.Jacobian(w.g, x, u)
	for c := range w.k + len(du) {
		d := 0.0
		if c < w.k {
			d = dx[c]
		} else {
			d = du[c-w.k]
		}
		for k := range dst {
			dst[k] += d * w.g[c*w.k+k]
		}
	}
}

// Adjoint adds ∂(dbar·increment)/∂x at state x (K) under input u (P) to xbar (K).
func (w *Work) Adjoint(xbar, dbar, x, u []float64) {
	if w == nil {
		return
	}
	clear(w.g)
	w.Jacobian(w.g, x, u)
	for c := range xbar {
		for k, d := range dbar {
			xbar[c] += d * w.g[c*w.k+k]
		}
	}
}
