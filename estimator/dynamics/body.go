package dynamics

import (
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// softness bounds secθ by 1/(2·softness): it matters within some 3° of ±90°.
const softness = 0.02

// bodyIncrement adds the kinematic relations of a rigid body to the learned increment d of states x, by the trapezoid
// rule over a step of h seconds:
//
//	ȧ = E(a) ω      ṗ = v, or R(a) v where v is in axes of the body
//
// Velocity and rates at the end of the step follow from d, the attitude there from its whole increment. See
// priordynamics.Body for E and R.
func bodyIncrement(p *program.Program, b *priordynamics.Body, d, x program.Reg, h float64) program.Reg {
	if b.Empty() {
		return d
	}
	K := p.Rows(x)
	// pick appends a group of states with textbook signs, of several registers together.
	pick := func(group []int, sign []float64, unit float64, of ...program.Reg) program.Reg {
		m := make([]float64, 3*K)
		for i, k := range group {
			m[i*K+k] = sign[i] * unit
		}
		var parts []program.Part
		for _, r := range of {
			parts = append(parts, program.Part{X: r, M: m})
		}
		return p.Affine(3, nil, parts...)
	}
	// put appends increment d with half a step of two rates added to a group.
	put := func(d program.Reg, group []int, sign []float64, rates ...program.Reg) program.Reg {
		m := make([]float64, K*3)
		for i, k := range group {
			m[k*3+i] = sign[i] * h / 2
		}
		parts := []program.Part{{X: d, M: identity(K)}}
		for _, r := range rates {
			parts = append(parts, program.Part{X: r, M: m})
		}
		return p.Affine(K, nil, parts...)
	}
	position, velocity, attitude, rate := b.Sign[0:3], b.Sign[3:6], b.Sign[6:9], b.Sign[9:12]
	var before, after attitudeTrig
	if len(b.Attitude) > 0 {
		a := pick(b.Attitude, attitude, b.Omega, x)
		before = newAttitudeTrig(p, a, b.InBody)
		f := before.eulerRates(p, pick(b.Rates, rate, 1, x))
		later := p.Affine(3, nil, program.Part{X: a, M: identity(3)}, program.Part{X: f, M: diagonal(same(3, h*b.Omega))})
		end := newAttitudeTrig(p, later, false)
		g := end.eulerRates(p, pick(b.Rates, rate, 1, x, d))
		d = put(d, b.Attitude, attitude, f, g)
	}
	if len(b.Position) == 0 {
		return d
	}
	if !b.InBody {
		return put(d, b.Position, position, pick(b.Velocity, velocity, 1, x), pick(b.Velocity, velocity, 1, x, d))
	}
	after = newAttitudeTrig(p, pick(b.Attitude, attitude, b.Omega, x, d), true)
	return put(d, b.Position, position, before.world(p, pick(b.Velocity, velocity, 1, x)), after.world(p, pick(b.Velocity, velocity, 1, x, d)))
}

// attitudeTrig are cosines, then sines of roll and pitch, and where asked for of yaw.
type attitudeTrig struct {
	trig program.Reg
	n    int // angles
}

func newAttitudeTrig(p *program.Program, a program.Reg, yaw bool) attitudeTrig {
	if yaw {
		return attitudeTrig{p.SinCos(a), 3}
	}
	return attitudeTrig{p.SinCos(p.Some(a, 0, 1)), 2}
}

// eulerRates appends E(a)ω, with secθ as cosθ/(cos²θ + softness²).
func (a attitudeTrig) eulerRates(p *program.Program, w program.Reg) program.Reg {
	cosRoll, cosPitch, sinRoll, sinPitch := 0, 1, a.n, a.n+1
	cos := p.Some(a.trig, cosPitch)
	secant := p.Times(cos, p.Function(program.Reciprocal, p.Affine(1, []float64{softness * softness}, program.Part{X: p.Function(program.Square, cos), M: []float64{1}})))
	turned := p.Products(2, a.trig, w, []program.Term{ // about the axes of pitch and yaw, before the secant
		{Row: 0, A: cosRoll, B: 1, S: 1},
		{Row: 0, A: sinRoll, B: 2, S: -1},
		{Row: 1, A: sinRoll, B: 1, S: 1},
		{Row: 1, A: cosRoll, B: 2, S: 1},
	})
	yaw := p.Products(1, turned, secant, []program.Term{{A: 1, S: 1}})
	roll := p.Products(1, a.trig, yaw, []program.Term{{A: sinPitch, S: 1}})
	return p.Affine(3, nil,
		program.Part{X: w, M: []float64{1, 0, 0, 0, 0, 0, 0, 0, 0}}, program.Part{X: roll, M: []float64{1, 0, 0}},
		program.Part{X: turned, M: []float64{0, 0, 1, 0, 0, 0}}, program.Part{X: yaw, M: []float64{0, 0, 1}})
}

// world appends R(a)v = Rz(ψ) Ry(θ) Rx(φ) v.
func (a attitudeTrig) world(p *program.Program, v program.Reg) program.Reg {
	const cosRoll, cosPitch, cosYaw, sinRoll, sinPitch, sinYaw = 0, 1, 2, 3, 4, 5
	rolled := p.Products(2, a.trig, v, []program.Term{ // Rx(φ)v across and down
		{Row: 0, A: cosRoll, B: 1, S: 1},
		{Row: 0, A: sinRoll, B: 2, S: -1},
		{Row: 1, A: sinRoll, B: 1, S: 1},
		{Row: 1, A: cosRoll, B: 2, S: 1},
	})
	both := p.Gather(program.Row{Reg: v}, program.Row{Reg: rolled}, program.Row{Reg: rolled, Row: 1})
	pitched := p.Products(2, a.trig, both, []program.Term{ // Ry(θ) of it ahead and down
		{Row: 0, A: cosPitch, B: 0, S: 1},
		{Row: 0, A: sinPitch, B: 2, S: 1},
		{Row: 1, A: sinPitch, B: 0, S: -1},
		{Row: 1, A: cosPitch, B: 2, S: 1},
	})
	level := p.Gather(program.Row{Reg: pitched}, program.Row{Reg: rolled}, program.Row{Reg: pitched, Row: 1})
	heading := p.Products(2, a.trig, level, []program.Term{
		{Row: 0, A: cosYaw, B: 0, S: 1},
		{Row: 0, A: sinYaw, B: 1, S: -1},
		{Row: 1, A: sinYaw, B: 0, S: 1},
		{Row: 1, A: cosYaw, B: 1, S: 1},
	})
	return p.Gather(program.Row{Reg: heading}, program.Row{Reg: heading, Row: 1}, program.Row{Reg: pitched, Row: 1})
}
