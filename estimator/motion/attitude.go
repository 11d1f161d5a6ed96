package motion

import "github.com/dgm-robotics/dgm/estimator/program"

// softness bounds secθ by 1/(2·softness): it matters within some 3° of ±90°.
const softness = 0.02

// Attitude are cosines, then sines of roll φ, pitch θ and, unless it is left out, yaw ψ. In the formulas of its methods
//
//	        ⎡ 1  tanθ sinφ  tanθ cosφ ⎤
//	E(a) =  ⎢ 0    cosφ      −sinφ    ⎥      R(a) = Rz(ψ) Ry(θ) Rx(φ)
//	        ⎣ 0  secθ sinφ  secθ cosφ ⎦
//
// (Diebel 2006, sequence 1-2-3; the same in ned-frd and enu-flu), with secθ taken as cosθ/(cos²θ + softness²).
type Attitude struct {
	*program.Program
	trig program.Reg
	n    int // angles
}

// NewAttitude appends the cosines and sines of angles a (3×any), rad.
func NewAttitude(p *program.Program, a program.Reg, yaw bool) Attitude {
	if yaw {
		return Attitude{p, p.SinCos(a), 3}
	}
	return Attitude{p, p.SinCos(p.Some(a, 0, 1)), 2}
}

// Rates appends E(a)ω.
func (a Attitude) Rates(w program.Reg) program.Reg {
	cosRoll, cosPitch, sinRoll, sinPitch := 0, 1, a.n, a.n+1
	cos := a.Some(a.trig, cosPitch)
	secant := a.Times(cos, a.Function(program.Reciprocal, a.Affine(1, []float64{softness * softness}, program.Part{X: a.Function(program.Square, cos), M: []float64{1}})))
	turned := a.Products(2, a.trig, w, []program.Term{ // about the axes of pitch and yaw, before the secant
		{Row: 0, A: cosRoll, B: 1, S: 1},
		{Row: 0, A: sinRoll, B: 2, S: -1},
		{Row: 1, A: sinRoll, B: 1, S: 1},
		{Row: 1, A: cosRoll, B: 2, S: 1},
	})
	yaw := a.Products(1, turned, secant, []program.Term{{A: 1, S: 1}})
	roll := a.Products(1, a.trig, yaw, []program.Term{{A: sinPitch, S: 1}})
	return a.Affine(3, nil,
		program.Part{X: w, M: []float64{1, 0, 0, 0, 0, 0, 0, 0, 0}}, program.Part{X: roll, M: []float64{1, 0, 0}},
		program.Part{X: turned, M: []float64{0, 0, 1, 0, 0, 0}}, program.Part{X: yaw, M: []float64{0, 0, 1}})
}

const cosRoll, cosPitch, cosYaw, sinRoll, sinPitch, sinYaw = 0, 1, 2, 3, 4, 5

// World appends R(a)v. It needs the yaw.
func (a Attitude) World(v program.Reg) program.Reg {
	rolled := a.Products(2, a.trig, v, []program.Term{ // Rx(φ)v across and down
		{Row: 0, A: cosRoll, B: 1, S: 1},
		{Row: 0, A: sinRoll, B: 2, S: -1},
		{Row: 1, A: sinRoll, B: 1, S: 1},
		{Row: 1, A: cosRoll, B: 2, S: 1},
	})
	both := a.Gather(program.Row{Reg: v}, program.Row{Reg: rolled}, program.Row{Reg: rolled, Row: 1})
	pitched := a.Products(2, a.trig, both, []program.Term{ // Ry(θ) of it ahead and down
		{Row: 0, A: cosPitch, B: 0, S: 1},
		{Row: 0, A: sinPitch, B: 2, S: 1},
		{Row: 1, A: sinPitch, B: 0, S: -1},
		{Row: 1, A: cosPitch, B: 2, S: 1},
	})
	level := a.Gather(program.Row{Reg: pitched}, program.Row{Reg: rolled}, program.Row{Reg: pitched, Row: 1})
	heading := a.Products(2, a.trig, level, []program.Term{
		{Row: 0, A: cosYaw, B: 0, S: 1},
		{Row: 0, A: sinYaw, B: 1, S: -1},
		{Row: 1, A: sinYaw, B: 0, S: 1},
		{Row: 1, A: cosYaw, B: 1, S: 1},
	})
	return a.Gather(program.Row{Reg: heading}, program.Row{Reg: heading, Row: 1}, program.Row{Reg: pitched, Row: 1})
}

// Body appends R(a)ᵀv. It needs the yaw.
func (a Attitude) Body(v program.Reg) program.Reg {
	level := a.Products(2, a.trig, v, []program.Term{ // Rz(ψ)ᵀv ahead and across
		{Row: 0, A: cosYaw, B: 0, S: 1},
		{Row: 0, A: sinYaw, B: 1, S: 1},
		{Row: 1, A: sinYaw, B: 0, S: -1},
		{Row: 1, A: cosYaw, B: 1, S: 1},
	})
	both := a.Gather(program.Row{Reg: level}, program.Row{Reg: level, Row: 1}, program.Row{Reg: v, Row: 2})
	pitched := a.Products(2, a.trig, both, []program.Term{ // Ry(θ)ᵀ of it ahead and down
		{Row: 0, A: cosPitch, B: 0, S: 1},
		{Row: 0, A: sinPitch, B: 2, S: -1},
		{Row: 1, A: sinPitch, B: 0, S: 1},
		{Row: 1, A: cosPitch, B: 2, S: 1},
	})
	flat := a.Gather(program.Row{Reg: pitched}, program.Row{Reg: level, Row: 1}, program.Row{Reg: pitched, Row: 1})
	rolled := a.Products(2, a.trig, flat, []program.Term{
		{Row: 0, A: cosRoll, B: 1, S: 1},
		{Row: 0, A: sinRoll, B: 2, S: 1},
		{Row: 1, A: sinRoll, B: 1, S: -1},
		{Row: 1, A: cosRoll, B: 2, S: 1},
	})
	return a.Gather(program.Row{Reg: pitched}, program.Row{Reg: rolled}, program.Row{Reg: rolled, Row: 1})
}
