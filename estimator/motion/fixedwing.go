package motion

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// fixedWing is an aeroplane. With V the speed, along the axes of the body u, v, w,
//
//	f_x = c + Σ k_j u_j + a₁V² + a₂Vw + …      f_y = a Vv + Σ a_j V²u_j      f_z = a₁V² + a₂Vw + a₃Vq + Σ a_j V²u_j
//	ṗ = c + g qr + a₁Vv + a₂Vp + a₃Vr + Σ a_j V²u_j      q̇ = c + g rp + a₁V² + a₂Vw + a₃Vq + Σ a_j V²u_j      ṙ as ṗ
//
// the derivatives of aerodynamic coefficients, over mass and moments of inertia (Beard & McLain 2012, chapter 4, linear
// in the angles of attack and sideslip). It needs position and velocity.
var fixedWing = kind{name: "fixed wing", required: slices.Concat(rigidRoles, rigidOptional), mass: true, rates: func(b *builder) {
	b.rigid(func(s rigidState) (force, torque []term) {
		square := b.Affine(1, nil, program.Part{X: b.Function(program.Square, s.velocity), M: []float64{1, 1, 1}})
		by := b.scale(b.Stack(s.velocity, s.rates), b.Function(program.Sqrt, square))
		deflected := b.scaledInputs(square)
		surfaces := func(row int, name, unit string) []term { return b.gainsOf(row, deflected, name, unit) }
		const u, v, w, p, q, r = 0, 1, 2, 3, 4, 5
		force = slices.Concat([]term{
			b.constant(0, "constant acceleration x", "m/s²"), b.times(0, by, u, -1, "drag x by the square of the speed", "1/m"),
			b.times(0, by, w, 1, "acceleration x by angle of attack", "1/m"), b.times(1, by, v, 1, "acceleration y by sideslip", "1/m"),
			b.times(2, square, 0, 1, "lift", "1/m"), b.times(2, by, w, 1, "lift by angle of attack", "1/m"), b.times(2, by, q, 1, "lift by pitch rate", "1"),
		}, b.gains(0, "thrust", "m/s²"), surfaces(1, "side force", "1/m"), surfaces(2, "lift", "1/m"))
		for i, axis := range turns {
			torque = append(torque, b.constant(i, "constant acceleration of "+axis, "rad/s²"), b.times(i, s.products, i, 1, "gyroscopic coupling of "+axis, "1"))
			if i == 1 {
				torque = append(torque, b.times(i, square, 0, 1, "pitch torque", "rad/m²"), b.times(i, by, w, 1, "pitch torque by angle of attack", "rad/m²"), b.times(i, by, q, -1, "pitch damping", "1/m"))
			} else {
				torque = append(torque, b.times(i, by, v, 1, axis+" torque by sideslip", "rad/m²"), b.times(i, by, p, 1, axis+" torque by roll rate", "1/m"), b.times(i, by, r, 1, axis+" torque by yaw rate", "1/m"))
			}
			torque = append(torque, surfaces(i, axis+" torque", "rad/m²")...)
		}
		return force, torque
	})
}}
