package predictors

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer"
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

// Steps of nets in a linear equation, a third of those of the default recipe.
const matchSteps, shootSteps = 2000, 500

// worthSettings returns the settings up to a part.
func worthSettings(c trainer.Config, name string) trainer.Config {
	c.Holdout, c.Members = 0, 1
	c.Dynamics.Match, c.Dynamics.Shoot = matchSteps, shootSteps
	for _, p := range parts {
		if p.change(&c); p.name == name {
			break
		}
	}
	return c
}

// WorthStudy returns the study "worth".
func WorthStudy() *study.Study {
	in := Folders{}
	var kinds []string
	for _, p := range parts {
		kinds = append(kinds, p.name)
	}
	return &study.Study{
		Name: "worth", Short: "Contribution of each part of the recipe on recorded robots",
		Seeds: 1, From: 1, Sets: names(recordings()), Usual: []string{"double", "single", "driven", "acrobot", "crazyflie-readme"}, Kinds: kinds,
		Needs: []string{"geo"}, Summary: []string{"geo", "crps", "seconds"},
		Long: `worth trains models of recorded robots with parts of the recipe added one by one, and scores them on the
windows of public: the prior dynamics alone, a smoother without and with the matching of derivatives, nets in the
linear equation trained by matching and then by shooting, the direct map without and with history, and the last one
without calibration.

The recipe is the default with one member, one net, a third of the nets' steps, and data held out only by folds.
Seconds are processor time.`,
		Example: `  dgm-bench worth --sets double,single
  dgm-bench worth --sets double --variants direct,history`,
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
	d, err := in.load(ctx, r, uint64(u.Seed))
	if err != nil {
		return u.Fail(ctx, err)
	}
	d.settings = worthSettings(d.settings, u.Variant)
	began := study.Busy()
	p, err := learned(ctx, d)
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return u.Fail(ctx, err)
	}
	p.name = u.Variant
	p.seconds = (study.Busy() - began).Seconds()
	u.Put("seconds", round(p.seconds, 1))
	return measure(u.Row, d, &p)
}

// worthTables shows the parts of the recipe, a line each.
func worthTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	var groups []study.Group
	for _, r := range recordings() {
		for _, p := range parts {
			if g := study.Group(rows).Where(func(row *study.Row) bool { return row.Set == r.name && row.Variant == p.name }); len(g) > 0 {
				groups = append(groups, g)
			}
		}
	}
	return []study.Table{{
		Name: "worth", Title: "What each part of the recipe is worth", Groups: groups,
		Columns: []study.Column{
			study.ForSet("recording", func(set string) string { return find(set).title }), {Head: "recipe", Cell: func(g study.Group) string {
				return parts[slices.IndexFunc(parts, func(p part) bool { return p.name == g[0].Variant })].title
			}},
			study.Count("seeds"), study.MeanOf("error", "geo", 4), list("in 95 %, by horizon", "coverage95_by_horizon"), worst, study.MeanOf("CRPS", "crps", 4), study.MeanOf("seconds", "seconds", 0),
		},
	}}, nil
}

// worst is the least coverage of a channel at a horizon, with its place.
var worst = study.Column{Head: "worst in 95 %", Cell: func(g study.Group) string {
	if !g[0].Has("worst_coverage95") {
		return ""
	}
	return fmt.Sprintf("%s (%s)", study.Fixed(g[0].Number("worst_coverage95"), 2), g[0].Text("worst"))
}}
