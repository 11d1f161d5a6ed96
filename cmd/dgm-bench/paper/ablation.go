package paper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/plot"
	"github.com/dgm-robotics/dgm/trainer/score"
)

// ablated is one finished seed of one of the four models.
type ablated struct {
	key
	Training scores    `json:"training"` // on the trajectories of the data
	Error    float64   `json:"rmse_over_noise"`
	Unseen   *scores   `json:"unseen,omitempty"` // on unseen starts, of joint smoothers
	Seconds  float64   `json:"seconds"`
	Mean     []float64 `json:"mean"` // of one channel of one trajectory, for the figure
	Std      []float64 `json:"std"`
}

// What the figure shows: the trajectory, its channel, and points along it.
const (
	ablatedTrajectory = 38
	ablatedPoints     = 40
)

// check demands what the table shows.
func (r *ablated) check() error {
	if strings.HasPrefix(r.Variant, "joint") && r.Unseen == nil {
		return errors.New("its scores on unseen starts are not there")
	}
	return nil
}

// ablationStudy is the paper's first figure.
func ablationStudy() *study[ablated] {
	usual := 1500
	steps := usual
	s := &study[ablated]{
		name: "ablation", files: "ablation", seeds: 3, sets: []string{"lv100", "lo125", "dp100", "qu64"}, usual: []string{"lo125"},
		short: "Figure 1: joint and separate smoothers, with and without dynamics",
		long: `ablation trains four models: one smoother of all trajectories or one for each, with derivatives matched to
dynamics or without. Smoothers of their own share the dynamics. Scores are of the truth along the trajectories
of the data, 100 points each; joint smoothers are asked for unseen starts too.`,
		kinds: []string{"joint-with", "joint-without", "separate-with", "separate-without"},
	}
	s.flags = func(cmd *cobra.Command) { cmd.Flags().IntVar(&steps, "steps", usual, "steps of the training") }
	s.check = func() error {
		if steps < 1 {
			return cli.Usage("--steps must be at least 1")
		}
		return nil
	}
	s.settings = func() string { return changed("steps", steps, usual) }
	s.run = func(ctx context.Context, _ string, k key) (*ablated, error) {
		set := named(k.Set)
		d, unseen, err := set.both(k.Seed)
		if err != nil {
			return nil, err
		}
		settings := paper.DefaultRecipe(d).Settings
		settings.Steps, settings.Support = steps, 30 // the paper's
		joint := strings.HasPrefix(k.Variant, "joint")
		if strings.HasSuffix(k.Variant, "without") {
			settings.Lambda, settings.Support = 0, 2
		}
		r := &ablated{key: k}
		own := &trial{times: span(set.end, testPoints), starts: set.starts}
		for _, x0 := range own.starts {
			x, err := set.truth(x0, own.times)
			if err != nil {
				return nil, err
			}
			own.truth = append(own.truth, x)
		}
		began := time.Now()
		var fits []*paper.Fit
		if joint {
			f, err := paper.Train(ctx, d, settings, uint64(k.Seed))
			if err != nil {
				return nil, err
			}
			for range set.starts {
				fits = append(fits, f)
			}
		} else if fits, err = paper.TrainSeparate(ctx, d, settings, uint64(k.Seed)); err != nil {
			return nil, err
		}
		r.Seconds = time.Since(began).Seconds()
		next := 0 // trajectories are asked for in their order
		q, err := score.Trajectories(own.predict(d.K, func(mean, std, x0, times []float64) {
			ofFit(fits[next])(mean, std, x0, times)
			next++
		}), d.K)
		if err != nil {
			return nil, err
		}
		r.Training, r.Error = scored(q), set.relative(q.RMSE)
		if joint {
			all, _, err := unseen.score(d.K, ofFit(fits[0]))
			if err != nil {
				return nil, err
			}
			r.Unseen = &all
		}
		times := span(set.end, ablatedPoints)
		m, sd := make([]float64, len(times)*d.K), make([]float64, len(times)*d.K)
		ofFit(fits[ablatedTrajectory])(m, sd, set.starts[ablatedTrajectory], times)
		for i := range times {
			r.Mean, r.Std = append(r.Mean, short(4, m[i*d.K])...), append(r.Std, short(3, sd[i*d.K])...)
		}
		return r, nil
	}
	s.tell = func(r *ablated) string {
		return fmt.Sprintf("log likelihood %.2f on trajectories of the data, rmse over noise %.2f, %.0f s", r.Training.LogLik, r.Error, r.Seconds)
	}
	s.sections = ablationSections
	return s
}

func ablationSections(_ string, all []*ablated) ([]section, error) {
	var out []section
	for _, set := range sets() {
		s := section{
			Title: "Joint smoothing and dynamics, " + set.label,
			Text:  "Single fits. Scores of the truth between the observations of the training trajectories, and on unseen starts, which a smoother of one trajectory cannot be asked for.",
			Head:  []string{"smoother", "dynamics", "seeds", "log likelihood", "coverage 95", "rmse / noise", "unseen", "coverage 95", "seconds"},
		}
		var sheet [][]plot.Chart
		for _, kind := range []string{"joint", "separate"} {
			var row []plot.Chart
			for _, dynamics := range []string{"without", "with"} {
				var own []*ablated
				for _, r := range all {
					if r.Set == set.name && r.Variant == kind+"-"+dynamics {
						own = append(own, r)
					}
				}
				if len(own) == 0 {
					continue
				}
				line := []string{
					kind, dynamics, fmt.Sprint(len(own)), spread(values(own, func(r *ablated) float64 { return r.Training.LogLik })),
					two(mean(values(own, func(r *ablated) float64 { return r.Training.Coverage95 }))), two(mean(values(own, func(r *ablated) float64 { return r.Error }))), "", "",
					whole(mean(values(own, func(r *ablated) float64 { return r.Seconds }))),
				}
				if kind == "joint" {
					line[6] = spread(values(own, func(r *ablated) float64 { return r.Unseen.LogLik }))
					line[7] = two(mean(values(own, func(r *ablated) float64 { return r.Unseen.Coverage95 })))
				}
				s.Rows = append(s.Rows, line)
				c, err := ablationChart(&set, own[0])
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
		if len(s.Rows) == 0 {
			continue
		}
		svg, err := plot.Sheet(s.Title, "mean and 95 % intervals of one trajectory of the data; the truth is dashed", sheet)
		if err != nil {
			return nil, err
		}
		s.Pictures = []picture{{"ablation-" + set.name, svg}}
		out = append(out, s)
	}
	return out, nil
}

// ablationChart draws what a result holds beside truth and observations.
func ablationChart(set *set, r *ablated) (plot.Chart, error) {
	d, err := set.draw(uint64(r.Seed))
	if err != nil {
		return plot.Chart{}, err
	}
	times := span(set.end, ablatedPoints)
	x, err := set.truth(set.starts[ablatedTrajectory], times)
	if err != nil {
		return plot.Chart{}, err
	}
	K := d.K
	one := *set
	one.plant.States = one.plant.States[:1]
	tr := score.Trajectory{Mean: r.Mean, Std: r.Std}
	for i := range times {
		tr.Truth = append(tr.Truth, x[i*K])
	}
	c := bands(&one, 0, times, []score.Trajectory{tr})
	dots := plot.Line{Color: plot.Measured, Dots: true}
	seen := &d.Trajectories[ablatedTrajectory]
	for i, t := range seen.T {
		dots.X, dots.Y = append(dots.X, t), append(dots.Y, seen.Y[i*K])
	}
	c.Lines = append(c.Lines, dots)
	return c, nil
}
