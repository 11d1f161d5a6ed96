package predictors

import (
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
			if of := g.Where(is(name)); len(of) > 0 {
				return study.Fixed(of[0].Number("geo"), 3)
			}
			return ""
		}})
	}
	shown := slices.DeleteFunc(sorted, func(r *study.Row) bool { return !slices.Contains(detailed, r.Text("predictor")) })
	slices.SortStableFunc(shown, func(a, b *study.Row) int {
		if d := place[a.Set] - place[b.Set]; d != 0 {
			return d
		}
		return slices.Index(detailed, a.Text("predictor")) - slices.Index(detailed, b.Text("predictor"))
	})
	intervals := study.Table{
		Name: "rivals-intervals", Title: "Intervals of simple predictors and of the model", Groups: study.GroupBy(shown, study.Single),
		Columns: []study.Column{
			study.TextOf("recording", "recording"), study.TextOf("predictor", "predictor"),
			list("in 95 %, by horizon", "coverage95_by_horizon"), list("in 50 %", "coverage50_by_horizon"),
			worst,
			study.MeanOf("width", "width", 3), study.MeanOf("CRPS", "crps", 3),
		},
	}
	return []study.Table{errors, intervals}, nil
}

// is reports whether a row is of a predictor.
func is(predictor string) func(r *study.Row) bool {
	return func(r *study.Row) bool { return r.Text("predictor") == predictor }
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
