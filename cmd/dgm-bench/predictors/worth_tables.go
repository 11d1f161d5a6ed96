package predictors

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
)

// worthTables shows the parts of the recipe, a line each, and what matching changes where
// less was measured, a line for each recording and condition.
func worthTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	var groups []study.Group
	less := map[string]study.Group{}
	var places []string
	for _, r := range recordings() {
		of := study.Group(rows).Where(func(row *study.Row) bool { return row.Set == r.name })
		for _, p := range parts {
			if g := of.Where(func(row *study.Row) bool { return row.Variant == p.name }); len(g) > 0 {
				groups = append(groups, g)
			}
		}
		for _, c := range conditions {
			g := of.Where(func(row *study.Row) bool {
				return strings.HasPrefix(row.Variant, c.name+":") || c.name == "all" && slices.Contains(smoothers, row.Variant)
			})
			if len(g.Where(func(row *study.Row) bool { return strings.HasPrefix(row.Variant, c.name+":") })) > 0 {
				place := r.name + ":" + c.name
				places, less[place] = append(places, place), g
			}
		}
	}
	recording := study.ForSet("recording", func(set string) string { return find(set).title })
	out := []study.Table{{
		Name: "worth", Title: "What each part of the recipe is worth", Groups: groups,
		Columns: []study.Column{
			recording, {Head: "recipe", Cell: func(g study.Group) string {
				return parts[slices.IndexFunc(parts, func(p part) bool { return p.name == g[0].Variant })].title
			}},
			study.Count("seeds"), study.MeanOf("error", "geo", 4), list("in 95 %, by horizon", "coverage95_by_horizon"), worst, study.MeanOf("CRPS", "crps", 4), study.MeanOf("seconds", "seconds", 0),
		},
	}}
	matching := study.Table{
		Name: "worth-matching", Title: "What matching is worth where less was measured",
		Columns: []study.Column{recording, {Head: "measured", Cell: func(g study.Group) string { return conditionOf(g).title }}},
	}
	for _, place := range places {
		matching.Groups = append(matching.Groups, less[place])
	}
	for _, k := range netKinds {
		matching.Columns = append(matching.Columns, compared(k.title, k.name, "geo"))
	}
	for _, s := range smoothers {
		title := "smoother"
		if s == "matching" {
			title = "smoother with matching"
		}
		matching.Columns = append(matching.Columns, compared(title+": error", s, "geo"), compared("CRPS", s, "crps"))
	}
	return append(out, matching), nil
}

// worst is the least coverage of a channel at a horizon, with its place.
var worst = study.Column{Head: "worst in 95 %", Cell: func(g study.Group) string {
	if !g[0].Has("worst_coverage95") {
		return ""
	}
	return fmt.Sprintf("%s (%s)", study.Fixed(g[0].Number("worst_coverage95"), 2), g[0].Text("worst"))
}}

func conditionOf(g study.Group) *condition {
	for _, r := range g {
		name, _, less := strings.Cut(r.Variant, ":")
		if i := slices.IndexFunc(conditions, func(c condition) bool { return c.name == name }); less && i >= 0 {
			return &conditions[i]
		}
	}
	return &conditions[0]
}

// compared is a value of one kind of a condition, "none" where there were too few data for it.
func compared(head, kind, value string) study.Column {
	number := study.MeanOf(head, value, 4)
	of := study.Column{Head: head, Cell: func(g study.Group) string {
		if g[0].Text("failed") != "" {
			return "none"
		}
		return number.Cell(g)
	}}
	return of.Of(func(g study.Group) study.Group {
		return g.Where(func(r *study.Row) bool { return r.Variant == kind || strings.HasSuffix(r.Variant, ":"+kind) })
	})
}
