package nets

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/budget"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Ensemble is the trained members.
type Ensemble struct {
	Members []*Net
	Partial string // why the training ended early; empty = it did not
}

func (e Ensemble) String() string {
	if e.Partial != "" {
		return fmt.Sprintf("%d members; %s", len(e.Members), e.Partial)
	}
	return fmt.Sprintf("%d members", len(e.Members))
}

// Train trains a member from each seed. When ctx ends, it returns the members that are
// whole, or the first one as it is.
func Train(ctx context.Context, d Data, set Settings, seeds []uint64, b *budget.Adaptation) (Ensemble, error) {
	var e Ensemble
	for i, seed := range seeds {
		if ctx.Err() != nil && i > 0 {
			if e.Partial == "" { // else the first one is not whole, which is the reason to report
				e.Partial = fmt.Sprintf("%v after %d of %d members", budget.Reason(ctx), i, len(seeds))
			}
			break
		}
		phase := fmt.Sprintf("member %d of %d", i+1, len(seeds))
		net, err := TrainMember(ctx, d, set, seed, func(step int) {
			b.Work(fmt.Sprintf("%s: step %d of %d", phase, step, set.Steps), budget.WorkMember/float64(set.Steps))
		})
		if err != nil {
			return e, err
		}
		if net.Stopped {
			e.Partial = fmt.Sprintf("%v at step %d of %d of %s", budget.Reason(ctx), len(net.Curve), set.Steps, phase)
			// Half a member beside whole ones makes the mean worse.
			if i > 0 {
				break
			}
		}
		e.Members = append(e.Members, net)
	}
	return e, nil
}

// Posteriors describes how the posteriors of an ensemble are conditioned.
type Posteriors struct {
	Conditioning
	Readouts  int
	Variances int // members that give a variance
	Refits    int // to resampled windows
	Block     int // neighbouring windows that are resampled together
}

// Condition conditions all members on the data, then refits of them to resampled data:
// what the mean would have been with other data of the same kind. Refits give a mean
// alone.
func (e Ensemble) Condition(d Data, set Posteriors, b *budget.Adaptation) (members, refits []model.Member, err error) {
	for i, net := range e.Members {
		m := model.Member{Map: net.Params.Map, OmegaSeed: net.OmegaSeed}
		for r := range set.Readouts {
			b.Work(fmt.Sprintf("member %d of %d: posterior, inputs %v", i+1, len(e.Members), model.Readout(r)), budget.WorkPosterior/float64(set.Readouts))
			// The noise is what the first member leaves; it hardly differs between members.
			how, noise := set.Conditioning, []float64(nil)
			if i > 0 {
				how.Passes, noise = 0, members[0].Posterior[r].LogSigma
			}
			post, err := Condition(net, d, model.Readout(r), how, noise)
			if err != nil {
				return nil, nil, err
			}
			// Members differ in their means, hardly in their variances: the variance of the
			// first one is used for all, as it is while calibrating, and the file and every
			// prediction cost a third.
			if i >= set.Variances {
				post.InverseFactor = nil
			}
			m.Posterior = append(m.Posterior, post)
		}
		members = append(members, m)
	}
	rng := rand.New(rand.NewPCG(set.Seed, 0x626f6f74))
	for i := range set.Refits {
		net, again, how := e.Members[i%len(e.Members)], d, set.Conditioning
		m := model.Member{Map: net.Params.Map, OmegaSeed: net.OmegaSeed}
		again.Windows = resample(d.Windows, set.Block, rng)
		how.Passes, how.Seed = 0, set.Seed+uint64(i)+1
		for r := range set.Readouts {
			b.Say(fmt.Sprintf("refit %d of %d", i+1, set.Refits))
			post, err := Condition(net, again, model.Readout(r), how, members[0].Posterior[r].LogSigma)
			if err != nil {
				return nil, nil, err
			}
			post.InverseFactor = nil
			m.Posterior = append(m.Posterior, post)
		}
		refits = append(refits, m)
	}
	return members, refits, nil
}

// resample draws as many windows as there are, in blocks of neighbours, since
// overlapping windows are not independent (Künsch 1989).
func resample(windows []window.Window, block int, rng *rand.Rand) []window.Window {
	out := make([]window.Window, 0, len(windows))
	for len(out) < len(windows) {
		at := rng.IntN(len(windows))
		for i := range min(block, len(windows)-len(out)) {
			out = append(out, windows[(at+i)%len(windows)])
		}
	}
	return out
}
