package dynamics

import (
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// Names of what Step reads and returns beside X and Plan.
const (
	First  = "first"  // weight of the first increment
	Second = "second" // and of the second
	Next   = "next"
)

// Step returns the program of the state a part σ of a step of a difference equation later, see the compiler's roll-out:
// inputs X (K×1), where there are inputs Plan (P×1), and the weights (1×1) that PartOfStep returns; output Next (K×1).
func Step(m *priordynamics.Model, K, P int) *program.Program {
	p := &program.Program{}
	x, u := p.Input(X, K, 1), program.None
	if P > 0 {
		u = p.Input(Plan, P, 1)
	}
	first, second := p.Input(First, 1, 1), p.Input(Second, 1, 1)
	d0 := Increment(p, m, x, u)
	sum := func(parts ...program.Reg) program.Reg {
		var all []program.Part
		for _, r := range parts {
			all = append(all, program.Part{X: r, M: identity(K)})
		}
		return p.Affine(K, nil, all...)
	}
	d1 := Increment(p, m, sum(x, d0), u)
	terms := make([]program.Term, K)
	for i := range terms {
		terms[i] = program.Term{Row: i, A: i, S: 1}
	}
	p.Output(Next, sum(x, p.Products(K, d0, first, terms), p.Products(K, d1, second, terms)))
	return p
}
