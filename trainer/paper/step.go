package paper

import (
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/optimise"
)

// Step is one step of the training of a fit, again and again, to be timed: all terms
// of the objective in full, their gradient, and a step of the optimiser too small to
// lead anywhere.
type Step struct {
	fit  *Fit
	o    *objective.Objective
	grad *objective.Params
	adam *optimise.Adam
}

// NewStep takes the memory of a training.
func NewStep(d *Data, set Settings, seed uint64) *Step {
	rng := rand.New(rand.NewPCG(seed, 0x7061706572))
	f := &Fit{Inputs: scale(d), Settings: set}
	f.Params = f.draw(d.K, rng)
	ns := f.fill(d)
	f.batch.Match = set.Lambda * float64(f.batch.Obs.N) / float64(f.batch.Sup.N)
	s := &Step{
		fit: f, grad: f.Params.Like(), adam: optimise.NewAdam(len(f.Params.Flat)),
		o: objective.New(objective.Spec{Lift: f.Inputs.Lift, Scale: f.Inputs.Lift.Std, Exact: set.Exact}, f.Params, f.batch.Obs.N, ns),
	}
	s.o.SetDecay(set.Decay, set.Decay)
	return s
}

// Run takes one step; ok is false where the numbers failed.
func (s *Step) Run() (ok bool) {
	if _, ok = s.o.Evaluate(s.grad, s.fit.Params, s.fit.batch); ok {
		s.adam.Step(s.fit.Params.Flat, s.grad.Flat, 1e-9)
	}
	return ok
}

// Objective evaluates the objective alone: with or without matching, with or without the
// gradient. It measures what the parts of a step cost.
func (s *Step) Objective(match, gradient bool) (ok bool) {
	b := *s.fit.batch
	grad := s.grad
	if !match {
		b.Match = 0
	}
	if !gradient {
		grad = nil
	}
	_, ok = s.o.Evaluate(grad, s.fit.Params, &b)
	return ok
}

// Rows returns the numbers of observations, those of the starts among them, and of
// support points.
func (s *Step) Rows() (n, ns int) { return s.fit.batch.Obs.N, s.fit.batch.Sup.N }

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
	m := &s.fit.Params.Map
	n, ns := s.Rows()
	F := float64(m.Features())
	rows := float64(n + 2*ns)
	if s.fit.batch.Sup == s.fit.batch.Obs {
		rows = 2 * float64(n)
	}
	nets := rows*(products(&m.Core, false)+products(&m.Head, true)) + float64(ns)*products(&s.fit.Params.Dynamics, true)
	return float64(m.K)*(F*F*1.5*float64(n+ns)+F*F*F/2) + nets
}

// products returns the multiply-adds for a row there and back: the output, the weights'
// gradient and the adjoint of every layer's input, of the first one's where asked for.
func products(net *mlp.Net, input bool) (n float64) {
	for i := range net.Layers {
		l := &net.Layers[i]
		each := 3
		if i == 0 && !input {
			each = 2
		}
		n += float64(each * l.In * l.Out)
	}
	return n
}
