package matching

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/optimise"
)

// maxFailures is how many evaluations that fail numerically a training survives: at each the
// step is taken back and the rate halved.
const maxFailures = 12

// Fit is a smoother with its dynamics in training, and the memory of its steps.
type Fit struct {
	Params, Grad *objective.Params
	Objective    *objective.Objective
	Batch        *objective.Batch
	Adam         *optimise.Adam
	Fixed        func(grad *objective.Params) // (optional) clears the gradient by what is not learned
	Parts        objective.Parts              // of the last evaluation whose step was not taken back

	parts  objective.Parts // of the last evaluation
	finite bool
}

// NewFit takes the memory for training parameters on batches of up to n observations and ns
// support points (0: the observations are the support).
func NewFit(spec objective.Spec, p *objective.Params, b *objective.Batch, n, ns int) *Fit {
	return &Fit{Params: p, Grad: p.Like(), Objective: objective.New(spec, p, n, ns), Batch: b, Adam: optimise.NewAdam(len(p.Flat))}
}

// SetWeights sets the weights of matching and decay, rise being between 0 and 1, for one of
// so many fits that share their dynamics.
func (f *Fit) SetWeights(s *Schedule, rise float64, sharing int) {
	b := f.Batch
	b.Match = s.Lambda * rise
	if b.Sup != b.Obs {
		b.Match = b.Match * float64(b.Obs.N) / float64(b.Sup.N)
	}
	b.Match *= b.C
	f.Objective.SetDecay(s.DecayS, s.DecayD*rise/float64(sharing))
}

// evaluate sets the gradient.
func (f *Fit) evaluate(s *Schedule, rise float64, sharing int) {
	f.SetWeights(s, rise, sharing)
	f.parts, f.finite = f.Objective.Evaluate(f.Grad, f.Params, f.Batch)
	if f.Fixed != nil {
		f.Fixed(f.Grad)
	}
	if s.ClipNorm > 0 {
		f.finite = f.finite && !math.IsNaN(optimise.Clip(f.Grad.Flat, s.ClipNorm))
		return
	}
	f.finite = f.finite && !slices.ContainsFunc(f.Grad.Flat, math.IsNaN)
}

// Training is that of smoothers that share one dynamics.
type Training struct {
	Schedule
	Fits  []*Fit
	Draw  func()                             // (optional) fills the batches for a step
	Moved func(step int, rate, rise float64) // (optional) is called after every step
}

// Run trains. The error is that of ctx, when it ended before the last step, or an
// *optimise.DivergedError.
func (t *Training) Run(ctx context.Context) error {
	from, to := t.Fits[0].Params.Range("dynamics")
	rise, shared := t.rise(), make([]float64, to-from)
	loop := optimise.Loop{Steps: t.Steps, Rate: t.rate(), MaxFailures: maxFailures}
	for _, f := range t.Fits {
		copy(f.Params.Flat[from:to], t.Fits[0].Params.Flat[from:to])
		loop.Groups = append(loop.Groups, optimise.Group{Params: f.Params.Flat, Grad: f.Grad.Flat, Optimiser: f.Adam})
	}
	loop.Evaluate = func(step int) optimise.Outcome {
		if t.Draw != nil {
			t.Draw()
		}
		cores.Each(len(t.Fits), func(i int) { t.Fits[i].evaluate(&t.Schedule, rise.At(step), len(t.Fits)) })
		if slices.ContainsFunc(t.Fits, func(f *Fit) bool { return !f.finite }) {
			return optimise.Failed
		}
		t.share(shared, from, to)
		return optimise.Descend
	}
	loop.Moved = func(step int, rate float64) {
		for _, f := range t.Fits {
			f.Parts = f.parts
		}
		if t.Moved != nil {
			t.Moved(step, rate, rise.At(step))
		}
	}
	_, err := loop.Run(ctx)
	return err
}

// share gives all fits the sum of their gradients of the dynamics: these are the same, and
// move alike.
func (t *Training) share(sum []float64, from, to int) {
	if len(t.Fits) == 1 {
		return
	}
	clear(sum)
	for _, f := range t.Fits {
		floats.Add(sum, f.Grad.Flat[from:to])
	}
	for _, f := range t.Fits {
		copy(f.Grad.Flat[from:to], sum)
	}
}
