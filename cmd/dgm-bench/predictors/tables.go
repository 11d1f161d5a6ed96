package predictors

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
)

// detailed are the predictors whose intervals are shown.
var detailed = []string{ridgeName(5), ridgeName(20), petsName, rolloutsName, ours}

// tables shows the errors of all predictors, a line a recording, and the intervals of some, a
// line each.
func tables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	place := map[string]int{}
	for i, r := range recordings() {
		place[r.name] = i
	}
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b *study.Row) int { return place[a.Set] - place[b.Set] })
	errors := study.Table{
		Name: "rivals", Title: "Error of simple predictors and of the model",
		Columns: []study.Column{study.TextOf("recording", "recording")},
		Groups:  study.GroupBy(sorted, func(r *study.Row) string { return r.Set }),
	}
	names := []string{"velocity", "linear"} // hold has 1
	for _, n := range append([]int{0}, earlier...) {
		names = append(names, ridgeName(n))
	}
	for _, name := range append(names, petsName, rolloutsName, ours) {
		errors.Columns = append(errors.Columns, study.Column{Head: name, Cell: func(g study.Group) string {
			return errorOf(g.Where(func(r *study.Row) bool { return r.Text("predictor") == name }))
		}})
	}
	shown := slices.DeleteFunc(sorted, func(r *study.Row) bool { return !slices.Contains(detailed, r.Text("predictor")) })
	slices.SortStableFunc(shown, func(a, b *study.Row) int {
		return cmp.Or(place[a.Set]-place[b.Set], slices.Index(detailed, a.Text("predictor"))-slices.Index(detailed, b.Text("predictor")), cmp.Compare(a.Seed, b.Seed))
	})
	intervals := study.Table{
		Name: "rivals-intervals", Title: "Intervals of simple predictors and of the model", Groups: study.GroupBy(shown, study.Single),
		Columns: []study.Column{
			study.TextOf("recording", "recording"), {Head: "predictor", Cell: func(g study.Group) string {
				if name := g[0].Text("predictor"); name != ours {
					return name
				}
				return fmt.Sprintf("%s, seed %d", ours, g[0].Seed)
			}},
			list("in 95 %, by horizon", "coverage95_by_horizon"), list("in 50 %", "coverage50_by_horizon"),
			worst,
			study.MeanOf("width", "width", 3), study.MeanOf("CRPS", "crps", 3),
		},
	}
	return []study.Table{errors, intervals}, nil
}

// errorOf shows the error of a predictor's rows: with several seeds their mean, and from the
// least to the most.
func errorOf(rows study.Group) string {
	of := rows.Of("geo")
	if len(of) == 0 {
		return ""
	}
	text := study.Fixed(study.Mean(of), 3)
	if len(of) > 1 {
		text += fmt.Sprintf(" (%s-%s)", study.Fixed(slices.Min(of), 3), study.Fixed(slices.Max(of), 3))
	}
	return text
}

// list shows a list of shares.
func list(head, name string) study.Column {
	return study.Column{Head: head, Cell: func(g study.Group) string {
		var cells []string
		for _, v := range g[0].Numbers(name) {
			cells = append(cells, study.Fixed(v, 2))
		}
		return strings.Join(cells, " ")
	}}
}
