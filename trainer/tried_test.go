package trainer_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/selection"
)

// tried lists the cores and bases of the candidates in the order in which they were
// tried, before the likelihood temperature was chosen.
func tried(res *trainer.Result) (cores []string, bases []int) {
	for _, c := range res.Candidates {
		if c.Folds {
			break
		}
		if !slices.Contains(cores, c.Core) {
			cores = append(cores, c.Core)
		}
		if !slices.Contains(bases, c.Basis) {
			bases = append(bases, c.Basis)
		}
	}
	return cores, bases
}

// Core, basis and activation are chosen among few; a setting pins each. The model is of
// what was chosen, in its file too.
func TestCandidatesOfTheNetAreTried(t *testing.T) {
	t.Parallel()
	base := small()
	base.Training.Steps, base.Members, base.Prior, base.Training.Rows, base.Features = 3, 1, "velocity", 300, 10
	base.Stride, base.Holdout = trainer.Duration(250*time.Millisecond), 0
	base.Points, base.Direct, base.Folds.ScaleFactor = 2, false, false
	base.Core, base.Basis, base.Net.Activation, base.Folds.Temperature = "choose", -1, "choose", 0
	d := load(t, pendulum(9, 3), base)
	for name, c := range map[string]struct {
		set    func(c *trainer.Config)
		cores  []string
		bases  []int
		linear bool
	}{
		"all":            {func(*trainer.Config) {}, []string{"linear [8]", "tanh [16 16]", "sigmoid [16 16]"}, []int{2, 3, 0}, false},
		"one activation": {func(c *trainer.Config) { c.Net.Activation = "sigmoid" }, []string{"linear [8]", "sigmoid [16 16]"}, []int{2, 3, 0}, false},
		"no basis":       {func(c *trainer.Config) { c.Basis = 0 }, []string{"linear [8]", "tanh [16 16]", "sigmoid [16 16]"}, []int{0}, false},
		"a linear core":  {func(c *trainer.Config) { c.Core = "linear" }, []string{"linear [8]"}, []int{2, 3, 0}, true},
		"nets":           {func(c *trainer.Config) { c.Core = "net" }, []string{"tanh [16 16]", "sigmoid [16 16]"}, []int{2, 3, 0}, false},
		"all is said":    {func(c *trainer.Config) { c.Core, c.Basis = "linear", 4 }, nil, nil, true},
		"no time":        {func(c *trainer.Config) { c.Budget = trainer.Duration(time.Millisecond) }, nil, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := base
			c.set(&cfg)
			res, err := trainer.Train(context.Background(), d, cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			cores, bases := tried(res)
			if !slices.Equal(cores, c.cores) || !slices.Equal(bases, c.bases) {
				t.Errorf("cores %q with bases %v were tried, expected %q, %v", cores, bases, c.cores, c.bases)
			}
			if late := name == "no time"; res.Untried != (selection.Untried{Core: late, Temperature: late}) {
				t.Errorf("said to be untried: %+v", res.Untried)
			}
			m := &res.Model.Members[0].Map
			if m.Basis.Terms != res.Chosen.Basis || cfg.Basis >= 0 && m.Basis.Terms != cfg.Basis {
				t.Errorf("the model has a basis of %d terms, %d were chosen of %v", m.Basis.Terms, res.Chosen.Basis, bases)
			}
			if linear := m.Core.Layers[0].Act == mlp.Linear; linear != (res.Chosen.Core == "linear [8]") || c.linear && !linear {
				t.Errorf("chosen is %s, the model's first layer is linear: %v", res.Chosen.Core, linear)
			}
		})
	}
}
