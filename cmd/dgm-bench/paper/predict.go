package paper

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/speed"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/score"
)

// The paper's times of 100 points, in ms: in closed form and by 200 samples.
var paperTimes = map[string][2]float64{"lv1": {0.68, 14.98}, "lo1": {0.99, 98.93}, "dp1": {1.31, 10.60}, "qu1": {3.76, 24.68}}

// predictStudy compares the closed form with what it replaces.
func predictStudy() *study.Study {
	duration, steps := 2*time.Second, usualSteps
	return &study.Study{
		Name: "predict", Seeds: 3, From: unseen, Version: always, Sets: names((*set).single), Tables: predictTables,
		Needs: []string{"fast_us", "montecarlo_us", "smoother.loglik", "rollouts.loglik", "samples"}, Summary: []string{"fast_us", "montecarlo_us", "smoother.loglik", "rollouts.loglik"},
		Short: "Table 1, right, and the figure on the number of samples: closed form against integrating samples",
		Long: `predict measures how long 100 points take, in closed form and as mean and standard deviation of 200 integrated
samples, on one core with the same kernels (see dgm-bench predict). Then it trains one model a seed and
samples whole trajectories of its dynamics, with one ε for each: their log likelihood against how many there
are, beside that of the closed form.`,
		Numbers: []study.Flag{study.Duration("duration", "how long a prediction's time is measured", &duration), stepsFlag(&steps)},
		Run:     func(ctx context.Context, u *study.Unit) error { return named(u.Set).forecasts(ctx, u, steps, duration) },
	}
}

// forecasts measures predictions, and scores the closed form and rollouts of one fit.
func (s *set) forecasts(ctx context.Context, u *study.Unit, steps int, duration time.Duration) error {
	d, on, err := s.both(u.Seed)
	if err != nil {
		return err
	}
	m, err := speed.Measure(&s.plant, 100, testPoints, nil, duration)
	if err != nil {
		return err
	}
	final := paper.DefaultRecipe(d).Final
	wide, err := speed.Measure(&s.plant, final.F, testPoints, final.Core, duration)
	if err != nil {
		return err
	}
	for _, name := range []string{"plain_us", "fast_us", "montecarlo_us", "montecarlo_together_us"} {
		u.Put(name, m.Number(name))
	}
	u.Put("recipe_us", wide.Number("fast_us")).Put("unit", m.Text("unit"))
	settings := paper.DefaultSettings()
	settings.Steps = steps
	fit, err := paper.Train(ctx, d, settings, uint64(u.Seed))
	if err != nil {
		return err
	}
	closed := on.predict(d.K, ofFit(fit))
	q, err := score.Trajectories(closed, d.K)
	if err != nil {
		return err
	}
	putScores(u.Row, "smoother.", q)
	rng := rand.New(rand.NewPCG(uint64(u.Seed), 0x726f6c6c))
	most := counts[len(counts)-1]
	var all [][]float64
	for range most {
		eps, x := make([]float64, d.K), make([]float64, len(on.times)*d.K)
		for i := range eps {
			eps[i] = rng.NormFloat64()
		}
		if fit.Rollout(x, eps, on.starts[0], on.times) {
			all = append(all, x)
		}
	}
	u.Put("lost", most-len(all))
	if err := scoreSamples(u.Row, "rollouts.", all, on.truth[0], d.K); err != nil {
		return fmt.Errorf("%d of %d rollouts did not stay finite: %w", most-len(all), most, err)
	}
	return nil
}

// ratio is the column of a mean over another.
func ratio(head, over, under string) study.Column {
	return study.Column{Head: head, Cell: func(g study.Group) string { return study.Fixed(study.Mean(g.Of(over))/study.Mean(g.Of(under)), 0) }}
}

// logLikAt returns the log likelihood of the first n samples of each row, or of as many as
// there are.
func logLikAt(g study.Group, n float64) []float64 {
	var out []float64
	for _, r := range g {
		all := r.Numbers("loglik_by_samples")
		v := all[len(all)-1]
		for i, c := range r.Numbers("samples") {
			if c == n {
				v = all[i]
			}
		}
		out = append(out, v)
	}
	return out
}

func predictTables(all *study.Results, rows []*study.Row) ([]study.Table, error) {
	by := study.GroupBy(rows, study.BySet)
	theirs := func(head string, of func(p [2]float64) float64) study.Column {
		return study.ForSet(head, func(name string) string { return study.Fixed(of(paperTimes[name]), 0) })
	}
	sampledAt := func(n float64) study.Column {
		return study.Column{Head: study.Fixed(n, 0) + " rollouts", Cell: func(g study.Group) string { return study.Spread(logLikAt(g, n)) }}
	}
	times := study.Table{
		Name: "predict-times", Title: "Time of a prediction, 100 points, µs", Groups: by,
		Text: "One core. Plain and fast: closed form, mean and standard deviation of every state, a model as the paper trains it; recipe: the same with the core of the recipe's smoother. Samples: mean and standard deviation of 200 trajectories, integrated one after the other, and sixteen at a time. The paper's times are of a GPU.",
		Columns: []study.Column{
			label, study.MeanOf("plain", "plain_us", 0), study.MeanOf("fast", "fast_us", 1), study.MeanOf("recipe", "recipe_us", 1), study.MeanOf("200 samples", "montecarlo_us", 0), study.MeanOf("together", "montecarlo_together_us", 0),
			ratio("times", "montecarlo_us", "fast_us"), ratio("recipe", "montecarlo_us", "recipe_us"),
			theirs("paper", func(p [2]float64) float64 { return 1000 * p[0] }), theirs("200 samples", func(p [2]float64) float64 { return 1000 * p[1] }), theirs("times", func(p [2]float64) float64 { return p[1] / p[0] }),
		},
	}
	number := study.Table{
		Name: "predict", Title: "Closed form against sampled trajectories of one fit", Groups: by,
		Text: "Log likelihood of the truth of single fits with the defaults of this project. Trajectories of its dynamics with one ε each, against the closed form; the start is left out of the samples' scores. Lost: rollouts that did not stay finite.",
		Columns: []study.Column{
			label, study.Count("seeds"), study.SpreadOf("closed form", "smoother.loglik"), published, study.MeanOf("coverage 95", "smoother.coverage95", 2),
			sampledAt(200), sampledAt(1000), study.MeanOf("coverage 95", "rollouts.coverage95", 2), study.MeanOf("lost", "lost", 0),
		},
	}
	return []study.Table{times, number}, nil
}
