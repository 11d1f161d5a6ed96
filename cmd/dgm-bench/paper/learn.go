package paper

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

// recipeNeeds are the values without which a row is no result of the recipe.
var recipeNeeds = []string{"loglik", "coverage50", "coverage90", "coverage95", "rmse", "recipe"}

var recipeSummary = []string{"loglik", "coverage50", "coverage90", "coverage95", "seconds", "flows.loglik", "lost"}

// learned is a model with what it is scored on.
type learned struct {
	*paper.Model
	on *trial
}

// follow follows the recipe, changed by change, for the unit's seed.
func (s *set) follow(ctx context.Context, u *study.Unit, change func(r *paper.Recipe)) (*learned, error) {
	d, on, err := s.both(u.Seed)
	if err != nil {
		return nil, err
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
	return &learned{m, on}, nil
}

// learn follows the recipe and puts the scores of the model and of its parts into the row.
func learn(ctx context.Context, u *study.Unit) error {
	m, err := named(u.Set).follow(ctx, u, func(*paper.Recipe) {})
	if err != nil {
		return err
	}
	u.Put("rerun", m.Rerun).Put("dropped", m.Dropped).Put("temper", math.Round(100*m.VarianceInflation)/100)
	if m.Smoother.Lost > 0 {
		u.Put("lost", m.Smoother.Lost)
	}
	rmse, err := m.on.score(u.Row, "", m.K, sure(m.Predict))
	if err != nil {
		return err
	}
	if err := m.on.scoreIntegrated(u.Row, "flows.", m.K, m.Integrate); err != nil {
		return fmt.Errorf("refined dynamics: %w", err)
	}
	u.Put("rmse", rmse)
	return nil
}
