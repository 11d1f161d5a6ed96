package selection

import (
	"context"
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/calibration"
	"github.com/dgm-robotics/dgm/trainer/nets"
)

// Core is a shape of the smoother's core.
type Core struct {
	Name       string
	Widths     []int
	Activation mlp.Activation
	Heads      int // smoother features a channel
}

// Linear is a linear core: it makes the kernel one of the inputs themselves. Away from
// the data it falls off, the mean returns to the prior dynamics and the interval to that
// of the prior. Where data are many a curved core can follow what a stationary kernel
// cannot.
func Linear() Core {
	return Core{Name: "linear [8]", Widths: []int{8}, Activation: mlp.Linear, Heads: 6}
}

// Apply returns settings with the core.
func (c Core) Apply(s nets.Settings) nets.Settings {
	s.Core, s.Activation, s.D = c.Widths, c.Activation, c.Heads
	return s
}

// UsualBasis is [1, s, τ', τ's].
const UsualBasis = 2

// Options are the cores and terms of the linear basis to choose from, the safe ones
// first. Bases are tried with the first core alone, whose nets are kept: a basis is
// only added to their features.
type Options struct {
	Cores []Core
	Bases []int
}

// trialTemperatures are those that a core is tried with.
var trialTemperatures = []float64{0.1, 0.01}

// Margin is how much likelier, in nats a point, a later core must make the data:
// the first one is the safe one.
const Margin = 0.03

// candidate is a core with a basis, and its scores.
type candidate struct {
	core        Core
	basis       int
	temperature float64
	scores      []float64 // of the folds, at that temperature; nil = not tried
}

// ChooseCore trains one member of every core with half of the steps, without the first
// fold, and scores it at its best temperature. A later core, or another basis beside the
// features of the first, is taken only if it is better on that fold, which its net has
// not seen, and if the other folds, held out of the posterior alone, agree beyond their
// standard error. seed returns the seed of each core.
func (c *Trials) ChooseCore(ctx context.Context, set nets.Settings, opt Options, seed func(i int) uint64) (Core, Choice, error) {
	best := candidate{core: opt.Cores[0], basis: opt.Bases[0]}
	search := coreSearch{Trials: c, set: set, opt: opt, seed: seed}
	if len(opt.Cores)*len(opt.Bases) > 1 && len(c.Folds.Folds) > 0 {
		if err := search.run(ctx, &best); err != nil {
			return best.core, search.choice, err
		}
		search.choice.Untried.Core = best.scores == nil
	}
	search.choice.Chosen = Candidate{Core: best.core.Name, Basis: best.basis}
	return best.core, search.choice, nil
}

// coreSearch is the state of a choice.
type coreSearch struct {
	*Trials
	set    nets.Settings
	opt    Options
	seed   func(i int) uint64
	choice Choice
}

// run moves best to the best of the cores and bases; those that ctx leaves no time for stay
// untried.
func (c *coreSearch) run(ctx context.Context, best *candidate) error {
	net, err := c.train(ctx, 0, best.basis)
	if err != nil {
		return err
	}
	if net.Stopped {
		left := float64(len(c.opt.Cores))*c.Budget.Core() + float64(len(c.opt.Bases)-1)*c.Budget.Trial
		c.Budget.Skip(left - c.Budget.CoreNets*float64(len(net.Curve))/float64(net.Settings.Steps))
		return nil
	}
	first := *best
	if err := c.score(&first, net, trialTemperatures); err != nil {
		return err
	}
	*best = first
	if err := c.bases(ctx, best, net, first); err != nil {
		return err
	}
	for i := 1; i < len(c.opt.Cores); i++ {
		left := float64(len(c.opt.Cores)-i) * c.Budget.Core()
		if ctx.Err() != nil {
			c.Budget.Skip(left)
			break
		}
		net, err := c.train(ctx, i, best.basis)
		if err != nil {
			return err
		}
		if net.Stopped {
			c.Budget.Skip(left - c.Budget.CoreNets*float64(len(net.Curve))/float64(net.Settings.Steps))
			break
		}
		other := candidate{core: c.opt.Cores[i], basis: best.basis}
		if err := c.score(&other, net, trialTemperatures); err != nil {
			return err
		}
		if clearlyLikelier(other.scores, best.scores) {
			*best = other
		}
	}
	return nil
}

// bases tries the other bases with the first core and its net, at its temperature.
func (c *coreSearch) bases(ctx context.Context, best *candidate, net *nets.Net, first candidate) error {
	for n, basis := range c.opt.Bases[1:] {
		if ctx.Err() != nil {
			c.Budget.Skip(float64(len(c.opt.Bases)-1-n) * c.Budget.Trial)
			break
		}
		other := candidate{core: first.core, basis: basis}
		if err := c.score(&other, net, []float64{first.temperature}); err != nil {
			return err
		}
		if clearlyLikelier(other.scores, best.scores) {
			*best = other
		}
	}
	return nil
}

// train trains core i with half of the steps and without the first fold.
func (c *coreSearch) train(ctx context.Context, i, basis int) (*nets.Net, error) {
	core := c.opt.Cores[i]
	set := core.Apply(c.set)
	set.Steps = max(1, set.Steps/2)
	return nets.TrainMember(ctx, c.Folds.WithBasis(basis).Folds[0].Data, set, c.seed(i), func(int) {
		c.Budget.Work("choosing: core "+core.Name, c.Budget.CoreNets/float64(set.Steps))
	})
}

// score conditions a net, beside the basis of the candidate, on all folds with each of
// the temperatures, and keeps the likeliest of the first fold.
func (c *coreSearch) score(try *candidate, net *nets.Net, temperatures []float64) error {
	folds, p, n := c.Folds.WithBasis(try.basis), *net.Params, *net
	p.Map.Basis = feature.Basis{Terms: try.basis}
	n.Params = &p
	for _, temperature := range temperatures {
		scores, err := c.scores(folds, &n, c.set.Posterior, temperature)
		if err != nil {
			return err
		}
		if try.scores == nil || scores[0] > try.scores[0] {
			try.scores, try.temperature = scores, temperature
		}
		c.choice.Candidates = append(c.choice.Candidates, Candidate{Core: try.core.Name, Basis: try.basis, Temperature: temperature, Score: scores[0]})
		c.Budget.Work(fmt.Sprintf("choosing: core %s, basis %d", try.core.Name, try.basis), c.Budget.Trial)
	}
	return nil
}

// clearlyLikelier reports whether a core with these scores of the folds replaces a
// safer one: it is better on the first fold by more than the margin, on all by more
// than the standard error.
func clearlyLikelier(scores, best []float64) bool {
	gain, standardError := calibration.PairedDifference(scores, best)
	return scores[0] > best[0]+Margin && gain > standardError
}
