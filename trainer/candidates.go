package trainer

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/nets"
)

// Candidate is a choice that was tried, with its mean log likelihood of data that
// it was not fitted to.
type Candidate struct {
	Core   string  `json:"core"`   // the smoother's core
	Basis  int     `json:"basis"`  // terms of the linear basis
	Temper float64 `json:"temper"` // κ
	Score  float64 `json:"score"`  // mean log likelihood a point, outliers capped
	Folds  bool    `json:"folds"`  // by all folds; else by the first one alone
}

// Untried says which choices were not made because the time was up: the safe or careful
// candidate was taken.
type Untried struct{ Core, Temper bool }

// core is a shape of the smoother's core.
type core struct {
	name   string
	widths []int
	act    mlp.Activation
	heads  int
}

// choose is the setting that leaves a choice to the data; for the basis it is −1.
const choose = "choose"

// cores lists what is tried, the safe one first. A linear core makes the kernel one of
// the inputs themselves: away from the data it falls off, the mean returns to the
// difference equation and the interval to that of the prior. Where data are many
// a curved core can follow what a stationary kernel cannot.
func (t *training) cores() []core {
	linear := core{name: "linear [8]", widths: []int{8}, act: mlp.Linear, heads: 6}
	var nets []core
	for _, a := range []struct {
		name string
		act  mlp.Activation
	}{{"tanh", mlp.Tanh}, {"sigmoid", mlp.Sigmoid}} {
		if own := t.cfg.Net.Activation; own == choose || own == a.name {
			nets = append(nets, core{name: fmt.Sprint(a.name, " ", t.cfg.Net.Core), widths: t.cfg.Net.Core, act: a.act, heads: t.cfg.Net.Heads})
		}
	}
	switch t.cfg.Core {
	case "linear":
		return []core{linear}
	case "net":
		return nets
	}
	return append([]core{linear}, nets...)
}

// bases lists the terms of the linear basis that are tried, the usual ones first. The
// others are tried with the first core alone, whose nets are kept: they only stand
// beside its features.
func (t *training) bases() []int {
	if t.cfg.Basis >= 0 {
		return []int{t.cfg.Basis}
	}
	return []int{usualBasis, usualBasis + 1, 0}
}

// usualBasis is [1, s, τ', τ's].
const usualBasis = 2

func (c core) apply(s nets.Settings) nets.Settings {
	s.Core, s.Activation, s.D = c.widths, c.act, c.heads
	return s
}

// tempers are the values of κ that are tried, from the middle outwards.
var tempers = []float64{1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001}

// trialTempers are those that a core is tried with.
var trialTempers = []float64{0.1, 0.01}

// carefulTemper is taken where there is no time or no data to choose: on the
// data sets tried, no interval came out too narrow with it.
const carefulTemper = 0.01

// middle is where the search over tempers begins.
const middle = 2

// trialRows bounds the rows that a posterior is conditioned on while choosing.
// The likelihood is tempered by the number of rows, so it hardly depends on it.
const trialRows = 4000

// margin is how much likelier, in nats a point, a later core must make the data:
// the first one is the safe one.
const margin = 0.03

// chooseCore fits one member of every core without the first fold, and scores it at
// its best temper. A later core, or another basis beside the features of the first, is
// taken only if it is better on that fold, which its net has not seen, and if the other
// folds, held out of the posterior alone, agree beyond their standard error. It returns
// the settings of the best; the frames have its basis.
func (t *training) chooseCore() (nets.Settings, error) {
	set := t.cfg.fitSettings()
	cores, bases := t.cores(), t.bases()
	chosen := trial{core: cores[0], basis: bases[0]}
	if len(cores)*len(bases) > 1 && len(t.folds) > 0 {
		var err error
		if chosen, err = t.tryAll(set, cores, bases); err != nil {
			return set, err
		}
		t.res.Untried.Core = chosen.scores == nil
	}
	t.setBasis(chosen.basis)
	t.res.Chosen.Core, t.res.Chosen.Basis = chosen.core.name, chosen.basis
	return chosen.core.apply(set), nil
}

// trial is a core with a basis, and what the folds said of it.
type trial struct {
	core   core
	basis  int
	temper float64
	scores []float64 // of the folds, at that temper; nil = not tried
}

// tryAll returns the best of the cores and bases. None is begun that would not end
// within their share of the budget, as far as the first one tells; where even that one
// does not, it is taken untried: what flies needs the time.
func (t *training) tryAll(set nets.Settings, cores []core, bases []int) (trial, error) {
	limited, cancel := context.WithTimeout(t.ctx, t.share(coreShare))
	defer cancel()
	best := trial{core: cores[0], basis: bases[0]}
	began, first := time.Now(), time.Duration(0)
	for i, c := range cores {
		left := float64(len(cores)-i) * workCore
		if i == 0 {
			left += float64(len(bases)-1) * workTemper
		}
		if time.Since(began)+first > t.share(coreShare) || limited.Err() != nil {
			t.meter.skip(left)
			break
		}
		half := limited
		if i == 0 { // to condition its nets on the folds takes as long as to train them
			ctx, done := context.WithTimeout(t.ctx, t.share(coreShare)/2)
			defer done()
			half = ctx
		}
		net, err := t.trainCore(half, c, best.basis, set, i)
		if err != nil {
			return best, err
		}
		if net.Stopped {
			t.meter.skip(left - workNets*float64(len(net.Curve))/float64(net.Settings.Steps))
			break
		}
		try := trial{core: c, basis: best.basis}
		if err := t.score(&try, net, trialTempers); err != nil {
			return best, err
		}
		if i == 0 || clearlyLikelier(try.scores, best.scores) {
			best = try
		}
		if i > 0 {
			continue
		}
		for n, basis := range bases[1:] {
			if limited.Err() != nil {
				t.meter.skip(float64(len(bases)-1-n) * workTemper)
				break
			}
			other := trial{core: c, basis: basis}
			if err := t.score(&other, net, []float64{try.temper}); err != nil {
				return best, err
			}
			if clearlyLikelier(other.scores, best.scores) {
				best = other
			}
		}
		first = time.Since(began)
	}
	return best, nil
}

// trainCore fits a core with half of the steps and without the first fold.
func (t *training) trainCore(ctx context.Context, c core, basis int, set nets.Settings, seed int) (*nets.Net, error) {
	t.setBasis(basis)
	s := c.apply(set)
	s.Steps = max(1, set.Steps/2)
	return nets.Train(ctx, t.folds[0].data, s, t.seed(seed), func(step int) {
		t.meter.work("choosing: core "+c.name, workNets/float64(s.Steps))
	})
}

// score conditions a net, beside the basis of the trial, on all folds with each of the
// tempers, and notes the likeliest of the first fold.
func (t *training) score(try *trial, net *nets.Net, tempers []float64) error {
	t.setBasis(try.basis)
	p := *net.Params
	p.Map.Basis = feature.Basis{Terms: try.basis}
	for _, temper := range tempers {
		n := *net
		n.Params, n.Settings.Temper = &p, temper
		o, err := t.outOfFold(&n, model.Plan, 1, trialRows)
		if err != nil {
			return err
		}
		these := calibrate(t.shell(t.data.Frame), o, t.cfg.Fold, nil).scores
		if try.scores == nil || these[0] > try.scores[0] {
			try.scores, try.temper = these, temper
		}
		t.res.Candidates = append(t.res.Candidates, Candidate{Core: try.core.name, Basis: try.basis, Temper: temper, Score: these[0]})
		t.meter.work(fmt.Sprintf("choosing: core %s, basis %d", try.core.name, try.basis), workTemper)
	}
	return nil
}

// setBasis gives all frames the linear basis of so many terms.
func (t *training) setBasis(terms int) {
	t.data.Frame = t.data.Frame.WithBasis(terms)
	for i := range t.folds {
		d := &t.folds[i].data
		d.Frame = d.Frame.WithBasis(terms)
	}
}

// clearlyLikelier reports whether a core with these scores of the folds is to take the
// place of a safer one: on the first fold by more than the margin, on all by more than
// luck.
func clearlyLikelier(scores, best []float64) bool {
	gain, luck := paired(scores, best)
	return scores[0] > best[0]+margin && gain > luck
}

// scoreFold conditions a net on a fold's data and replays what was left out.
func (t *training) scoreFold(net *nets.Net, f foldData, r model.Readout) (*outcomes, error) {
	post, err := nets.Condition(net, f.data, r, nil, t.cfg.Seed)
	if err != nil {
		return nil, err
	}
	m := t.shell(f.data.Frame)
	m.OOD = f.region
	m.Members = []model.Member{{Map: net.Params.Map, Posterior: []model.Posterior{post}}}
	m.Dynamics.Net = net.Params.Dynamics
	return replay(m, f.held, r, t.scoreStride(), t.cells)
}

// outOfFold returns what each fold says of a net that is conditioned on so many rows at
// most.
func (t *training) outOfFold(net *nets.Net, r model.Readout, passes, rows int) ([]*outcomes, error) {
	trial := *net
	trial.Settings.NoisePasses, trial.Settings.Rows = passes, min(net.Settings.Rows, rows)
	var all []*outcomes
	for _, f := range t.folds {
		o, err := t.scoreFold(&trial, f, r)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// chooseTemper looks for the temper under which the folds are likeliest (careful). All
// nets get it.
func (t *training) chooseTemper() error {
	if given := t.cfg.Fold.Temper; given > 0 || len(t.folds) == 0 || t.ctx.Err() != nil {
		if given == 0 {
			given = carefulTemper
			t.res.Untried.Temper = len(t.folds) > 0
		}
		for _, net := range t.nets {
			net.Settings.Temper = given
		}
		t.res.Chosen.Temper = given
		return nil
	}
	at, scores, err := careful(len(tempers), middle, func(i int) ([]float64, error) {
		trial := *t.nets[0]
		trial.Settings.Temper = tempers[i]
		o, err := t.outOfFold(&trial, model.Plan, 1, trialRows)
		if err != nil {
			return nil, err
		}
		scores := calibrate(t.shell(t.data.Frame), o, t.cfg.Fold, nil).scores
		t.res.Candidates = append(t.res.Candidates, Candidate{Core: t.res.Chosen.Core, Basis: t.res.Chosen.Basis, Temper: tempers[i], Score: mean(scores), Folds: true})
		t.meter.work(fmt.Sprintf("choosing: temper %g", tempers[i]), workTemper)
		return scores, nil
	}, func() bool { return t.ctx.Err() != nil })
	if err != nil {
		return err
	}
	for _, net := range t.nets {
		net.Settings.Temper = tempers[at]
	}
	t.res.Chosen.Temper, t.res.Chosen.Score, t.res.Chosen.Folds = tempers[at], mean(scores), true
	return nil
}

// careful chooses among n candidates in order, later ones being more careful, by their
// scores of the folds: it climbs from the first one given to the best mean, then goes
// on to later ones as long as the folds do not agree that they are worse, for a gain
// within its standard error is luck. When it is to stop, the best so far is taken.
func careful(n, first int, try func(i int) ([]float64, error), stop func() bool) (at int, scores []float64, err error) {
	tried := map[int][]float64{}
	score := func(i int) (float64, error) {
		if i < 0 || i >= n {
			return math.Inf(-1), nil
		}
		if _, ok := tried[i]; !ok {
			s, err := try(i)
			if err != nil {
				return 0, err
			}
			tried[i] = s
		}
		return mean(tried[i]), nil
	}
	at = first
	here, err := score(at)
	if err != nil {
		return at, nil, err
	}
	for _, direction := range []int{1, -1} {
		for !stop() {
			next, err := score(at + direction)
			if err != nil {
				return at, nil, err
			}
			if next <= here {
				break
			}
			at, here = at+direction, next
		}
	}
	for best := at; at+1 < n && !stop(); at++ {
		if _, err := score(at + 1); err != nil {
			return at, nil, err
		}
		if gain, luck := paired(tried[best], tried[at+1]); gain > luck {
			break
		}
	}
	return at, tried[at], nil
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x / float64(len(v))
	}
	return s
}
