package motion

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// dryRate is the softness of dry friction, rad/s.
const dryRate = 0.05

// joints is a serial arm whose joints are stiffly geared, so that inertia couples them little:
//
//	θ¨_i = c − s θ_i − v θ˙_i − d tanh(θ˙_i/dryRate) + a sin(θ_1+…+θ_i) + b cos(θ_1+…+θ_i) + a' sinθ_i + b' cosθ_i + Σ_j k_j u_j
//
// With as many inputs as joints, each joint has its own. s is the stiffness of a servo that follows a commanded angle, not
// there where the angle may turn.
var joints = kind{name: "joints", required: []string{"angle #", "rate #"}, rates: func(b *builder) { b.arm(false, false) }}

// servoJoints are those of an arm whose inputs are commanded angles: all have a stiffness, and dry friction holds them at rest, see
// builder.slowed, instead of the term with tanh, which lets a loaded joint creep.
var servoJoints = kind{name: "servo joints", required: joints.required, rates: func(b *builder) { b.arm(true, false) }}

// coupledServoJoints are those of an arm whose links move one another. Its axes and lengths are not known, so that joint i has gravity by the
// sums of the angles of all runs of neighbours that it is in, which is that of links between parallel axes and near to that of others in a
// part of their range; centrifugal terms; and, of the inverse of the matrix of inertias, a share n_ij of what accelerates joint j:
//
//	θ¨ = N a      a_i = that of servo joints + Σ_{l≤i≤m} (a_lm sin(θ_l+…+θ_m) + b_lm cos(θ_l+…+θ_m)) + Σ_j e_ij θ˙_j²      n_ii = 1
var coupledServoJoints = kind{name: "coupled servo joints", required: joints.required, rates: func(b *builder) { b.arm(true, true) }}

// arm sets the rates of joints.
func (b *builder) arm(servo, coupled bool) {
	n := b.e.numbered("angle")
	var angles, rates []string
	for i := range n {
		angles, rates = append(angles, fmt.Sprintf("angle %d", i+1)), append(rates, fmt.Sprintf("rate %d", i+1))
	}
	q, w := b.rows(angles...), b.rows(rates...)
	sums := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			sums[i*n+j] = 1
		}
	}
	own, all := b.SinCos(q), b.SinCos(b.Affine(n, nil, program.Part{X: q, M: sums}))
	dry := program.None
	if !servo {
		dry = b.Function(program.Tanh, b.Affine(n, nil, program.Part{X: w, M: diagonal(n, 1/dryRate)}))
	}
	var terms []term
	for i := range n {
		of := fmt.Sprintf(" of joint %d", i+1)
		terms = append(terms, b.constant(i, "constant acceleration"+of, "rad/s²"))
		if servo || !b.e.Roles[b.e.role(angles[i])].Turns {
			terms = append(terms, b.times(i, q, i, -1, "stiffness"+of, "1/s²"))
		}
		damping := b.times(i, w, i, -1, "damping"+of, "1/s")
		terms = append(terms, damping)
		if servo {
			b.stick(angles[i], rates[i], damping.parameter, "dry friction"+of, "rad/s²")
		} else {
			terms = append(terms, b.times(i, dry, i, -1, "dry friction"+of, "rad/s²"))
		}
		terms = append(terms, b.times(i, own, n+i, 1, "sine of its angle"+of, "rad/s²"), b.times(i, own, i, 1, "cosine of its angle"+of, "rad/s²"))
		if i > 0 {
			terms = append(terms, b.times(i, all, n+i, 1, "sine of its direction"+of, "rad/s²"), b.times(i, all, i, 1, "cosine of its direction"+of, "rad/s²"))
		}
		if name, unit := "acceleration"+of, "rad/s²"; b.u != program.None && b.Rows(b.u) == n {
			terms = append(terms, b.gain(i, i, name, unit))
		} else {
			terms = append(terms, b.gains(i, name, unit)...)
		}
	}
	if coupled {
		terms = append(terms, b.linked(q, w)...)
	}
	b.rate(w, angles...)
	b.rate(b.shared(b.law(n, terms...)), rates...)
}
