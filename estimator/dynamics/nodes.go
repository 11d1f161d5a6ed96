package dynamics

import (
	"sort"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/estimator/program"
)

// Nodes are the times at which the variances of the posterior are evaluated where there are many. They are smooth in time
// but where a block of the input's knots begins: between two such times they are interpolated by the cubic through the four
// equidistant nodes around a point. Where the input changes within a block their derivatives jump, and the interpolation
// is less accurate there.
type Nodes struct {
	Times   []float64
	Between []program.Entry // from the nodes to the times, four or fewer for each
}

// leastIntervals is how many intervals of nodes are between two such times: those of a cubic.
const leastIntervals = 3

// NodesOf returns at most so many nodes for ascending times; nil where all times are hardly more, or do not ascend.
func NodesOf(m *model.Model, times []float64, most int) *Nodes {
	n := len(times)
	if most == 0 || 2*n <= 3*most || !sort.Float64sAreSorted(times) || times[0] == times[n-1] {
		return nil
	}
	end := times[n-1]
	ends := []float64{times[0]}
	if m.P > 0 && m.Inputs.Causal {
		for j := range m.Inputs.Knots {
			if t := float64(j) * m.Horizon / float64(m.Inputs.Knots); t > ends[len(ends)-1] && t < end {
				ends = append(ends, t)
			}
		}
	}
	ends = append(ends, end)
	pieces := len(ends) - 1
	intervals := (most - 1) / pieces
	if intervals < leastIntervals {
		return nil
	}
	out := &Nodes{}
	for i, from := range ends[:pieces] {
		for j := range intervals {
			out.Times = append(out.Times, from+(ends[i+1]-from)*float64(j)/float64(intervals))
		}
	}
	out.Times = append(out.Times, end)
	for i, t := range times {
		first := min(sort.SearchFloat64s(ends[1:], t), pieces-1) * intervals
		x := (t - out.Times[first]) / (out.Times[first+1] - out.Times[first])
		least := max(0, min(int(x)-1, intervals-leastIntervals))
		for j, w := range cubic(x - float64(least)) {
			if w != 0 {
				out.Between = append(out.Between, program.Entry{To: i, From: first + least + j, W: w})
			}
		}
	}
	return out
}

// cubic returns the weights at x of the values at 0, 1, 2 and 3 (Lagrange).
func cubic(x float64) [leastIntervals + 1]float64 {
	a, b, c, d := x, x-1, x-2, x-3
	return [...]float64{-b * c * d / 6, a * c * d / 2, -a * b * d / 2, a * b * c / 6}
}

// Names of what Step reads and returns beside X and Plan.
const (
	First   = "first"   // weight of the first increment
	Second  = "second"  // and of the second
	Bias    = "bias"    // of the increments, state units
	Damping = "damping" // of the increments, times the state
	Mass    = "mass"    // of a robot that has one
	Next    = "next"
)

// Step returns the program of the state a part σ of a step of a difference equation later, see the compiler's roll-out:
// inputs X (K×1), where there are inputs Plan (P×1), the weights (1×1) that PartOfStep returns, and how the robot differs from the
// equation, Bias and Damping (K×1) and, if it has one, Mass (1×1), see priordynamics.Change; output Next (K×1).
func Step(m *priordynamics.Model, K, P int) *program.Program {
	p := &program.Program{}
	x, u := p.Input(X, K, 1), program.None
	if P > 0 {
		u = p.Input(Plan, P, 1)
	}
	first, second := p.Input(First, 1, 1), p.Input(Second, 1, 1)
	bias, damping, mass := p.Input(Bias, K, 1), p.Input(Damping, K, 1), program.None
	if m.Motion.HasMass() {
		mass = p.Input(Mass, 1, 1)
	}
	sum := func(parts ...program.Reg) program.Reg {
		var all []program.Part
		for _, r := range parts {
			all = append(all, program.Part{X: r, M: identity(K)})
		}
		return p.Affine(K, nil, all...)
	}
	var d [2]program.Reg
	for i := range d {
		at := x
		if i > 0 {
			at = sum(x, d[0])
		}
		d[i] = Increment(p, m, at, u, sum(bias, p.Times(damping, at)), mass)
	}
	terms := make([]program.Term, K)
	for i := range terms {
		terms[i] = program.Term{Row: i, A: i, S: 1}
	}
	p.Output(Next, sum(x, p.Products(K, d[0], first, terms), p.Products(K, d[1], second, terms)))
	return p
}
