package paper

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/speed"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

// The sides of the grids of starts, by kernel, with 5 observations from each start.
var sides = map[string][]int{"features": {10, 25, 45, 79, 141}, "recipe": {10, 25, 45, 79, 141}, "exact": {4, 7, 10, 14, 20, 45, 79, 141}}

var kernels = []string{"features", "exact", "recipe"}

// perStart is how many observations there are of each trajectory.
const perStart = 5

// gridOfLV is LV 100 with another grid.
func gridOfLV(side int) *set {
	s := *named("lv100")
	s.starts, s.points = grid(2, 0, 2, side, 0.5, 1.5), perStart
	return &s
}

// limits are the most observations for what the study does.
type limits struct{ features, trained, recipe, exact, exactTimed int }

// scores reports whether a row is of a size that is trained and scored.
func (l *limits) scores(r *study.Row) bool {
	n := r.Number("n")
	return r.Text("kernel") == "exact" && n <= float64(l.exact) || r.Text("kernel") == "features" && n <= float64(l.trained)
}

func scalingStudy() *study.Study {
	s := &study.Study{
		Name: "scaling", Sets: []string{"lv"}, Seeds: 1, Needs: []string{"kernel", "n"}, Summary: []string{"n", "kernel", "seconds_per_step", "mib", "scores.loglik", "seconds"}, Tables: scalingTables,
		Version: func(variant string) int {
			if strings.HasPrefix(variant, "recipe-") {
				return version
			}
			return 0
		},
		Short: "Appendix: time of a step, memory and score against the number of observations",
		Long: `scaling trains Lotka-Volterra from growing grids of starts with 5 observations each. Steps are timed with 50
random features up to 100,000 observations, with the exact kernel as far as that goes; single models in the
paper's form are trained and scored up to its one such run, 25 x 25 starts, 3,125 observations, 440 s on a GPU;
the recipe learns from a few times as many. Time of a step is of one core; that of a training is of all.`,
	}
	most, steps := limits{100000, 3125, 11000, 500, 2000}, 1000
	s.Numbers = []study.Flag{
		stepsFlag(&steps),
		{Name: "most", Usage: "most observations with random features", Value: &most.features, Least: perStart * 16},
		{Name: "trained", Usage: "most observations that a single model with random features is trained on", Value: &most.trained},
		{Name: "recipe", Usage: "most observations that the recipe learns from", Value: &most.recipe},
		{Name: "exact", Usage: "most observations that the exact kernel is trained on", Value: &most.exact},
		{Name: "exact-timed", Usage: "most observations that steps of the exact kernel are timed on", Value: &most.exactTimed},
	}
	s.Variants = func() []string {
		var all []string
		for kernel, bound := range map[string]int{"features": most.features, "recipe": min(most.recipe, most.features), "exact": max(most.exact, most.exactTimed)} {
			for _, side := range sides[kernel] {
				if perStart*side*side <= bound {
					all = append(all, fmt.Sprintf("%s-%d", kernel, side))
				}
			}
		}
		slices.SortFunc(all, func(a, b string) int { return cmp.Or(sideOf(a)-sideOf(b), strings.Compare(a, b)) }) // what is short comes first
		return all
	}
	s.Whole = func(r *study.Row) bool { return r.Has("scores.loglik") || !most.scores(r) }
	s.Run = func(ctx context.Context, u *study.Unit) error { return scale(ctx, u, &most, steps) }
	return s
}

// sideOf returns the side of a variant's grid.
func sideOf(variant string) int {
	_, number, _ := strings.Cut(variant, "-")
	side, _ := strconv.Atoi(number)
	return side
}

// scale times a step, and trains and scores where the size is within limits.
func scale(ctx context.Context, u *study.Unit, most *limits, steps int) error {
	kernel, _, _ := strings.Cut(u.Variant, "-")
	set := gridOfLV(sideOf(u.Variant))
	if kernel == "recipe" {
		return set.scaleRecipe(ctx, u)
	}
	d, on, err := set.both(u.Seed)
	if err != nil {
		return err
	}
	settings := paper.DefaultRecipe(d).Settings
	settings.Steps, settings.Exact = steps, kernel == "exact"
	u.Put("kernel", kernel).Put("n", d.Rows())
	if !settings.Exact {
		u.Put("features", settings.F)
	}
	if err := timeStep(u.Row, d, settings); err != nil || !most.scores(u.Row) {
		return err
	}
	began := time.Now()
	fit, err := paper.Train(ctx, d, settings, uint64(u.Seed))
	if err != nil {
		return err
	}
	u.Put("seconds", time.Since(began).Seconds()).Put("steps_of_training", steps)
	ask, err := posteriorOf(fit)
	if err != nil {
		return err
	}
	_, err = on.score(u.Row, "scores.", d.K, ask)
	return err
}

// scaleRecipe learns by the whole recipe.
func (s *set) scaleRecipe(ctx context.Context, u *study.Unit) error {
	m, err := s.follow(ctx, u, func(*paper.Recipe) {})
	if err != nil {
		return err
	}
	u.Put("kernel", "recipe").Put("n", m.data.Rows()).Put("forms", m.forms())
	_, err = m.on.score(u.Row, "scores.", m.K, sure(m.Predict))
	return err
}

func timeStep(r *study.Row, d *paper.Data, settings paper.Settings) error {
	before := inUse()
	step := paper.NewStep(d, settings, 1)
	if !step.Run() {
		return fmt.Errorf("a step with %d observations failed numerically", d.Rows())
	}
	rows, support := step.Rows()
	r.Put("mib", math.Round(10*(inUse()-before)/(1<<20))/10).Put("rows", rows).Put("support", support)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var best speed.Least
	for began, n := time.Now(), 0; n < 3 || n < 50 && time.Since(began) < time.Second; n++ {
		best.Busy(func() { step.Run() })
	}
	r.Put("seconds_per_step", best.Seconds())
	return nil
}

// inUse returns the bytes that the program holds.
func inUse() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func scalingTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	t := study.Table{
		Name: "scaling", Title: "Cost against the number of observations",
		Text: "Lotka-Volterra on growing grids of starts, 5 observations each, scored on ten unseen starts: single fits, and the recipe, whose members are trained on some of the trajectories and whose flows are refined on all. The paper: 3,125 observations with 50 features in 440 s, 500 with the exact kernel in 408 s, on a GPU.",
		Columns: []study.Column{
			{Head: "kernel", Cell: func(g study.Group) string { return kernelName(g[0].Text("kernel")) }}, study.MeanOf("observations", "n", 0), study.MeanOf("support", "support", 0),
			study.Digits("ms a step", "seconds_per_step", 1000, 4), {Head: "µs a step and observation", Cell: func(g study.Group) string {
				if v := 1e6 * g[0].Number("seconds_per_step") / g[0].Number("n"); !math.IsNaN(v) {
					return fmt.Sprintf("%.3g", v)
				}
				return ""
			}},
			study.Digits("MiB", "mib", 1, 4), study.MeanOf("steps", "steps_of_training", 0), study.MeanOf("seconds", "seconds", 0), study.MeanOf("log likelihood", "scores.loglik", 2), study.MeanOf("coverage 95", "scores.coverage95", 2),
		},
	}
	for _, kernel := range kernels {
		by := study.GroupBy(study.Group(rows).Where(func(r *study.Row) bool { return r.Text("kernel") == kernel }), study.Single)
		sortBy(by, func(g study.Group) float64 { return g[0].Number("n") })
		t.Groups = append(t.Groups, by...)
	}
	return []study.Table{t}, nil
}

func kernelName(kernel string) string {
	return map[string]string{"features": "random features", "exact": "exact kernel", "recipe": "recipe"}[kernel]
}
