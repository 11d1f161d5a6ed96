package paper

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/optimise"
	"gonum.org/v1/gonum/floats"
)

// TrainSeparate fits a smoother of its own to every trajectory, and one dynamics to
// all of them: what joint smoothing is compared with. A smoother predicts its own
// trajectory only. Scalers are those of all data.
func TrainSeparate(ctx context.Context, d *Data, set Settings, seed uint64) ([]*Fit, error) {
	in := scale(d)
	M := len(d.Trajectories)
	fits, grads := make([]*Fit, M), make([]*objective.Params, M)
	objectives, groups := make([]*objective.Objective, M), make([]optimise.Group, M)
	for j := range fits {
		f := &Fit{Inputs: in, Settings: set}
		f.Params = f.draw(d.K, rand.New(rand.NewPCG(seed, uint64(j)^0x736570)))
		ns := f.fill(&Data{K: d.K, Trajectories: d.Trajectories[j : j+1]})
		fits[j], grads[j] = f, f.Params.Like()
		objectives[j] = objective.New(objective.Spec{Lift: in.Lift, Scale: in.Lift.Std}, f.Params, f.batch.Obs.N, ns)
		adam := optimise.NewAdam(len(f.Params.Flat))
		adam.Beta2 = 0.999
		groups[j] = optimise.Group{Params: f.Params.Flat, Grad: grads[j].Flat, Optimiser: adam}
	}
	from, to := fits[0].Params.Range("dynamics")
	for _, f := range fits[1:] {
		copy(f.Params.Flat[from:to], fits[0].Params.Flat[from:to])
	}
	rise := optimise.Ramp{From: set.From, To: set.To, Power: 0.8, Steps: set.Steps}
	fine, shared := make([]bool, M), make([]float64, to-from)
	loop := optimise.Loop{Steps: set.Steps, Rate: optimise.Cosine{From: set.Rate, To: set.Last, WarmUp: set.WarmUp, Steps: set.Steps}.At, MaxFailures: maxFailures, Groups: groups, Evaluate: func(step int) optimise.Outcome {
		cores.Each(M, func(j int) {
			b := fits[j].batch
			b.Match = set.Lambda * rise.At(step) * float64(b.Obs.N) / float64(b.Sup.N)
			objectives[j].SetDecay(set.Decay, set.Decay*rise.At(step)/float64(M))
			fits[j].Parts, fine[j] = objectives[j].Evaluate(grads[j], fits[j].Params, b)
		})
		if slices.Contains(fine, false) {
			return optimise.Failed
		}
		// All hold the same dynamics and move it by the same gradient.
		clear(shared)
		for _, g := range grads {
			floats.Add(shared, g.Flat[from:to])
		}
		for _, g := range grads {
			copy(g.Flat[from:to], shared)
			fix(g)
		}
		return optimise.Descend
	}}
	if _, err := loop.Run(ctx); err != nil {
		return nil, fmt.Errorf("separate fits: %w", err)
	}
	for j, f := range fits {
		if f.post = f.condition(); f.post == nil {
			return nil, fmt.Errorf("the posterior of trajectory %d cannot be conditioned", j)
		}
	}
	return fits, nil
}
