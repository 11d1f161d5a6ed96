package motion

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// stiction is the dry friction of a joint that it holds at rest.
type stiction struct {
	angle, rate Role
	friction    int // parameter: the most that it slows by, rad/s²
	damping     int // parameter, 1/s
}

// stick declares the dry friction of a joint, which also has a damping.
func (b *builder) stick(angle, rate string, damping int, name, unit string) {
	roles := b.e.Roles
	b.sticks = append(b.sticks, stiction{roles[b.e.role(angle)], roles[b.e.role(rate)], b.parameter(name, unit), damping})
}

// slowed appends an increment after h seconds from states x whose joints are slowed by dry friction. With w the rate that a joint would
// have at the end of the step without it, d its friction and v its damping, which takes a share of what friction does within the step, the rate is
//
//	w − clamp(w, ±g) = w − ½|w + g| + ½|w − g|      g = d h/(1 + v h/2)
//
// which is 0 where friction can hold the joint: the implicit step of Coulomb's law (Moreau 1988), stable for steps of any length.
// The angle gains h/2 times what the rate does.
func (b *builder) slowed(increment, x program.Reg, h float64) program.Reg {
	n, K := len(b.sticks), b.Rows(x)
	if n == 0 {
		return increment
	}
	rates, out := make([]float64, n*K), make([]float64, K*n)
	for i, s := range b.sticks {
		rates[i*K+s.rate.State] = s.rate.Scale
		out[s.rate.State*n+i] = 0.5 / s.rate.Scale
		out[s.angle.State*n+i] = 0.25 * h / s.angle.Scale
	}
	less := make([]float64, len(out))
	for i, v := range out {
		less[i] = -v
	}
	free := []program.Part{{X: x, M: rates}, {X: increment, M: rates}}
	above, below := b.size(free, h), b.size(free, -h)
	return b.Affine(K, nil, program.Part{X: increment, M: diagonal(K, 1)}, program.Part{X: below, M: out}, program.Part{X: above, M: less})
}

// size appends |w + g|, or |w − g| for −h, a row for each joint, of rates w that are the sum of parts.
func (b *builder) size(w []program.Part, h float64) program.Reg {
	n := len(b.sticks)
	if b.theta == program.None {
		friction := make([]float64, n)
		for i, s := range b.sticks {
			friction[i] = h * b.value(s.friction) / (1 + math.Abs(h)/2*b.value(s.damping))
		}
		return b.Function(program.Abs, b.Affine(n, friction, w...))
	}
	m := len(b.e.Parameters)
	friction, damping, one := make([]float64, n*m), make([]float64, n*m), make([]float64, n)
	for i, s := range b.sticks {
		friction[i*m+s.friction], damping[i*m+s.damping], one[i] = h, math.Abs(h)/2, 1
	}
	damped := b.Function(program.Reciprocal, b.Affine(n, one, program.Part{X: b.theta, M: damping}))
	slows := b.Times(b.Affine(n, nil, program.Part{X: b.theta, M: friction}), damped)
	return b.Function(program.Abs, b.Affine(n, nil, append(w[:len(w):len(w)], program.Part{X: slows, M: diagonal(n, 1)})...))
}
