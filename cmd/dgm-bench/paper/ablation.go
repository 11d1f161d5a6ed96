package paper

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

// ablationStudy is the paper's first figure.
func ablationStudy() *study.Study {
	steps := 1500
	return &study.Study{
		Name: "ablation", Seeds: 3, Sets: []string{"lv100", "lo125", "dp100", "qu64"}, Usual: []string{"lo125"},
		Needs: []string{"training.loglik", "rmse_over_noise"}, Summary: []string{"training.loglik", "rmse_over_noise", "seconds"},
		Short: "Figure 1: joint and separate smoothers, with and without dynamics",
		Long: `ablation trains four models: one smoother of all trajectories or one for each, with derivatives matched to
dynamics or without. Smoothers of their own share the dynamics. Scores are of the truth along the trajectories
of the data, 100 points each; joint smoothers are scored on unseen starts too.`,
		Kinds: []string{"joint-with", "joint-without", "separate-with", "separate-without"}, Numbers: []study.Flag{stepsFlag(&steps)}, Tables: ablationTables,
		Run: func(ctx context.Context, u *study.Unit) error { return named(u.Set).ablate(ctx, u, steps) },
	}
}

func (s *set) ablate(ctx context.Context, u *study.Unit, steps int) error {
	d, unseen, err := s.both(u.Seed)
	if err != nil {
		return err
	}
	settings := paper.DefaultRecipe(d).Settings
	settings.Steps, settings.Support = steps, 30 // the paper's
	joint := strings.HasPrefix(u.Variant, "joint")
	if strings.HasSuffix(u.Variant, "without") {
		settings.Lambda, settings.Support = 0, 2
	}
	own, err := s.along(s.starts, span(s.end, testPoints))
	if err != nil {
		return err
	}
	began := time.Now()
	var fits []*paper.Fit
	if joint {
		f, err := paper.Train(ctx, d, settings, uint64(u.Seed))
		if err != nil {
			return err
		}
		fits = slices.Repeat([]*paper.Fit{f}, len(s.starts))
	} else if fits, err = paper.TrainSeparate(ctx, d, settings, uint64(u.Seed)); err != nil {
		return err
	}
	u.Put("seconds", time.Since(began).Seconds())
	next := 0 // trajectories are predicted in their order
	rmse, err := own.score(u.Row, "training.", d.K, func(mean, std, x0, times []float64) bool {
		next++
		return ofFit(fits[next-1])(mean, std, x0, times)
	})
	if err != nil {
		return err
	}
	u.Put("rmse_over_noise", s.relative(rmse))
	if joint {
		if _, err := unseen.score(u.Row, "unseen.", d.K, ofFit(fits[0])); err != nil {
			return err
		}
	}
	return nil
}

func ablationTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	var out []study.Table
	for _, of := range study.GroupBy(rows, func(r *study.Row) string { return r.Set }) {
		set := named(of[0].Set)
		t := study.Table{
			Name: "ablation-" + set.name, Title: "Joint smoothing and dynamics, " + set.label,
			Text: "Single fits. Scores of the truth between the observations of the training trajectories, and on unseen starts, for which a smoother of one trajectory has no prediction.",
			Columns: []study.Column{
				{Head: "smoother", Cell: func(g study.Group) string { kind, _, _ := strings.Cut(g[0].Variant, "-"); return kind }},
				{Head: "dynamics", Cell: func(g study.Group) string { _, dynamics, _ := strings.Cut(g[0].Variant, "-"); return dynamics }},
				study.Count("seeds"), study.SpreadOf("log likelihood", "training.loglik"), study.MeanOf("coverage 95", "training.coverage95", 2), study.MeanOf("rmse / noise", "rmse_over_noise", 2),
				study.SpreadOf("unseen", "unseen.loglik"), study.MeanOf("coverage 95", "unseen.coverage95", 2), study.MeanOf("seconds", "seconds", 0),
			},
		}
		for _, variant := range []string{"joint-without", "joint-with", "separate-without", "separate-with"} {
			if own := of.Where(func(r *study.Row) bool { return r.Variant == variant }); len(own) > 0 {
				t.Groups = append(t.Groups, own)
			}
		}
		out = append(out, t)
	}
	return out, nil
}
