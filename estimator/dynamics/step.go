package dynamics

import (
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// Names of what Step reads and returns beside X and Plan.
const (
	First   = "first"   // weight of the first increment
	Second  = "second"  // and of the second
	Bias    = "bias"    // of the increments, state units
	Damping = "damping" // of the increments, times the state
	Next    = "next"
)

// Step returns the program of the state a part σ of a step of a difference equation later, see the compiler's roll-out:
// inputs X (K×1), where there are inputs Plan (P×1), the weights (1×1) that PartOfStep returns, and how the robot differs from the
// equation, Bias and Damping (K×1), see priordynamics.Change; output Next (K×1).
func Step(m *priordynamics.Model, K, P int) *program.Program {
	p := &program.Program{}
	x, u := p.Input(X, K, 1), program.None
	if P > 0 {
		u = p.Input(Plan, P, 1)
	}
	first, second := p.Input(First, 1, 1), p.Input(Second, 1, 1)
	bias, damping := p.Input(Bias, K, 1), p.Input(Damping, K, 1)
	sum := func(parts ...program.Reg) program.Reg {
		var all []program.Part
		for _, r := range parts {
			all = append(all, program.Part{X: r, M: identity(K)})
		}
		return p.Affine(K, nil, all...)
	}
	increment := func(x program.Reg) program.Reg {
		return Increment(p, m, x, u, sum(bias, p.Times(damping, x)))
	}
	d0 := increment(x)
	d1 := increment(sum(x, d0))
	terms := make([]program.Term, K)
	for i := range terms {
		terms[i] = program.Term{Row: i, A: i, S: 1}
	}
	p.Output(Next, sum(x, p.Products(K, d0, first, terms), p.Products(K, d1, second, terms)))
	return p
}
