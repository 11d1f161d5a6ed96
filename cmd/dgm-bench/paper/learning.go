package paper

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

// learned is the recipe on a grid of starts; Failed says why there is no model.
type learned struct {
	result
	Failed string `json:"failed,omitempty"`
}

// check lets pass what has failed: that is a result.
func (r *learned) check() error {
	if r.Failed != "" {
		return nil
	}
	return r.result.check()
}

// learningStudy is the paper's figure on the number of trajectories.
func learningStudy() *study[learned] {
	members := paper.DefaultRecipe(&paper.Data{}).Members
	usual := members
	grids := []int{2, 3, 4, 6, 8, 10, 12}
	s := &study[learned]{
		name: "learning", files: "learning", sets: []string{"lv"}, seeds: 3, from: unseen, recipe: always,
		short: "Figure: Lotka-Volterra with a growing grid of trajectories",
		long: `learning follows the recipe on Lotka-Volterra from grids of starts in the same box, 5 observations each, and
scores it on ten unseen starts.`,
	}
	s.flags = func(cmd *cobra.Command) {
		cmd.Flags().IntSliceVar(&grids, "grids", grids, "starts on each side of the grid")
		cmd.Flags().IntVar(&members, "members", members, "members of the recipe")
	}
	s.check = func() error {
		if members < 1 || len(grids) == 0 || slices.Min(grids) < 2 || members > 20 || slices.Max(grids) > 100 {
			return cli.Usage("--members must be within 1 … 20 and --grids within 2 … 100")
		}
		return nil
	}
	s.settings = func() string { return changed("members", members, usual) }
	s.variants = func() []string {
		var all []string
		for _, g := range grids {
			all = append(all, strconv.Itoa(g))
		}
		return all
	}
	s.run = func(ctx context.Context, _ string, k key) (*learned, error) {
		side, err := strconv.Atoi(k.Variant)
		if err != nil {
			return nil, err
		}
		_, r, err := gridOfLV(side).learn(ctx, k, func(r *paper.Recipe) { r.Members = members })
		if err != nil && ctx.Err() == nil {
			return &learned{result: result{key: k}, Failed: err.Error()}, nil
		}
		if err != nil {
			return nil, err
		}
		return &learned{result: *r}, nil
	}
	s.tell = func(r *learned) string {
		if r.Failed != "" {
			return r.Failed
		}
		return r.result.tell()
	}
	s.sections = learningSections
	return s
}

func learningSections(_ string, all []*learned) ([]section, error) {
	s := section{
		Title: "Learning curve",
		Text:  "Lotka-Volterra, 5 observations from every start of a grid, scored on ten unseen starts of the same box: the recipe, its refined dynamics integrated, and the mean of its members as gradient matching left them. The paper's DGM is at 1.81 with 100 trajectories, NDP at 0.62 and no better with more. Members below -3 are not drawn.",
		Head:  []string{"trajectories", "seeds", "recipe", "worst", "coverage 95", "refined dynamics", "members", "seconds", "failed"},
	}
	c := plot.Chart{Title: "Learning curve, Lotka-Volterra", XLabel: "trajectories of 5 observations", YLabel: "log likelihood, unseen starts", XLog: true, Description: "Log likelihood on unseen starts against the number of training trajectories."}
	recipe := plot.Line{Name: "recipe", Color: plot.Model, Marks: true}
	flows := plot.Line{Name: "refined dynamics", Color: plot.Linear, Marks: true}
	members := plot.Line{Name: "members", Color: plot.Hold, Marks: true}
	for i := 0; i < len(all); {
		n := i
		var own []*learned
		failed := 0
		for ; n < len(all) && all[n].Variant == all[i].Variant; n++ {
			if all[n].Failed != "" {
				failed++
				continue
			}
			own = append(own, all[n])
		}
		side, err := strconv.Atoi(all[i].Variant)
		if err != nil {
			return nil, err
		}
		i = n
		x := float64(side * side)
		row := []string{whole(x), strconv.Itoa(len(own) + failed), "", "", "", "", "", "", strconv.Itoa(failed)}
		if len(own) > 0 {
			ll := values(own, func(r *learned) float64 { return r.LogLik })
			single := mean(values(own, func(r *learned) float64 { return mean(r.Members) }))
			row[2], row[3], row[4] = spread(ll), two(slices.Min(ll)), two(mean(values(own, func(r *learned) float64 { return r.Coverage95 })))
			row[6], row[7] = two(single), whole(mean(values(own, func(r *learned) float64 { return r.Seconds })))
			recipe.X, recipe.Y = append(recipe.X, x), append(recipe.Y, mean(ll))
			if single > -3 { // far below, members that are sure and wrong say no more
				members.X, members.Y = append(members.X, x), append(members.Y, single)
			}
			var f []float64
			for _, r := range own {
				if r.Flows != nil {
					f = append(f, r.Flows.LogLik)
				}
			}
			if len(f) > 0 {
				row[5] = two(mean(f))
				flows.X, flows.Y = append(flows.X, x), append(flows.Y, mean(f))
			}
		}
		s.Rows = append(s.Rows, row)
	}
	if len(recipe.X) > 0 {
		c.Rules = []plot.Rule{{Value: 1.81, Label: "the paper's DGM, 100 trajectories"}, {Value: 0.62, Label: "NDP, 100 trajectories"}}
		c.Lines = []plot.Line{members, flows, recipe}
		svg, err := c.SVG()
		if err != nil {
			return nil, fmt.Errorf("learning: %w", err)
		}
		s.Pictures = []picture{{"learning", svg}}
	}
	return []section{s}, nil
}
