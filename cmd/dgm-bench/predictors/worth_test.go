package predictors

import (
	"reflect"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer"
)

// Each part changes something, and the last but one is the whole recipe.
func TestPartsOfTheRecipe(t *testing.T) {
	var before trainer.Config
	for _, p := range parts {
		c := worthSettings(trainer.Default(), p.name)
		if reflect.DeepEqual(c, before) {
			t.Errorf("%s changes nothing", p.name)
		}
		if err := c.Check(); err != nil {
			t.Error(err)
		}
		before = c
	}
	whole, want := worthSettings(trainer.Default(), "history"), trainer.Default()
	want.Holdout, want.Members, want.Budget = whole.Holdout, whole.Members, whole.Budget
	want.Dynamics = whole.Dynamics
	if !reflect.DeepEqual(whole, want) || whole.Dynamics.Members != 1 || !want.Folds.ScaleFactor {
		t.Errorf("the whole recipe is %+v", whole)
	}
}

func TestTablesOfWorth(t *testing.T) {
	row := func(set, variant string, geo float64) *study.Row {
		return study.NewRow(study.Key{Set: set, Variant: variant, Seed: 1}).Put("geo", geo).Put("crps", geo/2).
			Put("coverage95_by_horizon", []float64{0.95}).Put("worst_coverage95", 0.9).Put("worst", "x, 1 s").Put("seconds", 3.0)
	}
	all, err := worthTables(nil, []*study.Row{
		row("single", "matching", 0.2), row("single", "prior", 0.4),
	})
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	parts := all[0].Lines()
	if len(parts) != 3 || parts[1][1] != "equations and constant velocity" || parts[2][3] != "0.2000" {
		t.Errorf("parts %q", parts)
	}
}
