package dynamics

import (
	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// Increment appends the increment of a step of a difference equation, K×any, from states x (K) under mean inputs u
// (P; None without inputs) and of what is added to it, more (K×any; None = nothing). mass is that of motion.Increment:
//
//	v = (lift(x), (u − mean)/std), bounded each and together      Δ = Wᵀψ(v) + s∘net(v) + chain + motion + more      Δ ← Δ + body(x, Δ)
func Increment(p *program.Program, m *priordynamics.Model, x, u, more, mass program.Reg) program.Reg {
	d, _ := increment(p, m, x, u, more, mass)
	return d
}

// increment is Increment that returns the operation with the weights, too.
func increment(p *program.Program, m *priordynamics.Model, x, u, more, mass program.Reg) (d program.Reg, learned *program.Affine) {
	L, P, K := m.Lift.Dim(), len(m.UMean), p.Rows(x)
	var inputs []program.Reg
	if P > 0 {
		w, c := make([]float64, P), make([]float64, P)
		for i, std := range m.UStd {
			w[i], c[i] = 1/std, -m.UMean[i]/std
		}
		inputs = append(inputs, p.Weigh(u, p.Shape(u).Cols, w, c))
	}
	low := make([]float64, L+P)
	for i, b := range m.Bound {
		low[i] = -b
	}
	v := enter(p, m.Ellipsoid, p.Clamp(lift(p, &m.Lift, x, inputs...), low, m.Bound))
	parts := monomials(p, m, v)
	constant := append([]float64(nil), m.Weights[:K]...)
	if len(m.Net.Layers) > 0 {
		last := &m.Net.Layers[len(m.Net.Layers)-1]
		h := net(p, m.Net.Layers[:len(m.Net.Layers)-1], v)
		w := make([]float64, K*last.In)
		for k, s := range m.NetScale {
			constant[k] += s * last.B[k]
			for i := range last.In {
				w[k*last.In+i] = s * last.W[i*last.Out+k]
			}
		}
		parts = append(parts, program.Part{X: h, M: w})
	}
	d = p.Affine(K, constant, parts...)
	learned = p.Ops[len(p.Ops)-1].(*program.Affine)
	d = chainIncrement(p, &m.Chain, d, x, u, m.Step)
	if !m.Motion.Empty() {
		d = p.Affine(K, nil, program.Part{X: d, M: identity(K)}, program.Part{X: motion.Increment(p, &m.Motion, x, u, program.None, mass, m.Step), M: identity(K)})
	}
	if more != program.None {
		d = p.Affine(K, nil, program.Part{X: d, M: identity(K)}, program.Part{X: more, M: identity(K)})
	}
	return bodyIncrement(p, &m.Body, d, x, m.Step), learned
}

// net appends layers.
func net(p *program.Program, layers []mlp.Layer, x program.Reg) program.Reg {
	for i := range layers {
		x = activate(p, layers[i].Act, p.Affine(layers[i].Out, layers[i].B, program.Part{X: x, M: columnsOf(&layers[i], 0, layers[i].In)}))
	}
	return x
}

func activate(p *program.Program, a mlp.Activation, x program.Reg) program.Reg {
	switch a {
	case mlp.Tanh:
		return p.Function(program.Tanh, x)
	case mlp.Sigmoid:
		return p.Function(program.Sigmoid, x)
	}
	return x
}

// columnsOf returns the weights of a layer for its inputs from … to: Out×(to−from).
func columnsOf(l *mlp.Layer, from, to int) []float64 {
	n := to - from
	out := make([]float64, l.Out*n)
	for r := range l.Out {
		for i := range n {
			out[r*n+i] = l.W[(from+i)*l.Out+r]
		}
	}
	return out
}

// monomials returns the parts of Wᵀψ(v): of the coordinates, of their products of two, and of three lifted states.
func monomials(p *program.Program, m *priordynamics.Model, v program.Reg) (parts []program.Part) {
	L, V := m.Lift.Dim(), p.Rows(v)
	K, at := len(m.Weights)/m.Terms(), 1
	add := func(x program.Reg) {
		n := p.Rows(x)
		w := make([]float64, K*n)
		for i := range n {
			for k := range K {
				w[k*n+i] = m.Weights[(at+i)*K+k]
			}
		}
		parts, at = append(parts, program.Part{X: x, M: w}), at+n
	}
	if V == 0 {
		return nil
	}
	add(v)
	if m.Degree < 2 {
		return parts
	}
	pairs := pairsOf(p, v, V)
	add(pairs)
	if m.Degree < 3 || L == 0 {
		return parts
	}
	var terms []program.Term
	first := 0 // of the pairs of i
	for i := range L {
		for j := i; j < L; j++ {
			for k := j; k < L; k++ {
				terms = append(terms, program.Term{Row: len(terms), A: first + j - i, B: k, S: 1})
			}
		}
		first += V - i
	}
	add(p.Products(len(terms), pairs, v, terms))
	return parts
}

// tiny is the fraction of a step within which a time counts as that of a node.
const tiny = 1e-9

// rollout appends the displacements of a roll-out at all times, K×T. Between node n and time t inside its step, with ū
// the mean of the input since the node, the state follows the parabola through the node and the next two that ū
// would lead to, with σ = t/Step − n:
//
//	Δ0 = Δ(x_n, ū)   Δ1 = Δ(x_n + Δ0, ū)   x(t) = x_n + σ Δ0 + ½ σ(σ−1) (Δ1 − Δ0)
func (c *compiler) rollout(m *priordynamics.Model) program.Reg {
	K, T, h := c.m.K, c.T(), m.Step
	last := max(1, int(c.m.Horizon/h+1e-9))
	var at, first, second []float64 // of the times between nodes: σ's weights
	var between, here []program.Entry
	var spans []Span
	var inside []int
	steps := 1
	for i, t := range c.times {
		n := max(0, min(int(t/h+tiny), last))
		s := max(0, t/h-float64(n))
		steps = max(steps, n)
		if n > 0 {
			here = append(here, program.Entry{To: i, From: n - 1, W: 1})
		}
		if s < tiny {
			continue
		}
		if n > 0 {
			between = append(between, program.Entry{To: len(inside), From: n - 1, W: 1})
		}
		w0, w1 := PartOfStep(s)
		at, first, second = append(at, t), append(first, w0), append(second, w1)
		inside, spans = append(inside, i), append(spans, Span{float64(n) * h, t, 1})
	}
	nodes := c.stepsOf(m, steps)
	out := c.Columns(nodes, T, here)
	if len(at) == 0 {
		return out
	}
	u := program.None
	if c.m.P > 0 {
		u = c.acting(spans)
	}
	x := c.sum(K, nil, weighted{c.x, 1}, weighted{c.Columns(nodes, len(at), between), 1})
	d0 := Increment(c.Program, m, x, u, program.None, program.None)
	d1 := Increment(c.Program, m, c.sum(K, nil, weighted{x, 1}, weighted{d0, 1}), u, program.None, program.None)
	repeat := func(w []float64) (all []float64) {
		for range K {
			all = append(all, w...)
		}
		return all
	}
	moved := c.sum(K, nil, weighted{c.Weigh(d0, len(at), repeat(first), nil), 1}, weighted{c.Weigh(d1, len(at), repeat(second), nil), 1})
	if len(at) == T {
		return c.sum(K, nil, weighted{out, 1}, weighted{moved, 1})
	}
	var place []program.Entry
	for j, i := range inside {
		place = append(place, program.Entry{To: i, From: j, W: 1})
	}
	return c.sum(K, nil, weighted{out, 1}, weighted{c.Columns(moved, T, place), 1})
}

// stepsOf appends the displacements after every step of a roll-out, K×steps.
func (c *compiler) stepsOf(m *priordynamics.Model, steps int) program.Reg {
	u := program.None
	if c.m.P > 0 {
		var spans []Span
		for i := range steps {
			spans = append(spans, Span{float64(i) * m.Step, float64(i+1) * m.Step, 1})
		}
		u = c.acting(spans)
	}
	d, _ := rollOutOf(c.Program, m, c.x, u, steps)
	return d
}

// rollOut appends the displacements after every step from x (K×1) under the mean inputs of the steps (P×steps; None
// without inputs), K×steps. increment appends that of a step to the body of the roll-out r.
func rollOut(p *program.Program, x, u program.Reg, steps int, increment func(step *program.Program, r *program.Repeat, x, u program.Reg) program.Reg) program.Reg {
	K := p.Rows(x)
	step := &program.Program{}
	x0, d := step.Input("x0", K, 1), step.Input("d", K, 1)
	r := &program.Repeat{Body: step, Times: steps, All: true, Count: program.None, Fixed: []program.Bound{{Outer: x, In: x0}}}
	in := program.None
	if u != program.None {
		in = step.Input("u", p.Rows(u), 1)
		r.Each = []program.Bound{{Outer: u, In: in}}
	}
	both := func(a, b program.Reg) program.Reg {
		return step.Affine(K, nil, program.Part{X: a, M: identity(K)}, program.Part{X: b, M: identity(K)})
	}
	next := both(d, increment(step, r, both(x0, d), in))
	step.Output("d", next)
	zero := p.Constant(K, 1, make([]float64, K))
	r.Carried = []program.Carried{{Initial: zero, In: d, Next: next}}
	p.Repeat(r)
	return r.Carried[0].Out
}

// rollOutOf is rollOut of a difference equation. learned is the operation with the weights.
func rollOutOf(p *program.Program, m *priordynamics.Model, x, u program.Reg, steps int) (displacement program.Reg, learned *program.Affine) {
	displacement = rollOut(p, x, u, steps, func(step *program.Program, _ *program.Repeat, x, u program.Reg) (d program.Reg) {
		d, learned = increment(step, m, x, u, program.None, program.None)
		return d
	})
	return displacement, learned
}

// RollOut returns the program of so many steps of a difference equation: inputs X (K×1) and, where there are inputs, Plan
// (P×steps), the mean input of every step; output Displacement (K×steps). learned is the operation that holds the weights:
// its constant is the first row of them, its parts the others in their order, transposed.
func RollOut(m *priordynamics.Model, K, P, steps int) (p *program.Program, learned *program.Affine) {
	p = &program.Program{}
	x, u := p.Input(X, K, 1), program.None
	if P > 0 {
		u = p.Input(Plan, P, steps)
	}
	d, learned := rollOutOf(p, m, x, u, steps)
	p.Output(Displacement, d)
	return p, learned
}

// equation appends the mean of the roll-outs of members, K×T, and the mean of their squared deviations from it;
// None with one.
func (c *compiler) equation(members []priordynamics.Model) (mean, variance program.Reg) {
	K, n := c.m.K, float64(len(members))
	var all []program.Reg
	var terms []weighted
	for i := range members {
		all = append(all, c.rollout(&members[i]))
		terms = append(terms, weighted{all[i], 1 / n})
	}
	if len(all) == 1 {
		return all[0], program.None
	}
	mean = c.sum(K, nil, terms...)
	return mean, c.meanSquare(all, mean)
}

// meanSquare appends the mean of the squared deviations of registers from another.
func (c *compiler) meanSquare(all []program.Reg, from program.Reg) program.Reg {
	K := c.Rows(from)
	var squares []weighted
	for _, r := range all {
		squares = append(squares, weighted{c.Function(program.Square, c.sum(K, nil, weighted{r, 1}, weighted{from, -1})), 1 / float64(len(all))})
	}
	return c.sum(K, nil, squares...)
}

// Parameters is the input of a program by the parameters of an equation of motion.
const Parameters = "parameters"

// MotionRollOut returns the program of so many steps of h seconds of an equation of motion, with its parameters as an input:
// inputs X (K×1), Parameters (their number × 1) and, where there are inputs, Plan (P×steps), the mean input of every step;
// output Displacement (K×steps).
func MotionRollOut(e *motion.Equation, K, P, steps int, h float64) *program.Program {
	p := &program.Program{}
	x, theta, u := p.Input(X, K, 1), p.Input(Parameters, len(e.Parameters), 1), program.None
	if P > 0 {
		u = p.Input(Plan, P, steps)
	}
	inner := program.None
	p.Output(Displacement, rollOut(p, x, u, steps, func(step *program.Program, r *program.Repeat, x, u program.Reg) program.Reg {
		inner = step.Input(Parameters, len(e.Parameters), 1)
		r.Fixed = append(r.Fixed, program.Bound{Outer: theta, In: inner})
		return motion.Increment(step, e, x, u, inner, program.None, h)
	}))
	return p
}

// PartOfStep returns the weights of the first and second increment a part σ of a step later.
func PartOfStep(s float64) (first, second float64) {
	curve := 0.5 * s * (s - 1)
	return s - curve, curve
}
