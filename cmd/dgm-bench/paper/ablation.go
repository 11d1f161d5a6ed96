package paper

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/plot"
	"github.com/dgm-robotics/dgm/trainer/score"
)

// What the figure of the ablation shows: the trajectory, its first channel, and points along it.
const (
	ablatedTrajectory = 38
	ablatedPoints     = 40
)

// ablationStudy is the paper's first figure.
func ablationStudy() *study.Study {
	steps := 1500
	return &study.Study{
		Name: "ablation", Seeds: 3, Sets: []string{"lv100", "lo125", "dp100", "qu64"}, Usual: []string{"lo125"},
		Needs: []string{"training.loglik", "rmse_over_noise", "mean", "std"}, Summary: []string{"training.loglik", "rmse_over_noise", "seconds"},
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
	times := span(s.end, ablatedPoints)
	m, sd := make([]float64, len(times)*d.K), make([]float64, len(times)*d.K)
	ofFit(fits[ablatedTrajectory])(m, sd, s.starts[ablatedTrajectory], times)
	var mean, std []float64
	for i := range times {
		mean, std = append(mean, study.Short(4, m[i*d.K])...), append(std, study.Short(3, sd[i*d.K])...)
	}
	u.Put("mean", mean).Put("std", std)
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
		var sheet [][]plot.Chart
		for _, kind := range []string{"joint", "separate"} {
			var row []plot.Chart
			for _, dynamics := range []string{"without", "with"} {
				own := of.Where(func(r *study.Row) bool { return r.Variant == kind+"-"+dynamics })
				if len(own) == 0 {
					continue
				}
				t.Groups = append(t.Groups, own)
				c, err := ablationChart(set, own[0])
				if err != nil {
					return nil, err
				}
				c.Title = kind + " smoothing, " + dynamics + " dynamics"
				row = append(row, c)
			}
			if len(row) > 0 {
				sheet = append(sheet, row)
			}
		}
		svg, err := plot.Sheet(t.Title, "mean and 95 % intervals of one trajectory of the data; the truth is dashed", sheet)
		if err != nil {
			return nil, err
		}
		t.Pictures = []study.Picture{{Name: t.Name, SVG: svg}}
		out = append(out, t)
	}
	return out, nil
}

// ablationChart draws what a row holds beside truth and observations.
func ablationChart(s *set, r *study.Row) (plot.Chart, error) {
	d, err := s.draw(uint64(r.Seed))
	if err != nil {
		return plot.Chart{}, err
	}
	times := span(s.end, ablatedPoints)
	x, err := s.truth(s.starts[ablatedTrajectory], times)
	if err != nil {
		return plot.Chart{}, err
	}
	one := *s
	one.plant.States = one.plant.States[:1]
	tr := score.Trajectory{Mean: r.Numbers("mean"), Std: r.Numbers("std")}
	for i := range times {
		tr.Truth = append(tr.Truth, x[i*d.K])
	}
	c := bands(&one, 0, times, []score.Trajectory{tr})
	dots := plot.Line{Color: plot.Measured, Dots: true}
	seen := &d.Trajectories[ablatedTrajectory]
	for i, t := range seen.T {
		dots.X, dots.Y = append(dots.X, t), append(dots.Y, seen.Y[i*d.K])
	}
	c.Lines = append(c.Lines, dots)
	return c, nil
}
