package motion

import "github.com/dgm-robotics/dgm/estimator/program"

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
//	w − f/(1 + v h/2)      f = clamp((1 + v h/2) w, ±d h) = ½|(1 + v h/2) w + d h| − ½|(1 + v h/2) w − d h|
//
// which is 0 where friction can hold the joint: the implicit step of Coulomb's law (Moreau 1988), stable for steps of any length.
// Coupled joints have shares in f as they have in what accelerates a joint, N f in place of f; what that of the others leaves is clamped once more,
// after that of each joint by itself. The angle gains h/2 times what the rate does.
func (b *builder) slowed(increment, x program.Reg, h float64) program.Reg {
	n, K := len(b.sticks), b.Rows(x)
	if n == 0 {
		return increment
	}
	rates, out := make([]float64, n*K), make([]float64, K*n)
	for i, s := range b.sticks {
		rates[i*K+s.rate.State] = s.rate.Scale
		out[s.rate.State*n+i] = -1 / s.rate.Scale
		out[s.angle.State*n+i] = -0.5 * h / s.angle.Scale
	}
	free := b.damped(b.Affine(n, nil, program.Part{X: x, M: rates}, program.Part{X: increment, M: rates}), h, false)
	off := b.friction(free, h)
	if len(b.shares) > 0 {
		off = b.friction(b.Affine(n, nil, program.Part{X: free, M: diagonal(n, 1)}, program.Part{X: b.law(n, b.sharesOf(off)...), M: diagonal(n, -1)}), h)
	}
	return b.Affine(K, nil, program.Part{X: increment, M: diagonal(K, 1)}, program.Part{X: b.damped(b.shared(off), h, true), M: out})
}

// friction appends clamp(w, ±d h), a row for each joint.
func (b *builder) friction(w program.Reg, h float64) program.Reg {
	n, m := len(b.sticks), len(b.e.Parameters)
	size := func(h float64) program.Reg { // |w + d h|
		if b.theta == program.None {
			most := make([]float64, n)
			for i, s := range b.sticks {
				most[i] = h * b.value(s.friction)
			}
			return b.Function(program.Abs, b.Affine(n, most, program.Part{X: w, M: diagonal(n, 1)}))
		}
		most := make([]float64, n*m)
		for i, s := range b.sticks {
			most[i*m+s.friction] = h
		}
		return b.Function(program.Abs, b.Affine(n, nil, program.Part{X: w, M: diagonal(n, 1)}, program.Part{X: b.theta, M: most}))
	}
	return b.Affine(n, nil, program.Part{X: size(h), M: diagonal(n, 0.5)}, program.Part{X: size(-h), M: diagonal(n, -0.5)})
}

// damped appends the rows of w, one for each joint, times 1 + v h/2, or over it.
func (b *builder) damped(w program.Reg, h float64, over bool) program.Reg {
	n, m := len(b.sticks), len(b.e.Parameters)
	if b.theta == program.None {
		times := make([]float64, n*n)
		for i, s := range b.sticks {
			if times[i*n+i] = 1 + h/2*b.value(s.damping); over {
				times[i*n+i] = 1 / times[i*n+i]
			}
		}
		return b.Affine(n, nil, program.Part{X: w, M: times})
	}
	damping, one := make([]float64, n*m), make([]float64, n)
	for i, s := range b.sticks {
		damping[i*m+s.damping], one[i] = h/2, 1
	}
	times := b.Affine(n, one, program.Part{X: b.theta, M: damping})
	if over {
		times = b.Function(program.Reciprocal, times)
	}
	return b.Times(w, times)
}
