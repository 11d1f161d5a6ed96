package dynamics

import (
	"github.com/dgm-robotics/dgm/estimator/motion"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// bodyIncrement adds the kinematic relations of a rigid body to the learned increment d of states x, by the trapezoid
// rule over a step of h seconds:
//
//	ȧ = E(a) ω      ṗ = v, or R(a) v where v is in axes of the body
//
// Velocity and rates at the end of the step follow from d, the attitude there from its whole increment. See
// motion.Attitude for E and R.
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
	var before motion.Attitude
	if len(b.Attitude) > 0 {
		a := pick(b.Attitude, attitude, b.Omega, x)
		before = motion.NewAttitude(p, a, b.InBody)
		f := before.Rates(pick(b.Rates, rate, 1, x))
		later := p.Affine(3, nil, program.Part{X: a, M: identity(3)}, program.Part{X: f, M: diagonal(same(3, h*b.Omega))})
		end := motion.NewAttitude(p, later, false)
		g := end.Rates(pick(b.Rates, rate, 1, x, d))
		d = put(d, b.Attitude, attitude, f, g)
	}
	if len(b.Position) == 0 {
		return d
	}
	if !b.InBody {
		return put(d, b.Position, position, pick(b.Velocity, velocity, 1, x), pick(b.Velocity, velocity, 1, x, d))
	}
	after := motion.NewAttitude(p, pick(b.Attitude, attitude, b.Omega, x, d), true)
	return put(d, b.Position, position, before.World(pick(b.Velocity, velocity, 1, x)), after.World(pick(b.Velocity, velocity, 1, x, d)))
}
