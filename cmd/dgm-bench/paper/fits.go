package paper

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer/matching"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

// Studies of single fits: one smoother with its dynamics, trained by gradient matching, as
// the paper trains it.

// fit trains one model for the unit's seed and puts its scores into the row. A fit that
// fails numerically, or collapses from every start, is a result too.
func (s *set) fit(ctx context.Context, u *study.Unit, settings paper.Settings) error {
	d, on, err := s.both(u.Seed)
	if err != nil {
		return err
	}
	began := time.Now()
	f, err := paper.Train(ctx, d, settings, uint64(u.Seed))
	u.Put("seconds", time.Since(began).Seconds())
	var ask forecast
	if err == nil {
		u.Put("rerun", f.Rerun)
		ask, err = posteriorOf(f)
	}
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return u.Fail(ctx, err)
	}
	rmse, err := on.score(u.Row, "", d.K, ask)
	if err == nil {
		u.Put("rmse_over_noise", s.relative(rmse))
	}
	return err
}

// posteriorOf returns the forecast of a fit, with its exact kernel where it has that.
func posteriorOf(f *paper.Fit) (forecast, error) {
	if !f.Settings.Exact {
		return ofFit(f), nil
	}
	e, err := f.Exact()
	if err != nil {
		return nil, err
	}
	return sure(e.Predict), nil
}

// defaultFit returns the settings of a single fit with the defaults of this project.
func (s *set) defaultFit() paper.Settings {
	settings := paper.DefaultSettings()
	settings.Support = paper.DefaultRecipe(&paper.Data{Trajectories: make([]paper.Trajectory, len(s.starts))}).Support
	return settings
}

var fitSummary = []string{"loglik", "coverage95", "rmse_over_noise", "seconds"}

// phases are the lengths of the paper's transition and training phases, steps.
var phases = map[string][2]int{"lv1": {1000, 0}, "lo1": {1000, 0}, "dp1": {1000, 1000}, "qu1": {1000, 2000}}

// publishedFit returns the settings of the paper's appendix for one trajectory: core 10-5,
// sigmoid on both, exact kernel on three features a channel, matching and decay of the
// dynamics that rise from the first step to the end of the transition phase, and the last
// 1000 steps at a learning rate of 0.01. The paper chose learning rate and weight decay from
// three each. It does not state the noise at the start; this is the published code's,
// log(1 + e⁻²).
func (s *set) publishedFit(rate, decay float64) paper.Settings {
	p := phases[s.name]
	return paper.Settings{
		Core: []int{10, 5}, Act: mlp.Sigmoid, CoreEnd: mlp.Sigmoid, DynAct: mlp.Sigmoid, Dynamics: []int{20, 20}, D: 3, F: 2, Exact: true,
		Schedule: matching.Published(p[0], p[1], rate, decay), Sigma: 0.13,
	}
}

func publishedStudy() *study.Study {
	s := &study.Study{
		Name: "published", Short: "A single fit with the settings of the paper's appendix, and with the defaults of this project",
		Long: `published trains one model by gradient matching, as the paper does: with the settings of its appendix, for each
learning rate and weight decay that it chose from, and with the defaults of a single fit here (core 20-20-10,
100 random features, matching that begins after a fifth of the steps, the start as an exact observation).`,
		Seeds: 5, From: unseen, Sets: names((*set).single), Needs: []string{"loglik"}, Summary: fitSummary,
	}
	for _, rate := range []string{"0.02", "0.05", "0.1"} {
		for _, decay := range []string{"0.1", "0.5", "1"} {
			s.Kinds = append(s.Kinds, "rate-"+rate+"-decay-"+decay)
		}
	}
	s.Kinds = append(s.Kinds, "defaults")
	s.Run = func(ctx context.Context, u *study.Unit) error {
		set := named(u.Set)
		if u.Variant == "defaults" {
			return set.fit(ctx, u, set.defaultFit())
		}
		var rate, decay float64
		if _, err := fmt.Sscanf(u.Variant, "rate-%g-decay-%g", &rate, &decay); err != nil {
			return err
		}
		return set.fit(ctx, u, set.publishedFit(rate, decay))
	}
	s.Tables = publishedTables
	return s
}

// publishedTables shows of the nine pairs of rate and decay the middle one, and that whose
// mean is best by the truth.
func publishedTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	all := study.Table{
		Name: "published-all", Title: "Single fits with the published settings, every learning rate and weight decay", Groups: study.GroupBy(rows, study.BySet),
		Text:    "Each pair of learning rate and weight decay that the paper chose from, and the defaults of a single fit here.",
		Columns: append([]study.Column{label, {Head: "settings", Cell: func(g study.Group) string { return g[0].Variant }}}, fitColumns...),
	}
	out := study.Table{
		Name: "published", Title: "Single fits with the published settings",
		Text: "One smoother with its dynamics, trained by gradient matching: with the settings of the paper's appendix, learning rate 0.05 and weight decay 0.5; with the learning rate and weight decay of its nine whose mean is best by the truth; and with the defaults of a single fit here.",
		Columns: append([]study.Column{label, {Head: "settings", Cell: func(g study.Group) string {
			if g[0].Variant == "defaults" {
				return "defaults here"
			}
			return "published, " + strings.ReplaceAll(g[0].Variant, "-", " ")
		}}}, append(fitColumns, published)...),
	}
	for _, set := range sets() {
		var middle, best, defaults study.Group
		for _, g := range all.Groups {
			switch {
			case g[0].Set != set.name:
			case g[0].Variant == "defaults":
				defaults = g
			default:
				if g[0].Variant == "rate-0.05-decay-0.5" {
					middle = g
				}
				if best == nil || study.Mean(g.Of("loglik")) > study.Mean(best.Of("loglik")) {
					best = g
				}
			}
		}
		for i, g := range []study.Group{middle, best, defaults} {
			if g != nil && (i != 1 || middle == nil || best[0] != middle[0]) {
				out.Groups = append(out.Groups, g)
			}
		}
	}
	return []study.Table{out, all}, nil
}

// fitColumns are the scores of single fits.
var fitColumns = []study.Column{
	study.Count("seeds"), study.SpreadOf("log likelihood", "loglik"), study.LeastOf("worst", "loglik"),
	study.MeanOf("coverage 95", "coverage95", 2), study.RangeOf("of seeds", "coverage95"), study.MeanOf("rmse / noise", "rmse_over_noise", 2), study.MeanOf("seconds", "seconds", 0),
}

// timeStudy is the appendix' table of times.
func timeStudy() *study.Study {
	steps := paper.DefaultSettings().Steps
	return &study.Study{
		Name: "time", Seeds: 1, Sets: names(anySet), Needs: []string{"seconds"}, Summary: []string{"steps", "seconds"},
		Short: "Appendix: seconds of training, by phases and in all",
		Long: `time trains one model, as members are but for longer, on each set and measures the seconds of its phases: before
derivatives are matched, while the matching rises, and after. Where results of single and multi are stored, the
seconds of the whole recipe are shown beside, part by part.`,
		Numbers: []study.Flag{{Name: "steps", Usage: "steps of the training", Value: &steps, Least: 1, Changes: true}}, Tables: timeTables,
		Run: func(ctx context.Context, u *study.Unit) error {
			set := named(u.Set)
			d, err := set.draw(uint64(u.Seed))
			if err != nil {
				return err
			}
			settings := set.defaultFit()
			settings.Steps = steps
			began := time.Now()
			fit, err := paper.Train(ctx, d, settings, uint64(u.Seed))
			if err != nil {
				return err
			}
			u.Put("rows", d.Rows()).Put("steps", steps).Put("cores", runtime.GOMAXPROCS(0)).Put("seconds", time.Since(began).Seconds())
			u.Put("seconds_before_matching", fit.Seconds[0]).Put("seconds_rising", fit.Seconds[1]).Put("seconds_matching", fit.Seconds[2])
			return nil
		},
	}
}

func timeTables(all *study.Results, rows []*study.Row) ([]study.Table, error) {
	recipes, err := ofTables(all)
	if err != nil {
		return nil, err
	}
	rows = slices.Concat(rows, recipes)
	fit := func(g study.Group) study.Group { return g.Where(func(r *study.Row) bool { return r.Has("rows") }) }
	recipe := func(g study.Group) study.Group {
		return g.Where(func(r *study.Row) bool { return r.Has("phases.members") })
	}
	t := study.Table{
		Name: "time", Title: "Time of training", Groups: study.GroupBy(rows, func(r *study.Row) string { return r.Set }),
		Text: "Seconds. One fit: before derivatives are matched, while the matching rises, after, and in all. The recipe: gradient matching of all members, refinement of their dynamics, the smoother that predicts, and in all, mean over the seeds that are stored. " +
			"The paper's are of one fit on a GPU.",
		Columns: []study.Column{
			label, study.MeanOf("steps", "steps", 0).Of(fit), study.MeanOf("cores", "cores", 0).Of(fit), study.MeanOf("before", "seconds_before_matching", 1).Of(fit), study.MeanOf("rising", "seconds_rising", 1).Of(fit),
			study.MeanOf("after", "seconds_matching", 1).Of(fit), study.MeanOf("one fit", "seconds", 1).Of(fit), study.MeanOf("members", "phases.members", 0).Of(recipe), study.MeanOf("refinement", "phases.flows", 0).Of(recipe),
			study.MeanOf("smoother", "phases.smoother", 0).Of(recipe), study.MeanOf("recipe", "seconds", 0).Of(recipe), study.ForSet("paper", func(name string) string { return study.Fixed(named(name).seconds, 0) }),
		},
	}
	sortBy(t.Groups, func(g study.Group) float64 { return float64(placeOf(g[0].Set)) })
	return []study.Table{t}, nil
}
