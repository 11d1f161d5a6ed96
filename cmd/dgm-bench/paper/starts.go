package paper

import (
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
)

// startStudy is the recipe where starts are measured.
func startStudy() *study.Study {
	return &study.Study{
		Name: "starts", Short: "The recipe where starts are measured instead of known",
		Seeds: 5, From: unseen, Version: always, Needs: recipeNeeds, Summary: recipeSummary, Sets: names(anySet), Kinds: []string{measured, trusted},
		Long: `starts follows the recipe on the data of single and multi with a start that is wrong by the noise of the
sensors: another measurement beside the first observation. Where the data say that starts are measured, those
of the trajectories are estimated along with the dynamics, and the intervals hold what is not known of them
(variant measured); else they count as exact (trusted). With one trajectory the model predicts from the start
that it was trained with. Unseen starts are measured as well: the truth begins elsewhere than where the model
is asked from, and the noise of one start is a bound of what any model can reach.`,
		Run: learnOnly, Tables: startTables,
	}
}

// startTables shows measured starts beside those that are trusted, and known ones.
func startTables(all *study.Results, rows []*study.Row) ([]study.Table, error) {
	known, err := ofTables(all)
	if err != nil {
		return nil, err
	}
	var groups []study.Group
	for _, g := range study.GroupBy(rows, study.BySet) {
		if g[0].Variant == measured {
			groups = append(groups, g)
		}
	}
	return []study.Table{{
		Name: "starts", Title: "Measured starts", Groups: groups,
		Text: "The start is a measurement with the noise of the sensors, in the data and in queries of unseen trajectories. Trusted: the recipe takes it for exact. Known: the exact start, on the same seeds.",
		Columns: []study.Column{
			label, study.Count("seeds"), study.SpreadOf("log likelihood", "loglik"), study.LeastOf("worst", "loglik"), study.MeanOf("coverage 50", "coverage50", 2), study.MeanOf("95", "coverage95", 2), relative,
			{Head: "trusted", Cell: func(g study.Group) string { return likelihoodOf(rows, g[0].Set, trusted) }},
			{Head: "known", Cell: func(g study.Group) string {
				same := known.Where(func(r *study.Row) bool { return len(g.Where(func(m *study.Row) bool { return m.Seed == r.Seed })) > 0 })
				return likelihoodOf(same, g[0].Set, "")
			}},
		},
	}}, nil
}
