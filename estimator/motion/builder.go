package motion

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// builder appends the time derivative of the states of an equation.
type builder struct {
	*program.Program
	e        *Equation
	x, u     program.Reg        // K×any, P×any; u None without inputs
	exact    func() program.Reg // appends x as if the step began from a state without bounds
	free     program.Reg        // that; None before it is read
	theta    program.Reg        // parameters×1; None = those of e
	mass     program.Reg        // 1×1, see Equation.HasMass; None = 0
	inputs   []channel.Channel
	declares bool // parameters are named, not read

	parameters []Parameter    // so far; without declares their number alone counts
	ofInputs   []Gain         // those that multiply inputs
	parts      []program.Part // of the derivative
	sticks     []stiction     // of joints
	shares     []term         // of joints in what accelerates others, without the register
	ahead      program.Reg    // cosine and sine of the heading; None before heading
}

// rows appends the states of roles, in a step from a state within the bounds, in the textbook's units, a row each: what laws read.
func (b *builder) rows(names ...string) program.Reg { return b.rowsOf(b.x, names) }

// exactly appends the same of a step from a state without bounds: what kinematics of a body, which are true at any speed, read. Rates of joints have bounds there, too: estimated
// ones of a stiff arm may leave them.
func (b *builder) exactly(names ...string) program.Reg {
	if b.free == program.None {
		b.free = b.exact()
	}
	return b.rowsOf(b.free, names)
}

func (b *builder) rowsOf(x program.Reg, names []string) program.Reg {
	K := b.Rows(x)
	m := make([]float64, len(names)*K)
	for i, name := range names {
		r := b.e.Roles[b.e.role(name)]
		m[i*K+r.State] = r.Scale
	}
	return b.Affine(len(names), nil, program.Part{X: x, M: m})
}

// rate sets the derivatives of roles to the rows of a register.
func (b *builder) rate(of program.Reg, names ...string) {
	K, n := b.Rows(b.x), len(names)
	m := make([]float64, K*n)
	for i, name := range names {
		r := b.e.Roles[b.e.role(name)]
		m[r.State*n+i] = 1 / r.Scale
	}
	b.parts = append(b.parts, program.Part{X: of, M: m})
}

// term is a parameter times a row of a register, or times 1, in a row of a law.
type term struct {
	row       int         // of the law
	of        program.Reg // None = 1
	at        int         // its row
	factor    float64
	parameter int
}

// parameter declares the next number of θ and returns its place.
func (b *builder) parameter(name, unit string) int {
	p := Parameter{}
	if b.declares {
		p.Name, p.Unit = name, unit
	}
	b.parameters = append(b.parameters, p)
	return len(b.parameters) - 1
}

// constant is a parameter alone.
func (b *builder) constant(row int, name, unit string) term {
	return term{row, program.None, 0, 1, b.parameter(name, unit)}
}

// times is a parameter times a row of a register.
func (b *builder) times(row int, of program.Reg, at int, factor float64, name, unit string) term {
	return term{row, of, at, factor, b.parameter(name, unit)}
}

// gain is a parameter times input j.
func (b *builder) gain(row, j int, name, unit string) term {
	b.ofInputs = append(b.ofInputs, Gain{len(b.parameters), j, name})
	if b.declares {
		if in := b.inputs[j]; in.Name != "" {
			name += " of " + in.Name
			if in.Unit != "" {
				unit += "/(" + in.Unit + ")" + b.power()
			}
		}
	}
	return b.times(row, b.u, j, 1, name, unit)
}

func (b *builder) power() string {
	if b.e.Squared {
		return "²"
	}
	return ""
}

// gains are parameters times each input.
func (b *builder) gains(row int, name, unit string) []term { return b.gainsOf(row, b.u, name, unit) }

// gainsOf are parameters times the rows of what is made of the inputs, one of each.
func (b *builder) gainsOf(row int, u program.Reg, name, unit string) (out []term) {
	if b.u == program.None {
		return nil
	}
	for j := range b.Rows(b.u) {
		t := b.gain(row, j, name, unit)
		t.of = u
		out = append(out, t)
	}
	return out
}

// scaledInputs appends the inputs times a register of one row; None without inputs.
func (b *builder) scaledInputs(by program.Reg) program.Reg {
	if b.u == program.None {
		return program.None
	}
	return b.scale(b.u, by)
}

// scale appends all rows of x times a register of one row.
func (b *builder) scale(x, by program.Reg) program.Reg {
	terms := make([]program.Term, b.Rows(x))
	for i := range terms {
		terms[i] = program.Term{Row: i, A: i, S: 1}
	}
	return b.Products(len(terms), x, by, terms)
}

// law appends so many rows, each the sum of its terms.
func (b *builder) law(rows int, terms ...term) program.Reg {
	var order []program.Reg
	of := map[program.Reg][]term{}
	for _, t := range terms {
		if of[t.of] == nil {
			order = append(order, t.of)
		}
		of[t.of] = append(of[t.of], t)
	}
	constant := make([]float64, rows)
	var parts []program.Part
	for _, r := range order {
		switch {
		case b.theta != program.None:
			parts = append(parts, b.variable(rows, r, of[r]))
		case r == program.None:
			for _, t := range of[r] {
				constant[t.row] += t.factor * b.value(t.parameter)
			}
		default:
			n := b.Rows(r)
			m := make([]float64, rows*n)
			for _, t := range of[r] {
				m[t.row*n+t.at] += t.factor * b.value(t.parameter)
			}
			parts = append(parts, program.Part{X: r, M: m})
		}
	}
	if len(parts) == 0 { // of constants alone: as many columns as the states have
		parts = append(parts, program.Part{X: b.x, M: make([]float64, rows*b.Rows(b.x))})
	}
	return b.Affine(rows, constant, parts...)
}

// value returns a parameter of the equation.
func (b *builder) value(i int) float64 {
	if i < len(b.e.Parameters) {
		return b.e.Parameters[i].Value
	}
	return 0
}

// variable appends the terms of one register with θ as a register.
func (b *builder) variable(rows int, of program.Reg, terms []term) program.Part {
	m := len(b.e.Parameters)
	if of == program.None {
		matrix := make([]float64, rows*m)
		for _, t := range terms {
			matrix[t.row*m+t.parameter] += t.factor
		}
		return program.Part{X: b.theta, M: matrix}
	}
	var products []program.Term
	for row := range rows {
		for _, t := range terms {
			if t.row == row {
				products = append(products, program.Term{Row: row, A: t.at, B: t.parameter, S: t.factor})
			}
		}
	}
	return program.Part{X: b.Products(rows, of, b.theta, products), M: diagonal(rows, 1)}
}

func diagonal(n int, v float64) []float64 {
	m := make([]float64, n*n)
	for i := range n {
		m[i*n+i] = v
	}
	return m
}
