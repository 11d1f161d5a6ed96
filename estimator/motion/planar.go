package motion

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// Robots on a plane: with a heading ψ, velocities u ahead (surge) and v to the side (sway) along the axes of the body, and a
// yaw rate r,
//
//	east˙ = u cosψ − v sinψ      north˙ = u sinψ + v cosψ      ψ˙ = r
//
// Positions are optional.

// singleTrack is a car at low speed, whose wheels do not slip. δ is the angle of its front wheels, a state or the input
// that is called steering; κ is one over the wheelbase:
//
//	ψ˙ = u (κ tanδ + κ₀ − κ₂ u² tanδ)      u˙ = c − d₁u − d₂u|u| + Σ k_j u_j      δ˙ = c − dδ + Σ k_j u_j
var singleTrack = kind{name: "single track", required: []string{"heading", "surge"}, optional: []string{"east", "north", "steering"}, rates: func(b *builder) {
	u := b.rows("surge")
	straight := b.times(0, u, 0, 1, "curvature without steering", "1/m")
	b.rate(b.law(1, append([]term{straight}, b.turns(u, "curvature", "1/m", "s²/m³")...)...), "heading")
	b.planarPosition()
	b.driven(u)
	b.steered()
}}

// followingTrack is a car at low speed whose yaw rate is measured, and follows its steering, with the lag of its actuator:
//
//	ψ˙ = r      u˙ = c − d₁u − d₂u|u| + Σ k_j u_j      r˙ = c − d r + u (κ tanδ − κ₂ u² tanδ)      δ˙ as above
var followingTrack = kind{name: "single track with yaw rate", required: []string{"heading", "surge", "yaw_rate"}, optional: []string{"east", "north", "steering"}, rates: func(b *builder) {
	u, r := b.rows("surge"), b.rows("yaw_rate")
	turn := []term{b.constant(0, "constant yaw acceleration", "rad/s²"), b.times(0, r, 0, -1, "yaw drag", "1/s")}
	turn = append(turn, b.turns(u, "yaw acceleration by the speed", "rad/(m s)", "rad s/m³")...)
	b.planarPosition()
	b.rate(b.exactly("yaw_rate"), "heading")
	b.driven(u)
	b.rate(b.law(1, turn...), "yaw_rate")
	b.steered()
}}

// slowest bounds 1/u, m²/s²: it matters below 0.5 m/s.
const slowest = 0.05

// dynamicSingleTrack is a car with tyres that slip, linear in the slip angles:
//
//	u˙ = vr + c − d₁u − d₂u|u| + Σ k_j u_j      v˙ = −ur + c − (a₁v + a₂r)/u + Σ k_j u_j      r˙ = c − (b₁v + b₂r)/u + Σ k_j u_j
//
// 1/u is taken as u/(u² + 0.05).
var dynamicSingleTrack = kind{name: "dynamic single track", required: []string{"heading", "surge", "sway", "yaw_rate"}, optional: []string{"east", "north", "steering"}, rates: func(b *builder) { b.slipping(false) }}

// slidingSingleTrack is a car whose tyres saturate, with t = tanδ, s = v/u, p = r/u: v˙ and r˙ of a dynamic single track gain
//
//	a (t − s)|t − s| + b s|s| + c p|p|
//
// which is what Fiala's tyre (1954) has beside its linear term, the front one without its share of p and the rear one in s and p apart; u˙ gains
// the part of the front tyre's force that points backwards, t times all of these and a t + b s + c p.
var slidingSingleTrack = kind{name: "sliding single track", required: []string{"heading", "surge", "sway", "yaw_rate", "steering"}, optional: []string{"east", "north"}, rates: func(b *builder) { b.slipping(true) }}

// slipping sets the rates of a dynamic single track.
func (b *builder) slipping(saturates bool) {
	v, r := b.planarVelocity(b.rows), b.rows("yaw_rate")
	u := b.Some(v, 0)
	slow := b.Times(u, b.Function(program.Reciprocal, b.Affine(1, []float64{slowest}, program.Part{X: b.Function(program.Square, u), M: []float64{1}})))
	slip := b.scale(b.Stack(b.Some(v, 1), r), slow)
	steer := b.steering()
	force := slices.Concat(b.dragged(0, v, 0, "", "m/s"), b.gains(0, "acceleration ahead", "m/s²"))
	turn := []term{b.constant(0, "constant yaw acceleration", "rad/s²"), b.times(0, slip, 0, -1, "yaw torque by sway", "rad/(m s)"), b.times(0, slip, 1, -1, "yaw torque by yaw rate", "1/s")}
	force = append(force, b.constant(1, "constant acceleration to the side", "m/s²"), b.times(1, slip, 0, -1, "side force by sway", "m/s²"), b.times(1, slip, 1, -1, "side force by yaw rate", "m²/s²"))
	for j := range b.Rows(steer) {
		force = append(force, b.times(1, steer, j, 1, b.steers("side force", j), "m/s²"))
		turn = append(turn, b.times(0, steer, j, 1, b.steers("yaw torque", j), "rad/s²"))
	}
	if saturates {
		front := b.Affine(3, nil, program.Part{X: steer, M: []float64{1, 0, 0}}, program.Part{X: slip, M: []float64{-1, 0, 1, 0, 0, 1}})
		saturation := b.Times(front, b.Function(program.Abs, front))
		backwards := b.scale(b.Stack(steer, slip, saturation), steer)
		for i, by := range []string{"steering", "sway", "yaw rate", "saturation in front", "saturation by sway", "saturation by yaw rate"} {
			force = append(force, b.times(0, backwards, i, 1, "force of the front tyre backwards by "+by, []string{"m/s²", "m/s²", "m²/s²", "m/s²", "m/s²", "m³/s²"}[i]))
		}
		for i, by := range []string{"in front", "by sway", "by yaw rate"} {
			force = append(force, b.times(1, saturation, i, 1, "saturation of the side force "+by, []string{"m/s²", "m/s²", "m³/s²"}[i]))
			turn = append(turn, b.times(0, saturation, i, 1, "saturation of the yaw torque "+by, []string{"1/s²", "1/s²", "m²/s²"}[i]))
		}
	}
	b.planarBody(b.law(2, force...), b.law(1, turn...))
	b.steered()
}

// unicycle is a robot with driven wheels that do not slip to the side, and turns by them: differential drive, tracks:
//
//	u˙ = c − d₁u − d₂u|u| + Σ k_j u_j      r˙ = c − d₁r − d₂r|r| + Σ k_j u_j
var unicycle = kind{name: "differential drive", required: []string{"heading", "surge", "yaw_rate"}, optional: []string{"east", "north"}, rates: func(b *builder) {
	u, r := b.rows("surge"), b.rows("yaw_rate")
	b.planarPosition()
	b.rate(b.exactly("yaw_rate"), "heading")
	b.driven(u)
	b.rate(b.law(1, slices.Concat(b.dragged(0, r, 0, "yaw ", "rad/s"), b.gains(0, "yaw acceleration", "rad/s²"))...), "yaw_rate")
}}

// vessel is a surface vessel, or any robot that moves to the side as well:
//
//	u˙ = m₁vr + …      v˙ = −m₂ur + …      r˙ = m₃uv + …      … = c − d₁v − d₂v|v| + Σ k_j u_j + u Σ l_j u_j
//
// (Fossen 2011, chapter 7, with diagonal inertia; the last sum is of rudders, not in the first equation). Coefficients m and
// damping are per mass or moment of inertia. One that dives or flies has depth and heave w, by themselves:
//
//	depth˙ = w      w˙ = c − d₁w − d₂w|w| + Σ k_j u_j
var vessel = kind{name: "surface vessel", required: []string{"heading", "surge", "sway", "yaw_rate"}, optional: []string{"east", "north", "depth", "heave"}, rates: func(b *builder) {
	v, r := b.planarVelocity(b.rows), b.rows("yaw_rate")
	both := b.Products(3, b.Stack(v, r), b.Stack(v, r), []program.Term{{Row: 0, A: 1, B: 2, S: 1}, {Row: 1, A: 0, B: 2, S: 1}, {Row: 2, A: 0, B: 1, S: 1}})
	deflected := b.scaledInputs(b.Some(v, 0))
	rudders := func(row int, name, unit string) []term { return b.gainsOf(row, deflected, name, unit) }
	force := slices.Concat(b.dragged(0, v, 0, "", "m/s"), []term{b.times(0, both, 0, 1, "coupling of sway and yaw rate", "1")}, b.gains(0, "acceleration ahead", "m/s²"),
		b.dragged(1, v, 1, "side ", "m/s"), []term{b.times(1, both, 1, -1, "coupling of surge and yaw rate", "1")}, b.gains(1, "acceleration to the side", "m/s²"), rudders(1, "acceleration to the side, by the speed,", "1/s"))
	turn := slices.Concat(b.dragged(0, r, 0, "yaw ", "rad/s"), []term{b.times(0, both, 2, 1, "coupling of surge and sway", "rad/m²")}, b.gains(0, "yaw acceleration", "rad/s²"), rudders(0, "yaw acceleration, by the speed,", "rad/(m s)"))
	b.planarRates(b.planarVelocity(b.exactly), b.exactly("yaw_rate"), b.law(2, force...), b.law(1, turn...))
	if b.e.has("heave") {
		b.rate(b.exactly("heave"), "depth")
		b.rate(b.law(1, slices.Concat(b.dragged(0, b.rows("heave"), 0, "heave ", "m/s"), b.gains(0, "acceleration in heave", "m/s²"))...), "heave")
	}
}}

// dragged are the terms of a velocity, row at of v, that drag slows: constant, linear and quadratic.
func (b *builder) dragged(row int, v program.Reg, at int, name, unit string) []term {
	one := b.Some(v, at)
	square := b.Times(one, b.Function(program.Abs, one))
	acceleration, inverse := unit+"²", "1/m"
	if unit == "rad/s" {
		inverse = "1/rad"
	}
	return []term{b.constant(row, name+"constant acceleration", acceleration), b.times(row, one, 0, -1, name+"drag", "1/s"), b.times(row, square, 0, -1, name+"quadratic drag", inverse)}
}

// steering appends the tangents of the angle of the front wheels: of the state, or all inputs where none is one.
func (b *builder) steering() program.Reg {
	switch {
	case b.e.has("steering"):
		t := b.SinCos(b.rows("steering"))
		return b.Times(b.Some(t, 1), b.Function(program.Reciprocal, b.Some(t, 0)))
	case b.u != program.None:
		return b.u
	}
	return b.Affine(1, nil, program.Part{X: b.x, M: make([]float64, b.Rows(b.x))})
}

// driven sets the rate of the velocity ahead, u, of a robot on wheels.
func (b *builder) driven(u program.Reg) {
	b.rate(b.law(1, slices.Concat(b.dragged(0, u, 0, "", "m/s"), b.gains(0, "acceleration", "m/s²"))...), "surge")
}

// turns are the terms κ u s − κ₂ u³ s of what steers, s, at a velocity u ahead; name and unit are those of κ.
func (b *builder) turns(u program.Reg, name, unit, cubicUnit string) (terms []term) {
	steer := b.steering()
	ahead := b.scale(steer, u)
	cubic := b.scale(b.scale(ahead, u), u)
	for j := range b.Rows(steer) {
		terms = append(terms, b.times(0, ahead, j, 1, b.steers(name, j), unit), b.times(0, cubic, j, -1, b.steers("understeer", j), cubicUnit))
	}
	return terms
}

// steered sets the rate of the angle of the front wheels, where that is a state.
func (b *builder) steered() {
	if !b.e.has("steering") {
		return
	}
	angle := b.rows("steering")
	b.rate(b.law(1, slices.Concat([]term{b.constant(0, "constant steering rate", "rad/s"), b.times(0, angle, 0, -1, "steering lag", "1/s")}, b.gains(0, "steering rate", "rad/s"))...), "steering")
}

// steers names a parameter by the input that steers.
func (b *builder) steers(name string, j int) string {
	if b.e.has("steering") || !b.declares || j >= len(b.inputs) {
		return name + " by steering"
	}
	return name + " by " + b.inputs[j].Name
}

// heading appends cosine and sine of the heading.
func (b *builder) heading() program.Reg {
	if b.ahead == program.None {
		b.ahead = b.SinCos(b.exactly("heading"))
	}
	return b.ahead
}

// planarPosition sets the rates of the position, where there is one, of a robot that moves ahead.
func (b *builder) planarPosition() {
	if b.e.has("east") {
		b.rate(b.scale(b.heading(), b.exactly("surge")), "east", "north")
	}
}

// planarVelocity appends surge and sway along the axes of the body, of what rows or exactly returns.
func (b *builder) planarVelocity(rows func(names ...string) program.Reg) program.Reg {
	v := rows("surge", "sway")
	if !b.e.World {
		return v
	}
	return b.Products(2, b.heading(), v, []program.Term{{Row: 0, A: 0, B: 0, S: 1}, {Row: 0, A: 1, B: 1, S: 1}, {Row: 1, A: 1, B: 0, S: -1}, {Row: 1, A: 0, B: 1, S: 1}})
}

// toWorld appends a planar vector along the axes of the world.
func (b *builder) toWorld(v program.Reg) program.Reg {
	return b.Products(2, b.heading(), v, []program.Term{{Row: 0, A: 0, B: 0, S: 1}, {Row: 0, A: 1, B: 1, S: -1}, {Row: 1, A: 1, B: 0, S: 1}, {Row: 1, A: 0, B: 1, S: 1}})
}

// planarBody sets the rates of a body with accelerations force and turn of an inertial observer, along the axes of the body.
func (b *builder) planarBody(force, turn program.Reg) {
	v, r := b.planarVelocity(b.exactly), b.exactly("yaw_rate")
	turned := b.Products(2, v, r, []program.Term{{Row: 0, A: 1, S: 1}, {Row: 1, A: 0, S: -1}})
	b.planarRates(v, r, b.Affine(2, nil, program.Part{X: force, M: diagonal(2, 1)}, program.Part{X: turned, M: diagonal(2, 1)}), turn)
}

// planarRates sets the rates of a body with velocity v, yaw rate r, of which the changes along the axes of the body are given.
func (b *builder) planarRates(v, r, change, turn program.Reg) {
	world := v
	if b.e.World || b.e.has("east") {
		world = b.toWorld(v)
	}
	if b.e.has("east") {
		b.rate(world, "east", "north")
	}
	b.rate(r, "heading")
	b.rate(turn, "yaw_rate")
	if !b.e.World {
		b.rate(change, "surge", "sway")
		return
	}
	turned := b.Products(2, world, r, []program.Term{{Row: 0, A: 1, S: -1}, {Row: 1, A: 0, S: 1}})
	b.rate(b.Affine(2, nil, program.Part{X: b.toWorld(change), M: diagonal(2, 1)}, program.Part{X: turned, M: diagonal(2, 1)}), "surge", "sway")
}
