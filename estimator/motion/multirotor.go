package motion

import "github.com/dgm-robotics/dgm/estimator/program"

var (
	rigidRoles    = []string{"roll", "pitch", "yaw", "p", "q", "r"}
	rigidOptional = []string{"x", "y", "z", "vx", "vy", "vz"}
)

// multirotor is a rigid body with thrust along its z axis: a quadrotor, and any flying robot with as many rotors. Per
// mass and moment of inertia, with R the attitude, ω the body's rates and v_b = Rᵀv,
//
//	f = (c_x − d_x v_bx, c_y − d_y v_by, c_z − d_z v_bz + Σ k_j u_j)      v̇ = R f + g e_z
//	ω̇_i = c_i − d_i ω_i + g_i ω_j ω_k + Σ t_ij u_j
//
// Without position and velocity only the second line is there.
var multirotor = kind{name: "multirotor", required: rigidRoles, optional: rigidOptional, mass: true, rates: func(b *builder) {
	b.rigid(func(s rigidState) (force, torque []term) {
		if s.velocity != program.None {
			for i, axis := range axes {
				force = append(force, b.constant(i, "constant acceleration "+axis, "m/s²"), b.times(i, s.velocity, i, -1, "drag "+axis, "1/s"))
			}
			force = append(force, b.gains(2, "thrust", "m/s²")...)
		}
		for i, axis := range turns {
			torque = append(torque, b.constant(i, "constant acceleration of "+axis, "rad/s²"), b.times(i, s.rates, i, -1, "damping of "+axis, "1/s"))
			torque = append(torque, b.times(i, s.products, i, 1, "gyroscopic coupling of "+axis, "1"))
			torque = append(torque, b.gains(i, axis+" torque", "rad/s²")...)
		}
		return force, torque
	})
}}

var axes, turns = []string{"x", "y", "z"}, []string{"roll", "pitch", "yaw"}

// rigidState is that of a rigid body, along the axes of the body.
type rigidState struct {
	velocity program.Reg // 3 rows; None without a velocity
	rates    program.Reg // 3
	products program.Reg // 3: of the other two rates
}

// rigid appends the equations of a rigid body whose accelerations by forces and torques, along the axes of the body, are the
// terms of what laws returns: gravity acts along the vertical axis.
func (b *builder) rigid(laws func(s rigidState) (force, torque []term)) {
	moves := b.e.has("vx")
	a := NewAttitude(b.Program, b.exactly("roll", "pitch", "yaw"), moves)
	w := b.rows("p", "q", "r")
	s := rigidState{program.None, w, b.Products(3, w, w, []program.Term{{Row: 0, A: 1, B: 2, S: 1}, {Row: 1, A: 2, B: 0, S: 1}, {Row: 2, A: 0, B: 1, S: 1}})}
	if moves {
		if s.velocity = b.rows("vx", "vy", "vz"); b.e.World {
			s.velocity = a.Body(s.velocity)
		}
	}
	force, torque := laws(s)
	w = b.exactly("p", "q", "r")
	b.rate(a.Rates(w), "roll", "pitch", "yaw")
	b.rate(b.law(3, torque...), "p", "q", "r")
	if !moves {
		return
	}
	v := b.exactly("vx", "vy", "vz")
	f, g := b.law(3, force...), b.law(3, b.constant(2, "gravity along z", "m/s²"))
	if b.mass != program.None {
		f = b.scale(f, b.Function(program.Reciprocal, b.Affine(1, []float64{1}, program.Part{X: b.mass, M: []float64{1}})))
	}
	one := diagonal(3, 1)
	if b.e.World {
		b.rate(b.Affine(3, nil, program.Part{X: a.World(f), M: one}, program.Part{X: g, M: one}), "vx", "vy", "vz")
		b.rate(v, "x", "y", "z")
		return
	}
	turned := b.Products(3, v, w, []program.Term{ // v × ω
		{Row: 0, A: 1, B: 2, S: 1}, {Row: 0, A: 2, B: 1, S: -1},
		{Row: 1, A: 2, B: 0, S: 1}, {Row: 1, A: 0, B: 2, S: -1},
		{Row: 2, A: 0, B: 1, S: 1}, {Row: 2, A: 1, B: 0, S: -1},
	})
	b.rate(b.Affine(3, nil, program.Part{X: f, M: one}, program.Part{X: a.Body(g), M: one}, program.Part{X: turned, M: one}), "vx", "vy", "vz")
	b.rate(a.World(v), "x", "y", "z")
}
