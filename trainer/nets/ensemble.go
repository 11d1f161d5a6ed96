package nets

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/budget"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Ensemble is the trained members.
type Ensemble struct {
	Members []*Net
	Partial string // why the training ended early; empty = it did not
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
			b.Work(fmt.Sprintf("%s: step %d of %d", phase, step, set.Steps), b.Member/float64(set.Steps))
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
// alone. The noise is what the first member leaves; it hardly differs between members.
func (e Ensemble) Condition(d Data, set Posteriors, b *budget.Adaptation) (members, refits []model.Member, err error) {
	condition := func(net *Net, d Data, how Conditioning, variance bool, progress func(r model.Readout)) (model.Member, error) {
		m := model.Member{Map: net.Params.Map, OmegaSeed: net.OmegaSeed}
		for r := range model.Readout(set.Readouts) {
			progress(r)
			var noise []float64
			if len(members) > 0 {
				how.Passes, noise = 0, members[0].Posterior[r].LogSigma
			}
			post, err := Condition(net, d, r, how, noise)
			if err != nil {
				return m, err
			}
			if !variance {
				post.InverseFactor = nil
			}
			m.Posterior = append(m.Posterior, post)
		}
		return m, nil
	}
	for i, net := range e.Members {
		// Members differ in their means, hardly in their variances: the variance of the
		// first one is used for all, as it is while calibrating, and the file and every
		// prediction cost a third.
		m, err := condition(net, d, set.Conditioning, i < set.Variances, func(r model.Readout) {
			b.Work(fmt.Sprintf("member %d of %d: posterior, inputs %v", i+1, len(e.Members), r), b.Posterior/float64(set.Readouts))
		})
		if err != nil {
			return nil, nil, err
		}
		members = append(members, m)
	}
	rng := rand.New(rand.NewPCG(set.Seed, 0x626f6f74))
	for i := range set.Refits {
		again, how := d, set.Conditioning
		again.Windows, how.Seed = resample(d.Windows, set.Block, rng), set.Seed+uint64(i)+1
		m, err := condition(e.Members[i%len(e.Members)], again, how, false, func(model.Readout) { b.Say(fmt.Sprintf("refit %d of %d", i+1, set.Refits)) })
		if err != nil {
			return nil, nil, err
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

// Condition fits the posterior of a trained net to all windows, for one readout:
// the nets are frozen, the noise is estimated anew from residuals and posterior
// variance, because mini-batches fit their own rows too well and leave it too
// small:
//
//	σ² at a knot ← σ² · mean of (e² + v)/σ²(t) over the rows near it, a few times
//
// Where it comes to rest the likelihood's gradient by log σ is zero. (A mean of
// e² + v alone would put the noise of a whole interval on its knots, and the first
// of them, from which the sensor's variance is read, too high.)
//
// logSigma (K×Q) is where the noise starts from; nil = where training left it.
func Condition(net *Net, d Data, readout model.Readout, set Conditioning, logSigma []float64) (model.Posterior, error) {
	if logSigma == nil {
		logSigma = net.Params.LogSigma
	}
	logSigma = slices.Clone(logSigma)
	if net.Settings.Exact {
		return conditionExact(net, d, readout, set, logSigma)
	}
	return conditionFeatures(net, d, readout, set, logSigma)
}
