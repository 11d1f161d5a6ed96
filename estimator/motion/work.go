package motion

import "github.com/dgm-robotics/dgm/estimator/program"

// Work evaluates the increments of an equation at one place. It takes all its memory in NewWork, and is not safe for concurrent
// use. A nil Work is of no equation, and adds nothing.
type Work struct {
	k, p   int
	value  machine[float64]
	along  machine[float64] // in one direction
	by     machine[float64] // by all states and inputs, and the mass
	matrix []float64
}

// machine evaluates increments, and derivatives in some directions.
type machine[T program.Float] struct {
	*program.Machine[T]
	x, u, mass, out program.Reg
}

// NewWork takes the memory for steps of h seconds, K states and P inputs; nil without an equation.
func NewWork(e *Equation, K, P int, h float64) *Work { return newWork(e, K, P, h, false) }

// NewLoadedWork is NewWork for a robot whose mass changes, see Equation.HasMass.
func NewLoadedWork(e *Equation, K, P int, h float64) *Work { return newWork(e, K, P, h, e.HasMass()) }

func newWork(e *Equation, K, P int, h float64, loaded bool) *Work {
	if e.Empty() {
		return nil
	}
	w, seeds := &Work{k: K, p: P, matrix: make([]float64, (K+P)*K)}, K+P
	if loaded {
		seeds++
	}
	w.value, w.along, w.by = compile[float64](e, K, P, h, loaded, program.Options{}), compile[float64](e, K, P, h, loaded, program.Options{Seeds: 1}), compile[float64](e, K, P, h, loaded, program.Options{Seeds: seeds})
	w.by.unitDirections(K, P)
	if loaded {
		w.by.SetTangent(w.by.mass, 0, 0, K+P, 1)
	}
	return w
}

// SetMass sets by what part of its mass the robot of NewLoadedWork is heavier.
func (w *Work) SetMass(v float64) {
	for _, m := range []*machine[float64]{&w.value, &w.along, &w.by} {
		m.Set(m.mass, 0, 0, 0, v)
	}
}

// compile returns the machine of a step of h seconds; loaded has the mass as an input.
func compile[T program.Float](e *Equation, K, P int, h float64, loaded bool, o program.Options) machine[T] {
	p := &program.Program{}
	m := machine[T]{x: p.Input("x", K, 1), u: program.None, mass: program.None}
	if P > 0 {
		m.u = p.Input("u", P, 1)
	}
	if loaded {
		m.mass = p.Input("mass", 1, 1)
	}
	m.out = Increment(p, e, m.x, m.u, program.None, m.mass, h)
	p.Output("increment", m.out)
	if o.Seeds > 0 {
		o.Tangents = []string{"x", "u", "mass"}
	}
	if o.Lanes > 1 {
		o.ByLane = []string{"x", "u"}
	}
	m.Machine = program.New[T](p, o)
	return m
}

// unitDirections lets direction c be that of state or input c.
func (m *machine[T]) unitDirections(K, P int) {
	for c := range K {
		m.SetTangent(m.x, c, 0, c, 1)
	}
	for c := range P {
		m.SetTangent(m.u, c, 0, K+c, 1)
	}
}

// evaluate sets the increment at state x under input u.
func (m *machine[T]) evaluate(x, u []float64) {
	for k, v := range x {
		m.Set(m.x, k, 0, 0, v)
	}
	for j, v := range u {
		m.Set(m.u, j, 0, 0, v)
	}
	m.Value()
}

// Add adds the increment at state x (K) under input u (P) to dst (K).
func (w *Work) Add(dst, x, u []float64) {
	if w == nil {
		return
	}
	w.value.evaluate(x, u)
	for k := range dst {
		dst[k] += w.value.Get(w.value.out, k, 0, 0)
	}
}

// Jacobian adds the derivatives of the increment at state x (K) under input u (P) to g ((K+P)×K, by state or input c at
// c·K …). NewLoadedWork's has a last row, by the mass.
func (w *Work) Jacobian(g, x, u []float64) {
	if w == nil {
		return
	}
	w.by.evaluate(x, u)
	w.by.Tangent()
	for c := range len(g) / w.k {
		row := g[c*w.k : (c+1)*w.k]
		for k := range row {
			row[k] += w.by.TangentOf(w.by.out, k, 0, 0, c)
		}
	}
}

// JVP adds the derivative of the increment along directions dx (K) and du (P; nil = 0) to dst (K).
func (w *Work) JVP(dst, dx, du, x, u []float64) {
	if w == nil {
		return
	}
	m := &w.along
	for c, d := range dx {
		m.SetTangent(m.x, c, 0, 0, d)
	}
	for c := range w.p {
		d := 0.0
		if du != nil {
			d = du[c]
		}
		m.SetTangent(m.u, c, 0, 0, d)
	}
	m.evaluate(x, u)
	m.Tangent()
	for k := range dst {
		dst[k] += m.TangentOf(m.out, k, 0, 0, 0)
	}
}

// Adjoint adds ∂(dbar·increment)/∂x at state x (K) under input u (P) to xbar (K).
func (w *Work) Adjoint(xbar, dbar, x, u []float64) {
	if w == nil {
		return
	}
	clear(w.matrix)
	w.Jacobian(w.matrix, x, u)
	for c := range xbar {
		for k, d := range dbar {
			xbar[c] += d * w.matrix[c*w.k+k]
		}
	}
}
