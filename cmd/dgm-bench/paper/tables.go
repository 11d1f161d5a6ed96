package paper

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
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
(quadrotor), with the number of trajectories. Coverage is of intervals of 50, 90 and 95 %.`
	s.Run = learn
	s.Tables = func(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
		by := study.GroupBy(rows, study.BySet)
		t := study.Table{
			Name: s.Name, Title: title, Groups: by,
			Text: text + " Coverage: the share of the truth within intervals of so many per cent, mean over seeds. Rmse over noise: a geometric mean over channels. Seconds: of the whole recipe, by the clock, beside whatever else the computer did.",
			Columns: slices.Concat([]study.Column{
				label, study.Count("seeds"), study.SpreadOf("log likelihood", "loglik"), study.MedianOf("median", "loglik"), study.LeastOf("worst", "loglik"), published,
			}, quoted, []study.Column{
				study.MeanOf("coverage 50", "coverage50", 2), study.MeanOf("90", "coverage90", 2), study.MeanOf("95", "coverage95", 2), relative, study.MeanOf("seconds", "seconds", 0),
			}),
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
		return []study.Table{t, coverage}, nil
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

// always is the version of studies all of whose rows are the recipe's.
func always(string) int { return version }

func labelOf(name string) string {
	for _, s := range sets() {
		if s.name == name {
			return s.label
		}
	}
	return name
}

// sortBy orders groups by a number.
func sortBy(by []study.Group, of func(g study.Group) float64) {
	slices.SortStableFunc(by, func(a, b study.Group) int { return cmp.Compare(of(a), of(b)) })
}

// placeOf returns where a set is in the order of the paper's tables.
func placeOf(name string) int {
	return slices.IndexFunc(sets(), func(s set) bool { return s.name == name })
}

// label is the column of the line's set.
var label = study.ForSet("set", labelOf)

// published is the column of the paper's log likelihood.
var published = study.ForSet("paper", func(name string) string { return named(name).published() })

// quoted are the columns of the log likelihoods of other methods in the paper's tables: neural ODEs
// whose weights are sampled, and neural ODE processes. They are not run here.
var quoted = []study.Column{
	study.ForSet("SGLD, paper", func(name string) string {
		return map[string]string{"lv1": "1.03 ± 0.06", "lo1": "-2.67 ± 0.37", "dp1": "1.85 ± 0.05", "qu1": "NaN"}[name]
	}),
	study.ForSet("SGHMC, paper", func(name string) string {
		return map[string]string{"lv1": "1.36 ± 0.07", "lo1": "-3.02 ± 0.16", "dp1": "1.88 ± 0.05", "qu1": "-5.00 ± 1.36"}[name]
	}),
	study.ForSet("NDP, paper", func(name string) string {
		return map[string]string{"lv100": "0.62 ± 0.27", "lo125": "-2.85 ± 0.05", "dp100": "0.88 ± 0.05", "qu64": "-0.91 ± 0.07"}[name]
	}),
}

// relative is the column of the errors over the noise.
var relative = study.Column{Head: "rmse / noise", Cell: func(g study.Group) string {
	var v []float64
	for _, r := range g {
		if rmse := r.Numbers("rmse"); rmse != nil {
			v = append(v, named(r.Set).relative(rmse))
		}
	}
	return study.Fixed(study.Mean(v), 2)
}}
