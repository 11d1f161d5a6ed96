package dynamics

import (
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// Constants of a chain, see priordynamics.Chain.
const (
	dryRate    = 0.1
	leastPivot = 1e-3
	turn       = 0.25
	mostParts  = 20
)

// chainIncrement adds the increment of a planar chain of links to d: its manipulator equation, integrated over h seconds
// under a constant input u by the Runge-Kutta method of order 4, in parts that are short for the rates. See
// priordynamics.Chain for the equation.
func chainIncrement(p *program.Program, c *priordynamics.Chain, d, x, u program.Reg, h float64) program.Reg {
	n := len(c.Angles)
	if n == 0 {
		return d
	}
	K, most := p.Rows(x), mostParts*turn
	angles, rates := make([]float64, n*K), make([]float64, n*K)
	for i, unit := range c.Unit {
		for j := i; j < n && (j == i || c.Relative); j++ {
			angles[j*K+c.Angles[i]], rates[j*K+c.Rates[i]] = unit, unit
		}
	}
	angle := p.Affine(n, nil, program.Part{X: x, M: angles})
	rate := p.Clamp(p.Affine(n, nil, program.Part{X: x, M: rates}), same(n, -most/h), same(n, most/h))
	var drive program.Reg
	if u == program.None {
		drive = p.Weigh(rate, p.Shape(rate).Cols, make([]float64, n), nil)
	} else {
		drive = p.Clamp(p.Affine(n, nil, program.Part{X: u, M: c.Gain}), same(n, -most/(h*h)), same(n, most/(h*h)))
	}
	fastest := p.Affine(n, nil, program.Part{X: p.Function(program.Abs, rate), M: identity(n)}, program.Part{X: p.Function(program.Abs, drive), M: diagonal(same(n, h))})
	parts := p.Affine(1, []float64{1}, program.Part{X: p.Function(program.Floor, p.Clamp(p.Affine(1, nil, program.Part{X: p.Largest(1, fastest), M: []float64{h / turn}}), []float64{0}, []float64{mostParts - 1})), M: []float64{1}})
	length := p.Affine(1, nil, program.Part{X: p.Function(program.Reciprocal, parts), M: []float64{h}})
	part := chainPart(c)
	r := &program.Repeat{Body: part.Program, Times: mostParts, Count: parts, Fixed: []program.Bound{{Outer: drive, In: part.drive}, {Outer: parts, In: part.count}, {Outer: length, In: part.length}}}
	none := p.Weigh(parts, p.Shape(parts).Cols, []float64{0}, nil)
	for i, initial := range []program.Reg{angle, rate, none} {
		r.Carried = append(r.Carried, program.Carried{Initial: initial, In: part.state[i], Next: part.next[i]})
	}
	p.Repeat(r)
	toAngles, toRates := make([]float64, K*n), make([]float64, K*n)
	for i, unit := range c.Unit {
		toAngles[c.Angles[i]*n+i], toRates[c.Rates[i]*n+i] = 1/unit, 1/unit
		if c.Relative && i > 0 {
			toAngles[c.Angles[i]*n+i-1], toRates[c.Rates[i]*n+i-1] = -1/unit, -1/unit
		}
	}
	moved := func(after, before program.Reg) program.Reg {
		return p.Affine(n, nil, program.Part{X: after, M: identity(n)}, program.Part{X: before, M: diagonal(same(n, -1))})
	}
	return p.Affine(K, nil, program.Part{X: d, M: identity(K)},
		program.Part{X: moved(r.Carried[0].Out, angle), M: toAngles}, program.Part{X: moved(r.Carried[1].Out, rate), M: toRates})
}

// part is one part of a step: a state of angles, rates and the number of parts that are done.
type part struct {
	*program.Program
	state, next          [3]program.Reg
	drive, count, length program.Reg
}

func chainPart(c *priordynamics.Chain) part {
	n := len(c.Angles)
	b := part{Program: &program.Program{}}
	b.state = [3]program.Reg{b.Input("angle", n, 1), b.Input("rate", n, 1), b.Input("done", 1, 1)}
	b.drive, b.count, b.length = b.Input("drive", n, 1), b.Input("count", 1, 1), b.Input("length", 1, 1)
	remain := b.Affine(1, nil, program.Part{X: b.count, M: []float64{1}}, program.Part{X: b.state[2], M: []float64{-1}})
	h := b.Times(b.Clamp(remain, []float64{0}, []float64{1}), b.length) // 0 after the last part
	// along appends x + Σ factor h rate.
	along := func(x program.Reg, factors []float64, of ...program.Reg) program.Reg {
		parts := []program.Part{{X: x, M: identity(n)}}
		for i, r := range of {
			parts = append(parts, program.Part{X: b.scaled(r, h), M: diagonal(same(n, factors[i]))})
		}
		return b.Affine(n, nil, parts...)
	}
	angle, rate := b.state[0], b.state[1]
	a1 := b.accelerate(c, angle, rate)
	r2 := along(rate, []float64{0.5}, a1)
	a2 := b.accelerate(c, along(angle, []float64{0.5}, rate), r2)
	r3 := along(rate, []float64{0.5}, a2)
	a3 := b.accelerate(c, along(angle, []float64{0.5}, r2), r3)
	r4 := along(rate, []float64{1}, a3)
	a4 := b.accelerate(c, along(angle, []float64{1}, r3), r4)
	weights := []float64{1. / 6, 1. / 3, 1. / 3, 1. / 6}
	b.next[0], b.next[1] = along(angle, weights, rate, r2, r3, r4), along(rate, weights, a1, a2, a3, a4)
	b.next[2] = b.Affine(1, []float64{1}, program.Part{X: b.state[2], M: []float64{1}})
	for i, name := range []string{"angle", "rate", "done"} {
		b.Output(name, b.next[i])
	}
	return b
}

// scaled appends all rows of x times a register of one row.
func (b *part) scaled(x, by program.Reg) program.Reg {
	terms := make([]program.Term, b.Rows(x))
	for i := range terms {
		terms[i] = program.Term{Row: i, A: i, S: 1}
	}
	return b.Products(len(terms), x, by, terms)
}

// accelerate appends θ̈ of the equation of motion, M θ̈ = f.
func (b *part) accelerate(c *priordynamics.Chain, angle, rate program.Reg) program.Reg {
	n := len(c.Angles)
	// Cosines and sines of the angles, and of the differences of two.
	var pairs []pair
	differences := identity(n)
	for i := range n {
		for j := i + 1; j < n; j++ {
			pairs = append(pairs, pair{i, j})
			row := make([]float64, n)
			row[i], row[j] = 1, -1
			differences = append(differences, row...)
		}
	}
	all := n + len(pairs)
	trig := b.SinCos(b.Affine(all, nil, program.Part{X: angle, M: differences}))
	// Torques of the joints, and what they do to the links.
	joint := make([]float64, n*n) // r_i = θ̇_i − θ̇_(i−1)
	onLinks := make([]float64, n*n)
	for i := range n {
		joint[i*n+i], onLinks[i*n+i] = 1, 1
		if i > 0 {
			joint[i*n+i-1], onLinks[(i-1)*n+i] = -1, -1
		}
	}
	r := b.Affine(n, nil, program.Part{X: rate, M: joint})
	negative := func(v []float64) []float64 {
		out := make([]float64, len(v))
		for i, x := range v {
			out[i] = -x
		}
		return out
	}
	dry := b.Function(program.Tanh, b.Affine(n, nil, program.Part{X: r, M: diagonal(same(n, 1/dryRate))}))
	torque := b.Affine(n, nil, program.Part{X: b.drive, M: identity(n)}, program.Part{X: r, M: diagonal(negative(c.Viscous))}, program.Part{X: dry, M: diagonal(negative(c.Dry))})
	gravity := make([]float64, n*2*all)
	for i := range n {
		gravity[i*2*all+all+i], gravity[i*2*all+i] = -c.Sine[i], -c.Cosine[i]
	}
	parts := []program.Part{{X: torque, M: onLinks}, {X: trig, M: gravity}}
	if len(pairs) > 0 {
		parts = append(parts, program.Part{X: b.Products(n, trig, b.Function(program.Square, rate), centrifugal(c, pairs, all)), M: identity(n)})
	}
	force := b.Affine(n, nil, parts...)
	return b.solve(b.inertias(c, trig, pairs, all), force)
}

// pair is two links, of which the second comes later.
type pair struct{ i, j int }

// centrifugal returns the terms −m_ij sin(θ_i − θ_j) θ̇_j² of link i and + … θ̇_i² of link j; of so many angles the sines of
// differences come last.
func centrifugal(c *priordynamics.Chain, pairs []pair, all int) (terms []program.Term) {
	n := len(c.Angles)
	for i := range n {
		for q, at := range pairs {
			switch i {
			case at.i:
				terms = append(terms, program.Term{Row: i, A: all + n + q, B: at.j, S: -mass(c, at.i, at.j)})
			case at.j:
				terms = append(terms, program.Term{Row: i, A: all + n + q, B: at.i, S: mass(c, at.i, at.j)})
			}
		}
	}
	return terms
}

// inertias appends the lower triangle of the matrix of inertias: m_ij cos(θ_i − θ_j), with the rotors of the joints.
func (b *part) inertias(c *priordynamics.Chain, trig program.Reg, pairs []pair, all int) [][]program.Reg {
	n := len(c.Angles)
	M := make([][]program.Reg, n)
	for i := range n {
		constant := mass(c, i, i)
		if i > 0 {
			constant += c.Rotor[i-1]
		}
		if i+1 < n {
			constant += c.Rotor[i]
		}
		M[i] = make([]program.Reg, i+1)
		M[i][i] = b.Affine(1, []float64{constant}, program.Part{X: trig, M: make([]float64, 2*all)})
	}
	for q, at := range pairs {
		row, constant := make([]float64, 2*all), 0.0
		row[n+q] = mass(c, at.i, at.j)
		if at.j == at.i+1 {
			constant = -c.Rotor[at.i]
		}
		M[at.j][at.i] = b.Affine(1, []float64{constant}, program.Part{X: trig, M: row})
	}
	return M
}

// mass returns m_ij, j ≥ i.
func mass(c *priordynamics.Chain, i, j int) float64 {
	n, at := len(c.Angles), 0
	for row := range i {
		at += n - row
	}
	if at += j - i; at > 0 {
		return c.Mass[at-1]
	}
	return 1
}

// solve appends M⁻¹ f by Cholesky's factor, of which no square of a pivot is less than leastPivot; M is the lower
// triangle.
func (b *part) solve(M [][]program.Reg, f program.Reg) program.Reg {
	n := len(M)
	minus := func(x program.Reg, products ...[2]program.Reg) program.Reg {
		parts := []program.Part{{X: x, M: []float64{1}}}
		for _, p := range products {
			parts = append(parts, program.Part{X: b.Times(p[0], p[1]), M: []float64{-1}})
		}
		return b.Affine(1, nil, parts...)
	}
	inverse := make([]program.Reg, n) // of the pivots
	for i := range n {
		for j := range i + 1 {
			var products [][2]program.Reg
			for k := range j {
				products = append(products, [2]program.Reg{M[i][k], M[j][k]})
			}
			v := minus(M[i][j], products...)
			if i > j {
				M[i][j] = b.Times(v, inverse[j])
				continue
			}
			inverse[i] = b.Function(program.Reciprocal, b.Function(program.Sqrt, b.Clamp(v, []float64{leastPivot}, []float64{inf})))
		}
	}
	x := make([]program.Reg, n)
	for i := range n {
		var products [][2]program.Reg
		for k := range i {
			products = append(products, [2]program.Reg{M[i][k], x[k]})
		}
		x[i] = b.Times(minus(b.Some(f, i), products...), inverse[i])
	}
	for i := n - 1; i >= 0; i-- {
		var products [][2]program.Reg
		for k := i + 1; k < n; k++ {
			products = append(products, [2]program.Reg{M[k][i], x[k]})
		}
		x[i] = b.Times(minus(x[i], products...), inverse[i])
	}
	return b.Stack(x...)
}
