package priordynamics

import (
	"math"
)

// equation is that of motion in one state: M θ̈ = force.
type equation struct {
	M        [MostJoints]vec // lower triangle, then its factor
	force    vec
	sine     [MostJoints]vec // m_ij sin(θ_i − θ_j)
	cosine   [MostJoints]vec // m_ij cos(θ_i − θ_j)
	gravity  vec             // derivative of its force by θ
	friction vec             // derivative of its torque by r
}

// accelerate solves the equation of motion, M θ̈ = f, and leaves it in e.
func (c *Chain) accelerate(e *equation, s *linkMotion) vec {
	n := len(c.Angles)
	for i, at := 0, 0; i < n; i++ {
		c.joint(e, s, i, c.inertia(at))
		at++
		for j := i + 1; j < n; j++ {
			sin, cos := math.Sincos(s.angle[i] - s.angle[j])
			m := c.Mass[at-1]
			at++
			e.sine[i][j], e.cosine[i][j], e.sine[j][i], e.cosine[j][i] = m*sin, m*cos, -m*sin, m*cos
			e.M[j][i] += m * cos
			e.force[i] -= m * sin * s.rate[j] * s.rate[j]
			e.force[j] += m * sin * s.rate[i] * s.rate[i]
		}
	}
	factorise(n, &e.M)
	return solve(n, &e.M, e.force)
}

// derivatives returns those of the accelerations a, M θ̈' = f' − M' θ̈.
func (e *equation) derivatives(n int, s *linkMotion, a vec, t *tangents) (out columns) {
	for d := range t.m {
		var g vec
		for i := range n {
			r := t.rate[i][d]
			if i > 0 {
				r -= t.rate[i-1][d]
			}
			torque := t.drive[i][d] - e.friction[i]*r
			g[i] += torque - e.gravity[i]*t.angle[i][d]
			if i > 0 {
				g[i-1] -= torque
			}
			for j := range n {
				w := s.rate[j]
				g[i] += (e.sine[i][j]*a[j]-e.cosine[i][j]*w*w)*(t.angle[i][d]-t.angle[j][d]) - 2*e.sine[i][j]*w*t.rate[j][d]
			}
		}
		g = solve(n, &e.M, g)
		for i := range n {
			out[i][d] = g[i]
		}
	}
	return out
}

// inertia returns m_11, or number at of those after it.
func (c *Chain) inertia(at int) float64 {
	if at == 0 {
		return 1
	}
	return c.Mass[at-1]
}

// joint adds link i of inertia m by itself, and the torque of its joint.
func (c *Chain) joint(e *equation, s *linkMotion, i int, m float64) {
	sin, cos := math.Sincos(s.angle[i])
	e.gravity[i] = c.Sine[i]*cos - c.Cosine[i]*sin
	e.M[i][i] += m
	r := s.rate[i]
	if i > 0 {
		r -= s.rate[i-1]
	}
	tanh := math.Tanh(r / dryRate)
	e.friction[i] = c.Viscous[i] + c.Dry[i]*(1-tanh*tanh)/dryRate
	torque := s.drive[i] - c.Viscous[i]*r - c.Dry[i]*tanh
	e.force[i] += torque - c.Sine[i]*sin - c.Cosine[i]*cos
	if i > 0 {
		J := c.Rotor[i-1]
		e.M[i][i] += J
		e.M[i-1][i-1] += J
		e.M[i][i-1] -= J
		e.force[i-1] -= torque
	}
}

// factorise replaces the lower triangle of M (n×n) by Cholesky's factor, of which no pivot is
// less than leastPivot.
func factorise(n int, M *[MostJoints]vec) {
	for i := range n {
		for j := range i + 1 {
			v := M[i][j]
			for k := range j {
				v -= M[i][k] * M[j][k]
			}
			if i > j {
				M[i][j] = v / M[j][j]
			} else {
				M[i][i] = math.Sqrt(math.Max(v, leastPivot))
			}
		}
	}
}

// solve returns M⁻¹ b for a factor.
func solve(n int, M *[MostJoints]vec, b vec) vec {
	for i := range n {
		for k := range i {
			b[i] -= M[i][k] * b[k]
		}
		b[i] /= M[i][i]
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			b[i] -= M[k][i] * b[k]
		}
		b[i] /= M[i][i]
	}
	return b
}
