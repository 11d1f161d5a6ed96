package paper

import (
	"context"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/speed"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

// The paper's times of 100 points, in ms: in closed form and by 200 integrated samples.
var paperTimes = map[string][2]float64{"lv1": {0.68, 14.98}, "lo1": {0.99, 98.93}, "dp1": {1.31, 10.60}, "qu1": {3.76, 24.68}}

// predictStudy measures the closed form.
func predictStudy() *study.Study {
	duration := 2 * time.Second
	return &study.Study{
		Name: "predict", Seeds: 3, From: unseen, Version: always, Sets: names((*set).single), Tables: predictTables,
		Needs: []string{"fast_us"}, Summary: []string{"fast_us", "recipe_us"},
		Short: "Table 1, right: time of the closed form, beside the paper's of integrating samples",
		Long: `predict measures how long 100 points take in closed form on one thread (see dgm-bench predict), with a model
in the paper's form and one in that of the recipe.`,
		Numbers: []study.Flag{study.Duration("duration", "how long a prediction's time is measured", &duration)},
		Run:     func(_ context.Context, u *study.Unit) error { return named(u.Set).forecasts(u, duration) },
	}
}

// forecasts measures predictions in the paper's form and in that of the recipe.
func (s *set) forecasts(u *study.Unit, duration time.Duration) error {
	m, err := speed.Measure(&s.plant, 100, testPoints, nil, duration)
	if err != nil {
		return err
	}
	final := paper.DefaultRecipe(&paper.Data{Trajectories: make([]paper.Trajectory, len(s.starts))}).Final
	wide, err := speed.Measure(&s.plant, final.F, testPoints, final.Core, duration)
	if err != nil {
		return err
	}
	for _, name := range []string{"plain_us", "fast_us"} {
		u.Put(name, m.Number(name))
	}
	u.Put("recipe_us", wide.Number("fast_us")).Put("unit", m.Text("unit"))
	return nil
}

func predictTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	by := study.GroupBy(rows, study.BySet)
	theirs := func(head string, of func(p [2]float64) float64) study.Column {
		return study.ForSet(head, func(name string) string { return study.Fixed(of(paperTimes[name]), 0) })
	}
	return []study.Table{{
		Name: "predict-times", Title: "Time of a prediction, 100 points, µs", Groups: by,
		Text: "One core. Plain and fast: closed form, mean and standard deviation of every state, a model as the paper trains it; recipe: the same with the core of the recipe's smoother. The paper has 200 integrated samples beside it. The paper's times are of a GPU.",
		Columns: []study.Column{
			label, study.MeanOf("plain", "plain_us", 0), study.MeanOf("fast", "fast_us", 1), study.MeanOf("recipe", "recipe_us", 1),
			theirs("paper", func(p [2]float64) float64 { return 1000 * p[0] }), theirs("200 samples", func(p [2]float64) float64 { return 1000 * p[1] }), theirs("times", func(p [2]float64) float64 { return p[1] / p[0] }),
		},
	}}, nil
}
