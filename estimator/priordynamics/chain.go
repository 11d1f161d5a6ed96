package priordynamics

import (
	"errors"
	"fmt"
	"math"
)

// MostJoints is the largest number of joints of a chain.
const MostJoints = 3

// Chain is a planar chain of n links, joined by revolute joints: one pendulum, two or three.
// All states are angles and rates of its links. The increment of a step is that of the
// manipulator equation under a constant input. With angles θ_i of the links to one
// direction, and joint i between links i−1 and i,
//
//	Σ_j m_ij ( cos(θ_i − θ_j) θ̈_j + sin(θ_i − θ_j) θ̇_j² ) + s_i sin θ_i + c_i cos θ_i = τ_i − τ_{i+1}
//	τ_i = g_iᵀ u − v_i r_i − d_i tanh(r_i/softness) − J_i ṙ_i      r_i = θ̇_i − θ̇_{i−1}
//
// (Lagrange's equations; Spong, Hutchinson & Vidyasagar, Robot Modeling and Control, chapter
// 7). m is symmetric. s and c are gravity's, whatever the direction in which angles are zero,
// v and d viscous and dry friction, J the inertia of a rotor in joint 2 or later. Torques and
// inertias are over that of link 1: m_11 is 1. The zero value is no chain.
type Chain struct {
	Angles, Rates []int     // n places of states, from the first joint on
	Unit          []float64 // n, rad per unit of an angle; its rate is in that unit per second
	Relative      bool      // an angle is that to the link before; else all are to one direction

	Mass         []float64 // n(n+1)/2 − 1: m_ij, j ≥ i, by rows from m_12 on
	Rotor        []float64 // n − 1: J of joints 2…n
	Sine, Cosine []float64 // n: s and c, s⁻²
	Viscous, Dry []float64 // n: v, s⁻¹; d, s⁻²
	Gain         []float64 // n×P row-major: g, s⁻² for a unit of the input
}

const (
	dryRate    = 0.1  // rad/s, softness of dry friction
	leastPivot = 1e-3 // of the matrix of inertias, over that of link 1
	turn       = 0.25 // rad that a link turns in a part of a step, at most
	mostParts  = 20   // of a step, whatever the rates are
	turns      = 1e3  // rad, of a link that is integrated without taking whole turns off
)

// Empty reports whether there is no chain.
func (c *Chain) Empty() bool { return len(c.Angles) == 0 }

// Check returns what contradicts itself for K states and P inputs, or nil.
func (c *Chain) Check(k, p int) error {
	n := len(c.Angles)
	sizes := []int{n, n, max(n*(n+1)/2-1, 0), max(n-1, 0), n, n, n, n, n * p}
	lists := [][]float64{c.Unit, c.Mass, c.Rotor, c.Sine, c.Cosine, c.Viscous, c.Dry, c.Gain}
	switch {
	case n > MostJoints:
		return fmt.Errorf("%d joints, at most %d", n, MostJoints)
	case n > 0 && 2*n != k:
		return fmt.Errorf("%d joints of %d states", n, k)
	case len(c.Rates) != sizes[0]:
		return fmt.Errorf("%d rates of %d angles", len(c.Rates), n)
	}
	used := make([]bool, k)
	for _, of := range append(append([]int(nil), c.Angles...), c.Rates...) {
		if of < 0 || of >= k || used[of] {
			return fmt.Errorf("state %d of %d is out of range, or named twice", of, k)
		}
		used[of] = true
	}
	for i, list := range lists {
		if len(list) != sizes[1+i] {
			return fmt.Errorf("list %d of parameters has %d numbers, expected %d", i+1, len(list), sizes[1+i])
		}
		for _, v := range list {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("a parameter is %v", v)
			}
		}
	}
	for _, v := range c.Unit {
		if !(v > 0) {
			return errors.New("a unit must be positive")
		}
	}
	return nil
}

// vec has a number for every link or joint.
type vec [MostJoints]float64

// linkMotion is that of the links.
type linkMotion struct {
	angle, rate vec
	drive       vec // torques of the joints by the input
}

// columns are numbers of every link or joint along each of several directions.
type columns [MostJoints][3 * MostJoints]float64

// tangents are derivatives of a motion along m directions.
type tangents struct {
	m           int
	angle, rate columns
	drive       columns // constant
}

// motion returns that of the links in state x (K) under input u (P). Rates and torques are
// bounded by what a step of h seconds resolves.
func (c *Chain) motion(x, u []float64, h float64) (s linkMotion) {
	const most = mostParts * turn
	h = math.Abs(h)
	s.angle, s.rate = c.links(x)
	for i, r := range s.rate {
		s.rate[i] = math.Max(-most/h, math.Min(r, most/h))
		if math.Abs(s.angle[i]) > turns {
			s.angle[i] = math.Remainder(s.angle[i], 2*math.Pi)
		}
	}
	s.drive = c.drive(u)
	for i, v := range s.drive {
		s.drive[i] = math.Max(-most/(h*h), math.Min(v, most/(h*h)))
	}
	return s
}

// drive returns the torques of the joints by an input.
func (c *Chain) drive(u []float64) (torque vec) {
	for i := range c.Angles {
		for p, v := range u {
			torque[i] += c.Gain[i*len(u)+p] * v
		}
	}
	return torque
}

// links returns angle and rate of every link for those of the joints in x (K).
func (c *Chain) links(x []float64) (angle, rate vec) {
	for i, unit := range c.Unit {
		angle[i], rate[i] = unit*x[c.Angles[i]], unit*x[c.Rates[i]]
		if c.Relative && i > 0 {
			angle[i] += angle[i-1]
			rate[i] += rate[i-1]
		}
	}
	return angle, rate
}

// add adds what links moved by to dst (K), as angles and rates of the joints.
func (c *Chain) add(dst []float64, angle, rate vec) {
	for i := len(c.Unit) - 1; i >= 0; i-- {
		a, r := angle[i], rate[i]
		if c.Relative && i > 0 {
			a -= angle[i-1]
			r -= rate[i-1]
		}
		dst[c.Angles[i]] += a / c.Unit[i]
		dst[c.Rates[i]] += r / c.Unit[i]
	}
}

// Add adds the increment of state x (K) under input u (P), in h seconds, to dst (K).
func (c *Chain) Add(dst, x, u []float64, h float64) {
	if c.Empty() {
		return
	}
	s := c.motion(x, u, h)
	from, fromRate := s.angle, s.rate
	c.run(&s, nil, h)
	for i := range s.angle {
		s.angle[i] -= from[i]
		s.rate[i] -= fromRate[i]
	}
	c.add(dst, s.angle, s.rate)
}

// JVP adds the derivative of the increment along the directions dx (K) of the state and du
// (P; nil = none) of the input to dd (K).
func (c *Chain) JVP(dd, dx, du, x, u []float64, h float64) {
	if c.Empty() {
		return
	}
	s, d := c.motion(x, u, h), tangents{m: 1}
	da, dr := c.links(dx)
	for i, v := range c.drive(du) {
		d.angle[i][0], d.rate[i][0], d.drive[i][0] = da[i], dr[i], v
	}
	c.run(&s, &d, h)
	for i := range da {
		da[i], dr[i] = d.angle[i][0]-da[i], d.rate[i][0]-dr[i]
	}
	c.add(dd, da, dr)
}

// Jacobian adds the derivatives of the increment by the states (K×K, those by state k at k·K …)
// to g and, where it has (K+P)×K numbers, those by the inputs.
func (c *Chain) Jacobian(g, x, u []float64, h float64) {
	if c.Empty() {
		return
	}
	n, K := len(c.Angles), len(x)
	s, d := c.motion(x, u, h), tangents{m: 2 * n}
	// Direction j is the angle of joint j, n + j its rate: those of the links that it turns. 2n + j is
	// its torque.
	for j, unit := range c.Unit {
		for i := j; i < n && (i == j || c.Relative); i++ {
			d.angle[i][j], d.rate[i][n+j] = unit, unit
		}
		d.drive[j][2*n+j] = 1
	}
	if len(g) > K*K {
		d.m = 3 * n
	}
	from, fromRate := d.angle, d.rate
	c.run(&s, &d, h)
	for j := range d.m {
		var da, dr vec
		for i := range n {
			da[i], dr[i] = d.angle[i][j]-from[i][j], d.rate[i][j]-fromRate[i][j]
		}
		switch {
		case j < n:
			c.add(g[c.Angles[j]*K:(c.Angles[j]+1)*K], da, dr)
		case j < 2*n:
			c.add(g[c.Rates[j-n]*K:(c.Rates[j-n]+1)*K], da, dr)
		default:
			c.addInputs(g[K*K:], da, dr, c.Gain[(j-2*n)*len(u):(j-2*n+1)*len(u)])
		}
	}
}

// addInputs adds what the links move by for a torque, da and dr, times its gains, to the
// derivatives by the inputs, g (P×K).
func (c *Chain) addInputs(g []float64, da, dr vec, gain []float64) {
	K := 2 * len(c.Angles)
	for p, v := range gain {
		a, r := da, dr
		for i := range a {
			a[i] *= v
			r[i] *= v
		}
		c.add(g[p*K:(p+1)*K], a, r)
	}
}

// Adjoint adds the adjoint of state x (K) for that of the increment, dbar (K), to xbar (K).
func (c *Chain) Adjoint(xbar, dbar, x, u []float64, h float64) {
	if c.Empty() {
		return
	}
	var g [4 * MostJoints * MostJoints]float64
	K := len(x)
	c.Jacobian(g[:K*K], x, u, h)
	for k := range K {
		for i, b := range dbar {
			xbar[k] += g[k*K+i] * b
		}
	}
}

// run integrates the motion and, unless nil, its derivatives over h seconds by the
// Runge-Kutta method of order 4, in parts that are short for the rates.
func (c *Chain) run(s *linkMotion, d *tangents, h float64) {
	fastest, long := 0.0, math.Abs(h)
	for i, r := range s.rate {
		fastest = math.Max(fastest, math.Abs(r)+long*math.Abs(s.drive[i]))
	}
	parts := 1 + int(math.Min(long*fastest/turn, mostParts-1))
	for range parts {
		c.advance(s, d, h/float64(parts))
	}
}

// advance integrates over one part.
func (c *Chain) advance(s *linkMotion, d *tangents, h float64) {
	n := len(c.Angles)
	at, sum := *s, *s
	var dAt, dSum tangents
	if d != nil {
		dAt, dSum = *d, *d
	}
	for stage, weight := range [4]float64{h / 6, h / 3, h / 3, h / 6} {
		next := h / 2
		if stage == 2 {
			next = h
		}
		var e equation
		a := c.accelerate(&e, &at)
		if d != nil {
			da := e.derivatives(n, &at, a, &dAt)
			for i := range n {
				for j := range d.m {
					dSum.angle[i][j] += weight * dAt.rate[i][j]
					dSum.rate[i][j] += weight * da[i][j]
					dAt.angle[i][j], dAt.rate[i][j] = d.angle[i][j]+next*dAt.rate[i][j], d.rate[i][j]+next*da[i][j]
				}
			}
		}
		for i := range n {
			sum.angle[i] += weight * at.rate[i]
			sum.rate[i] += weight * a[i]
			at.angle[i], at.rate[i] = s.angle[i]+next*at.rate[i], s.rate[i]+next*a[i]
		}
	}
	*s = sum
	if d != nil {
		*d = dSum
	}
}
