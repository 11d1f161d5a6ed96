package predictors

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/dynamicsnet"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/manipulator"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// part is a part of the recipe: what it changes in the settings of those before it.
type part struct {
	name, title string
	change      func(*trainer.Config)
}

// parts of the recipe, each on top of those before it; the last one takes a part away.
var parts = []part{
	{"prior", "equations and constant velocity", func(c *trainer.Config) {
		c.Smoother, c.Direct, c.History, c.Dynamics.Members, c.Training.Match = false, false, false, 0, 0
	}},
	{"smoother", "+ smoother without matching", func(c *trainer.Config) { c.Smoother = true }},
	{"matching", "+ matching", func(c *trainer.Config) { c.Training.Match = trainer.Default().Training.Match }},
	{"nets", "+ nets in the linear equation, by matching", func(c *trainer.Config) { c.Dynamics.Members, c.Dynamics.Shoot = 1, 0 }},
	{"shooting", "+ shooting of the nets", func(c *trainer.Config) { c.Dynamics.Shoot = shootSteps }},
	{"direct", "+ direct map", func(c *trainer.Config) { c.Direct = true }},
	{"history", "+ history of the direct map", func(c *trainer.Config) { c.History = true }},
	{"uncalibrated", "without calibration", func(c *trainer.Config) { c.Folds.ScaleFactor = false }},
}

// Steps of nets in a linear equation, a third of those of the default recipe, and how many
// steps of matching cost about as much as one of shooting.
const (
	matchSteps, shootSteps = 2000, 500
	shootCost              = 6
)

// worthSettings returns the settings up to a part.
func worthSettings(c trainer.Config, name string) trainer.Config {
	c.Holdout, c.Members, c.Budget = 0, 1, trainer.Duration(4*time.Hour)
	c.Dynamics.Match, c.Dynamics.Shoot = matchSteps, shootSteps
	for _, p := range parts {
		if p.change(&c); p.name == name {
			break
		}
	}
	return c
}

// netKind is how nets in a linear equation are trained, at about equal cost.
type netKind struct {
	name, title  string
	match, shoot int // steps
}

var netKinds = []netKind{
	{"nets-shot", "nets by shooting", 0, shootSteps + matchSteps/shootCost},
	{"nets-matched", "nets by matching", matchSteps + shootCost*shootSteps, 0},
	{"nets-both", "nets by matching, then shooting", matchSteps, shootSteps},
}

// smoothers are the parts that are compared where less was measured.
var smoothers = []string{"smoother", "matching"}

// variantOf names what is trained where less was measured.
func variantOf(c *condition, kind string) string { return c.name + ":" + kind }

// worthVariants returns the variants of both tables.
func worthVariants() []string {
	var all []string
	for _, p := range parts {
		all = append(all, p.name)
	}
	for i := range conditions {
		for _, k := range netKinds {
			all = append(all, variantOf(&conditions[i], k.name))
		}
		for _, s := range smoothers {
			if conditions[i].name != "all" { // those are parts
				all = append(all, variantOf(&conditions[i], s))
			}
		}
	}
	return all
}

// WorthStudy returns the study "worth".
func WorthStudy() *study.Study {
	in := Folders{}
	return &study.Study{
		Name: "worth", Short: "What each part of the recipe is worth on recorded robots",
		Seeds: 1, From: 1, Sets: names(recordings()), Usual: []string{"double", "single", "driven", "acrobot", "crazyflie-readme"}, Kinds: worthVariants(),
		Needs: []string{"geo"}, Summary: []string{"geo", "crps", "seconds"},
		Long: `worth trains models of recorded robots with one part of the recipe after the other, and scores them on the
windows of public: the prior dynamics alone, a smoother without and with the matching of derivatives, nets in the
linear equation trained by matching and by shooting, the direct map without and with history, and the last one
without calibration. Variants CONDITION:KIND are of training data with less in them: half or a quarter of each segment,
20 Hz, a random half of the samples, no velocities.

The recipe is the default with one member, one net, a third of the nets' steps, and nothing held out of training
but by the folds. Seconds are processor time.`,
		Example: `  dgm-bench worth --sets double,single
  dgm-bench worth --sets double --variants all:nets-shot,all:nets-matched`,
		Flags:  in.AddFlags,
		Tables: worthTables,
		Run:    func(ctx context.Context, u *study.Unit) error { return worth(ctx, u, in) },
	}
}

// worth trains a variant and scores it.
func worth(ctx context.Context, u *study.Unit, in Folders) error {
	r, err := in.needed(u.Set)
	if err != nil {
		return err
	}
	c, kind := &condition{}, u.Variant
	if name, of, less := strings.Cut(u.Variant, ":"); less {
		c, kind = &conditions[slices.IndexFunc(conditions, func(c condition) bool { return c.name == name })], of
	}
	d, err := in.loadLess(ctx, r, uint64(u.Seed), c)
	if err != nil {
		return u.Fail(ctx, err)
	}
	began := study.Busy()
	p, err := fitKind(ctx, d, kind)
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return u.Fail(ctx, err)
	}
	p.seconds = (study.Busy() - began).Seconds()
	u.Put("seconds", round(p.seconds, 1))
	return measure(u.Row, d, &p)
}

// fitKind trains nets alone, or the recipe up to a part.
func fitKind(ctx context.Context, d *data, kind string) (predictor, error) {
	if i := slices.IndexFunc(netKinds, func(k netKind) bool { return k.name == kind }); i >= 0 {
		return nets(ctx, d, netKinds[i].match, netKinds[i].shoot)
	}
	d.settings = worthSettings(d.settings, kind)
	p, err := learned(ctx, d)
	p.name = kind
	return p, err
}

// nets trains a net in a linear equation. Its intervals are those that cover 95 % of what
// folds hold out, as the baselines' are.
func nets(ctx context.Context, d *data, match, shoot int) (predictor, error) {
	split := window.Folds(d.train.Flights, d.task.Horizon, folds)
	set := dynamicsnet.Default(len(d.task.States))
	set.Match.Steps, set.Shoot.Steps = match, shoot
	seed := d.settings.Seed
	chain := manipulator.Identify(ctx, d.train.Flights, d.task)
	choice, err := dynamicsnet.Choose(ctx, split, d.task, d.train.Body, chain, set, seed)
	if err != nil {
		return predictor{}, err
	}
	whole, err := choice.Fit(ctx, d.train.Flights, []uint64{seed * 1000})
	if err != nil {
		return predictor{}, err
	}
	var held []point
	for _, fold := range choice.Folds {
		held = append(held, rolled(d, &fold[0]))
	}
	std, err := coveringStd(d, split, held)
	if err != nil {
		return predictor{}, err
	}
	return rolled(d, &whole[0]).with(std, fmt.Sprintf("%d steps of matching, %d of shooting", match, shoot), 0), nil
}

// rolled predicts by rolling a difference equation out.
func rolled(d *data, m *priordynamics.Model) point {
	K := len(d.task.States)
	roll := priordynamics.New(m, K, d.task.Horizon)
	return func(mean []float64, w *replay.Window) {
		roll.Run(w.X0, &w.Input)
		for i, t := range d.of.horizons {
			roll.At(mean[i*K:(i+1)*K], nil, t)
		}
		bound(mean)
	}
}
