package paper

import (
	"context"
	"fmt"
	"os"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

// tables is the study of one of the paper's tables of log likelihoods.
func tables(single bool) *study.Study {
	s := &study.Study{
		Name: "multi", File: "tables", Short: "Table 2: many trajectories, scored on ten unseen ones, drawn anew for each seed",
		Seeds: 5, From: unseen, Version: always, Needs: recipeNeeds, Summary: recipeSummary,
		Sets: names(func(s *set) bool { return s.single() == single }),
	}
	title, text := "Many trajectories, ten unseen starts", "The paper's Table 2: 100 points along each of ten trajectories, the start among them, from starts drawn anew for each seed."
	if single {
		s.Name, s.Short, s.Seeds = "single", "Table 1: one trajectory, scored on its own true states", 10
		title, text = "One trajectory", "The paper's Table 1: 100 points along the trajectory, the start among them."
	}
	s.Long = s.Short + `.

The recipe is the same for all sets, and chooses by the noisy data alone. Seeds are of noise and of unseen
starts. Settings were chosen with seeds below 200; those from 200 on were unseen, except for two changes of the
width that docs/paper.md names. Sets are lv (Lotka-Volterra), lo (Lorenz), dp (double pendulum) and qu
(quadrotor), with the number of trajectories. Coverage is of intervals of 50, 90 and 95 %. The trajectories of
seeds 0, 200, 400 … are drawn; "paper trajectories" draws those of others.`
	s.Run = func(ctx context.Context, u *study.Unit) error {
		if u.Seed%unseen == 0 { // one picture is enough, and costs nothing beside its training
			return learnAndDraw(ctx, u)
		}
		return learnOnly(ctx, u)
	}
	s.Tables = func(all *study.Results, rows []*study.Row) ([]study.Table, error) {
		by := study.GroupBy(rows, study.BySet)
		starts := measuredStarts(all)
		t := study.Table{
			Name: s.Name, Title: title, Groups: by,
			Text: text + " x0 measured: the log likelihood of the study starts, whose starts are measurements. Coverage: the share of the truth within intervals of so many per cent, mean over seeds. Rmse over noise: a geometric mean over channels. Seconds: of the whole recipe, by the clock, beside whatever else the computer did.",
			Columns: []study.Column{
				label, study.Count("seeds"), study.SpreadOf("log likelihood", "loglik"), study.MedianOf("median", "loglik"), study.LeastOf("worst", "loglik"), published,
				{Head: "x0 measured", Cell: func(g study.Group) string { return likelihoodOf(starts, g[0].Set, measured) }},
				study.MeanOf("coverage 50", "coverage50", 2), study.MeanOf("90", "coverage90", 2), study.MeanOf("95", "coverage95", 2), relative, study.MeanOf("seconds", "seconds", 0),
			},
		}
		coverage := study.Table{
			Name: s.Name + "-coverage", Title: title + ": coverage of single seeds", Groups: by,
			Text:    "How the share of the truth within intervals of 95 % is distributed over seeds: quantiles, and how many seeds are in each range.",
			Columns: []study.Column{label, study.Count("seeds"), study.LeastOf("least", "coverage95"), study.QuantileOf("first quartile", "coverage95", 0.25), study.MedianOf("median", "coverage95"), study.QuantileOf("third quartile", "coverage95", 0.75), study.QuantileOf("most", "coverage95", 1)},
		}
		for _, r := range [][2]float64{{0, 0.85}, {0.85, 0.9}, {0.9, 0.95}, {0.95, 0.98}, {0.98, 1.01}} {
			head := fmt.Sprintf("%.2f-%.2f", r[0], min(r[1], 1))
			coverage.Columns = append(coverage.Columns, study.Column{Head: head, Cell: func(g study.Group) string {
				return fmt.Sprint(len(g.Where(func(row *study.Row) bool { c := row.Number("coverage95"); return c >= r[0] && c < r[1] })))
			}})
		}
		err := drawLikelihoods(&t)
		return []study.Table{t, coverage}, err
	}
	return s
}

// ofTables returns the stored rows of both tables of log likelihoods.
func ofTables(store *study.Results) (all study.Group, err error) {
	for _, single := range []bool{true, false} {
		rows, err := tables(single).Gather(store)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// drawLikelihoods draws the log likelihood of every seed beside the paper's mean and standard
// deviation, set by set.
func drawLikelihoods(t *study.Table) error {
	c := plot.Chart{
		Title: t.Title, YLabel: "log likelihood of the truth",
		Description: "Log likelihood of the true states for every seed, the paper's mean and standard deviation beside it.",
	}
	for i, g := range t.Groups {
		s, x := named(g[0].Set), float64(i+1)
		low, high := s.paper[0]-s.paper[1], s.paper[0]+s.paper[1]
		c.XNames = append(c.XNames, s.label)
		c.Ribbons = append(c.Ribbons, plot.Ribbon{X: []float64{x - 0.3, x + 0.3}, Color: plot.Velocity, Opacity: 0.4, Low: []float64{low, low}, High: []float64{high, high}})
	}
	c.Ribbons[0].Name = "the paper, ± its standard deviation"
	of := func(g study.Group) []float64 { return g.Of("loglik") }
	lines := study.Levels(plot.Line{Color: plot.Model}, t.Groups, func(g study.Group) float64 { return study.Mean(of(g)) })
	seeds := study.Points(plot.Line{Name: "each seed, and their mean", Color: plot.Model, Dots: true}, t.Groups, nil, of)
	return t.Draw("paper-"+t.Name, c, append(lines, seeds)...)
}

// trajectories is the study of the appendix' plots. Its rows are those of the tables, which
// draw the same pictures.
func trajectories() *study.Study {
	return &study.Study{
		Name: "trajectories", File: "tables", Short: "Appendix: trajectories of the training and unseen ones, with 95 % intervals",
		Seeds: 1, From: unseen, Version: always, Needs: recipeNeeds, Summary: recipeSummary, Sets: names(anySet),
		Long: `trajectories draws what the model of the first seed of each set predicts, for a few trajectories of its data
and a few unseen ones. Results are those of single and multi, which draw the same pictures: a set
that they have finished does not run again, if its picture is there.`,
		Run: learnAndDraw,
		Whole: func(dir string, r *study.Row) bool {
			_, err := os.Stat(trajectoriesFile(dir, r.Key))
			return err == nil
		},
		Tables: func(all *study.Results, rows []*study.Row) ([]study.Table, error) {
			out := study.Table{
				Name: "trajectories", Title: "Trajectories",
				Text:    "Mean and 95 % intervals of the first seed, the truth dashed, observations as dots. Of one trajectory two channels; of many one of the data on the left, an unseen one on the right.",
				Columns: []study.Column{label, study.MeanOf("log likelihood", "loglik", 2), study.MeanOf("coverage 95", "coverage95", 2)},
			}
			for _, g := range study.GroupBy(rows, study.BySet) {
				for _, r := range g {
					if svg, err := os.ReadFile(trajectoriesFile(all.Dir, r.Key)); err == nil {
						out.Groups = append(out.Groups, study.Group{r})
						out.Pictures = append(out.Pictures, study.Picture{SVG: svg})
						break
					}
				}
			}
			if len(out.Groups) == 0 {
				return nil, nil
			}
			return []study.Table{out}, nil
		},
	}
}
