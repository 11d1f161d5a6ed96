package paper

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

// The variants of the study of measured starts.
const (
	measured = "measured" // the data say so
	trusted  = "trusted"  // the data say that they are known
)

// recipeNeeds are the values without which a row is no result of the recipe.
var recipeNeeds = []string{"loglik", "coverage50", "coverage90", "coverage95", "rmse", "recipe"}

var recipeSummary = []string{"loglik", "coverage50", "coverage90", "coverage95", "seconds", "flows.loglik", "lost"}

// learned is a model with the data that it has learned from and what it is scored on.
type learned struct {
	*paper.Model
	data *paper.Data
	on   *trial
}

// follow follows the recipe, changed by change, for the unit's seed.
func (s *set) follow(ctx context.Context, u *study.Unit, change func(r *paper.Recipe)) (*learned, error) {
	d, on, err := s.both(u.Seed)
	if err != nil {
		return nil, err
	}
	if u.Variant == trusted || u.Variant == measured {
		s.measure(u.Seed, d, on)
	}
	if u.Variant == trusted {
		d.StartStd = nil
	}
	recipe := paper.DefaultRecipe(d)
	change(&recipe)
	recipe.Progress = u.Report
	began := time.Now()
	m, err := paper.Learn(ctx, d, recipe, uint64(u.Seed))
	if err != nil {
		return nil, err
	}
	u.Put("seconds", time.Since(began).Seconds()).Put("recipe", recipe.String())
	u.Put("phases.members", m.Took.Members).Put("phases.flows", m.Took.Flows).Put("phases.smoother", m.Took.Smoother)
	return &learned{m, d, on}, nil
}

// forms returns what the model's refined dynamics are made of.
func (m *learned) forms() (forms []string) {
	for _, f := range m.Flows {
		forms = append(forms, f.Form())
	}
	return forms
}

// learn follows the recipe and puts the scores of the model and of its parts into the row.
func (s *set) learn(ctx context.Context, u *study.Unit, change func(r *paper.Recipe)) (*learned, error) {
	m, err := s.follow(ctx, u, change)
	if err != nil {
		return nil, err
	}
	u.Put("rerun", m.Rerun).Put("dropped", m.Dropped).Put("temper", math.Round(100*m.VarianceInflation)/100)
	if m.Smoother.Lost > 0 {
		u.Put("lost", m.Smoother.Lost)
	}
	rmse, err := m.on.score(u.Row, "", m.K, sure(m.Predict))
	if err != nil {
		return nil, err
	}
	if err := m.on.scoreIntegrated(u.Row, "flows.", m.K, m.Integrate); err != nil {
		return nil, fmt.Errorf("refined dynamics: %w", err)
	}
	var free, members []float64
	for _, f := range m.Flows {
		free = append(free, math.Round(10*f.Free)/10)
	}
	for _, f := range m.Members {
		alone := study.NewRow(u.Key)
		if _, err := m.on.score(alone, "", m.K, ofFit(f)); err != nil {
			return nil, fmt.Errorf("a member: %w", err)
		}
		members = append(members, study.Short(4, alone.Number("loglik"))...)
	}
	u.Put("rmse", rmse).Put("forms", m.forms()).Put("free", free).Put("members", members)
	return m, nil
}

// learnOnly does so by the recipe as it is.
func learnOnly(ctx context.Context, u *study.Unit) error {
	_, err := named(u.Set).learn(ctx, u, func(*paper.Recipe) {})
	return err
}

// likelihoodOf returns the log likelihood of a set's rows of one variant; empty without rows.
func likelihoodOf(rows study.Group, set, variant string) string {
	own := rows.Where(func(r *study.Row) bool { return r.Set == set && r.Variant == variant })
	if len(own) == 0 {
		return ""
	}
	return study.Spread(own.Of("loglik"))
}

// measuredStarts returns the stored rows of the study of starts whose data say that they are
// measured.
func measuredStarts(all *study.Results) study.Group {
	return study.Group(all.Rows("starts")).Where(func(r *study.Row) bool {
		return r.Variant == measured && r.Settings == "" && r.Version == version
	})
}
