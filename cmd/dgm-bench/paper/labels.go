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
