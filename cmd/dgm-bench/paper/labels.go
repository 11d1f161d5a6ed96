package paper

import (
	"cmp"
	"slices"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
)

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
