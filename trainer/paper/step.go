package paper

import (
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/objective"
)

// Step is one step of the training of a fit, repeated to be timed: all terms of the
// objective in full, their gradient, and a step of the optimiser too small to change the
// parameters.
type Step struct{ *training }

// NewStep takes the memory of a training.
func NewStep(d *Data, set Settings, seed uint64) *Step {
	t := newTraining(scale(d), d, set, rand.New(rand.NewPCG(seed, 0x7061706572)))
	t.inTraining.SetWeights(&set.Schedule, 1, 1)
	return &Step{t}
}

// Run takes one step; ok is false where the numbers failed.
func (s *Step) Run() (ok bool) {
	if ok = s.Objective(true, true); ok {
		s.inTraining.Adam.Step(s.Params.Flat, s.inTraining.Grad.Flat, 1e-9)
	}
	return ok
}

// Objective evaluates the objective alone: with or without matching, with or without the
// gradient. It measures what the parts of a step cost.
func (s *Step) Objective(match, gradient bool) (ok bool) {
	weight := s.batch.Match
	var grad *objective.Params
	if !match {
		s.batch.Match = 0
	}
	if gradient {
		grad = s.inTraining.Grad
	}
	_, ok = s.inTraining.Objective.Evaluate(grad, s.Params, s.batch)
	s.batch.Match = weight
	return ok
}

// Rows returns the numbers of observations, those of the starts among them, and of
// support points.
func (s *Step) Rows() (n, ns int) { return s.batch.Obs.N, s.batch.Sup.N }

// MultiplyAdds returns how many of them the matrix products and factorisations of one
// step with random features need: where a result is symmetric or a factor triangular,
// those of one half. Per observation these are F²/2 for ΦᵀΦ and F² for Φ(A⁻¹ − 2C), per
// support point F²/2 each for Φ̇L⁻ᵀ, for L⁻¹ behind it and for C; L, L⁻¹ and L⁻ᵀL⁻¹ take
// F³/6 each.
//
//	K F² (3/2 N + 3/2 Ns + F/2)
//
// Added are those of the nets' products: of core and heads at every row, twice at support
// points, for the tangent, and of the dynamics at support points.
func (s *Step) MultiplyAdds() float64 {
	p := s.Params
	m := &p.Map
	n, ns := s.Rows()
	F := float64(m.Features())
	rows := float64(n + 2*ns)
	if s.batch.Sup == s.batch.Obs {
		rows = 2 * float64(n)
	}
	nets := rows*(products(&m.Core, false)+products(&m.Head, true)) + float64(ns)*products(&p.Dynamics, true)
	return float64(m.K)*(F*F*1.5*float64(n+ns)+F*F*F/2) + nets
}

// products returns the multiply-adds for a row forward and backward: the output, the
// weights' gradient and the adjoint of every layer's input, of the first one's where asked
// for.
func products(net *mlp.Net, input bool) (n float64) {
	for _, l := range net.Layers {
		n += float64(3 * l.In * l.Out)
	}
	if !input {
		n -= float64(net.Layers[0].In * net.Layers[0].Out)
	}
	return n
}
