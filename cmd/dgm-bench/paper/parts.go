package paper

import (
	"context"
	"slices"
	"strconv"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

// The variants of the study of the recipe's parts, and what each leaves out.
var withoutParts = []struct {
	name, label string
	leave       func(r *paper.Recipe)
}{

	{"whole", "nothing", func(*paper.Recipe) {}},
	{"untrained", "gradient matching: members stay untrained", func(r *paper.Recipe) { r.Steps = 0 }},
	{"nets-only", "polynomials: the dynamics are nets", func(r *paper.Recipe) { r.Plain = true }},
	{"one-member", "all members but one", func(r *paper.Recipe) { r.Members = 1 }},
	{"no-refits", "refits, which decide the width", func(r *paper.Recipe) { r.Refits = 0 }},
}

func partsStudy() *study.Study {
	s := &study.Study{
		Name: "recipe", Seeds: 5, From: unseen, Version: always, Needs: recipeNeeds, Summary: recipeSummary,
		Sets: []string{"lv1", "lo1", "dp1", "qu1", "lv100"}, Usual: []string{"lv1", "lo1", "dp1"},
		Short: "What each part of the recipe is worth: the recipe with one part left out",
		Long: `recipe follows the recipe with one part left out: without gradient matching (members stay as they were drawn),
without polynomials beside the nets of the dynamics, with one member, and without the refits that decide how
wide intervals are. Beside it are the scores of the parts alone: of the members, as gradient matching leaves
them, and of the refined dynamics, integrated.`,
	}
	for _, p := range withoutParts {
		s.Kinds = append(s.Kinds, p.name)
	}
	place := func(r *study.Row) int { return slices.Index(s.Kinds, r.Variant) }
	s.Run = func(ctx context.Context, u *study.Unit) error {
		_, err := named(u.Set).learn(ctx, u, withoutParts[place(u.Row)].leave)
		return err
	}
	s.Tables = func(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
		by := study.GroupBy(rows, study.BySet)
		sortBy(by, func(g study.Group) float64 { return float64(100*placeOf(g[0].Set) + place(g[0])) })
		return []study.Table{{
			Name: "recipe", Title: "What each part of the recipe is worth", Groups: by,
			Text: "The recipe with one part left out, on the same seeds. Members: the mean log likelihood of single members, as gradient matching leaves them. Refined dynamics: these integrated, with Laplace's covariance, without the start.",
			Columns: []study.Column{
				label, {Head: "left out", Cell: func(g study.Group) string { return withoutParts[place(g[0])].label }}, study.Count("seeds"),
				study.SpreadOf("log likelihood", "loglik"), study.LeastOf("worst", "loglik"), study.MeanOf("coverage 95", "coverage95", 2), study.RangeOf("of seeds", "coverage95"),
				{Head: "less than the whole, same seeds", Cell: func(g study.Group) string { return lossOf(g, rows) }}, members, study.MeanOf("refined dynamics", "flows.loglik", 2), study.MeanOf("seconds", "seconds", 0),
			},
		}}, nil
	}
	return s
}

// lossOf returns by how much log likelihood a group is below the whole recipe, mean over the
// seeds of both.
func lossOf(g study.Group, all study.Group) string {
	var lost []float64
	for _, r := range g {
		whole := all.Where(func(w *study.Row) bool { return w.Variant == "whole" && w.Set == r.Set && w.Seed == r.Seed })
		if r.Variant != "whole" && len(whole) > 0 {
			lost = append(lost, whole[0].Number("loglik")-r.Number("loglik"))
		}
	}
	if len(lost) == 0 {
		return ""
	}
	return study.Spread(lost)
}

// members is the column of the mean log likelihood of members.
var members = study.Column{Head: "members", Cell: func(g study.Group) string { return study.Fixed(meanMember(g), 2) }}

func meanMember(g study.Group) float64 {
	var v []float64
	for _, r := range g {
		if m := r.Numbers("members"); len(m) > 0 {
			v = append(v, study.Mean(m))
		}
	}
	return study.Mean(v)
}

// gridOfLV is LV 100 with another grid, 5 observations from each start.
func gridOfLV(side int) *set {
	s := *named("lv100")
	s.starts, s.points = grid(2, 0, 2, side, 0.5, 1.5), 5
	return &s
}

func learningStudy() *study.Study {
	members := paper.DefaultRecipe(&paper.Data{}).Members
	grids := []int{2, 3, 4, 6, 8, 10, 12}
	return &study.Study{
		Name: "learning", Sets: []string{"lv"}, Seeds: 3, From: unseen, Version: always, Needs: recipeNeeds, Summary: recipeSummary,
		Short: "Figure: Lotka-Volterra with a growing grid of trajectories",
		Long: `learning follows the recipe on Lotka-Volterra from grids of starts in the same box, 5 observations each, and
scores it on ten unseen starts.`,
		Numbers: []study.Flag{
			{Name: "members", Usage: "members of the recipe", Value: &members, Least: 1, Most: 20, Changes: true},
			{Name: "grids", Usage: "starts on each side of the grid, within 2 … 100", Value: &grids, Least: 2, Most: 100},
		},
		Variants: func() (all []string) {
			for _, g := range grids {
				all = append(all, strconv.Itoa(g))
			}
			return all
		},
		Run: func(ctx context.Context, u *study.Unit) error {
			side, err := strconv.Atoi(u.Variant)
			if err != nil {
				return err
			}
			if _, err = gridOfLV(side).learn(ctx, u, func(r *paper.Recipe) { r.Members = members }); err != nil {
				return u.Fail(ctx, err) // a grid from which nothing can be learned
			}
			return nil
		},
		Tables: learningTables,
	}
}

func learningTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	number := func(g study.Group) float64 { side, _ := strconv.ParseFloat(g[0].Variant, 64); return side * side }
	t := study.Table{
		Name: "learning", Title: "Learning curve", Groups: study.GroupBy(rows, study.BySet),
		Text: "Lotka-Volterra, 5 observations from every start of a grid, scored on ten unseen starts of the same box: the recipe, its refined dynamics integrated, and the mean of its members as gradient matching left them. The paper's DGM is at 1.81 with 100 trajectories, NDP at 0.62 and no better with more.",
		Columns: []study.Column{
			{Head: "trajectories", Cell: func(g study.Group) string { return study.Fixed(number(g), 0) }}, study.Count("seeds"), study.SpreadOf("recipe", "loglik"), study.LeastOf("worst", "loglik"),
			study.MeanOf("coverage 95", "coverage95", 2), study.MeanOf("refined dynamics", "flows.loglik", 2), members, study.MeanOf("seconds", "seconds", 0),
			{Head: "failed", Cell: func(g study.Group) string {
				return strconv.Itoa(len(g.Where(func(r *study.Row) bool { return r.Text("failed") != "" })))
			}},
		},
	}
	sortBy(t.Groups, number)
	return []study.Table{t}, nil
}
