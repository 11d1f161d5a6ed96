package paper

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/optimise"
)

// TrainSeparate fits a smoother of its own to every trajectory, and one dynamics to
// all of them: what joint smoothing is compared with. A smoother predicts its own
// trajectory only. Scalers are those of all data.
func TrainSeparate(ctx context.Context, d *Data, set Settings, seed uint64) ([]*Fit, error) {
	in := scale(d)
	M := len(d.Trajectories)
	fits, grads := make([]*Fit, M), make([]*objective.Params, M)
	objectives, adams := make([]*objective.Objective, M), make([]*optimise.Adam, M)
	best := make([][]float64, M)
	for j := range fits {
		f := &Fit{Inputs: in, Settings: set}
		f.Params = f.draw(d.K, rand.New(rand.NewPCG(seed, uint64(j)^0x736570)))
		ns := f.fill(&Data{K: d.K, Trajectories: d.Trajectories[j : j+1]})
		fits[j], grads[j] = f, f.Params.Like()
		objectives[j] = objective.New(objective.Spec{Lift: in.Lift, Scale: in.Lift.Std}, f.Params, f.batch.Obs.N, ns)
		adams[j] = optimise.NewAdam(len(f.Params.Flat))
		adams[j].Beta2 = 0.999
		best[j] = make([]float64, len(f.Params.Flat))
	}
	from, to := fits[0].Params.Range("dynamics")
	for _, f := range fits[1:] {
		copy(f.Params.Flat[from:to], fits[0].Params.Flat[from:to])
	}
	ampFrom, ampTo := fits[0].Params.Range("amplitude")
	for j, f := range fits {
		copy(best[j], f.Params.Flat)
	}
	rate := optimise.Cosine{From: set.Rate, To: set.Last, WarmUp: set.WarmUp, Steps: set.Steps}
	rise := optimise.Rise{From: set.From, To: set.To, Power: 0.8, Steps: set.Steps}
	fine := make([]bool, M)
	damp, failures := 1.0, 0
	shared := make([]float64, to-from)
	for step := range set.Steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		cores.Each(M, func(j int) {
			b := fits[j].batch
			b.Match = set.Lambda * rise.At(step) * float64(b.Obs.N) / float64(b.Sup.N)
			objectives[j].SetDecay(set.Decay, set.Decay*rise.At(step)/float64(M))
			fits[j].Parts, fine[j] = objectives[j].Evaluate(grads[j], fits[j].Params, b)
		})
		if slices.Contains(fine, false) {
			if failures++; failures > maxFailures {
				return nil, fmt.Errorf("separate fits failed numerically %d times by step %d", failures, step)
			}
			damp /= 2
			for j, f := range fits {
				copy(f.Params.Flat, best[j])
			}
			continue
		}
		// All hold the same dynamics and move it by the same gradient.
		clear(shared)
		for _, g := range grads {
			for i, v := range g.Flat[from:to] {
				shared[i] += v
			}
		}
		for j, f := range fits {
			g := grads[j]
			copy(g.Flat[from:to], shared)
			clear(g.Flat[ampFrom:ampTo])
			for k := range d.K {
				g.LogSigma[k*noiseKnots+1] = 0
			}
			copy(best[j], f.Params.Flat)
			adams[j].Step(f.Params.Flat, g.Flat, damp*rate.At(step))
		}
	}
	for j, f := range fits {
		if f.post = f.condition(); f.post == nil {
			return nil, fmt.Errorf("the posterior of trajectory %d cannot be conditioned", j)
		}
	}
	return fits, nil
}
