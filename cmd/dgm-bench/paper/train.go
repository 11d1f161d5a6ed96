package paper

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/speed"
	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

// publishedSteps are the seconds per step of the authors' code (JAX, one core): of one
// trajectory with the exact kernel, of many with 40 features and with the exact kernel.
var publishedSteps = map[string]struct{ exact, features float64 }{
	"lv1": {exact: 2.1e-3}, "lo1": {exact: 3.2e-3}, "dp1": {exact: 4.4e-3}, "qu1": {exact: 15.9e-3},
	"lv100": {9.5, 0.49}, "lo125": {57, 0.89}, "dp100": {15, 0.94}, "qu64": {36, 1.87},
}

// TrainStudy returns the measurement "train": what a step of training costs.
func TrainStudy() *study.Study {
	var (
		asked    = names(anySet)
		features = []int{40, 100}
		exact    bool
		duration = 2 * time.Second
		peak     float64 // the highest rate of a product of matrices, GFLOP/s
	)
	return &study.Study{
		Name: "train", Short: "Time of one step of training on the paper's data sets", Summary: []string{"seconds_per_step", "seconds_per_step_one_core"}, Tables: trainTables,
		Long: `train measures steps of training in the paper's form: observations as they are, derivatives matched at the
observations of one trajectory and at 30 points of each of many. Every time is the least of many: on one core
by the processor's clock, on all by that on the wall, so that what else runs weighs on the latter. The shares
are of one core; the peak is what the module's own product of two matrices of 384 rows reaches there, in turns
with the steps; "1 → all" is by how much all cores are faster (below 1: slower,
as two threads of one core may be). Where the published code was timed at the same size, on one core, its
time is shown beside, and the ratio to that of one core here.`,
		Example: `  dgm-bench train --json
  dgm-bench train --sets lo125,qu64 --features 100`,
		Numbers: []study.Flag{
			study.Duration("duration", "how long a row is measured", &duration),
			{Name: "features", Usage: "random features a channel; a row for each", Value: &features, Least: 2, Most: 2000},
		},
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringSliceVar(&asked, "sets", asked, "data sets, separated by commas")
			f.BoolVar(&exact, "exact", false, "a row with the exact kernel too, for single trajectories")
		},
		Check: func() error {
			for _, n := range features {
				if n%2 != 0 {
					return cli.Usage("--features %d must be even", n)
				}
			}
			return nil
		},
		Units: func() (units []study.Work, err error) {
			chosen, err := study.Chosen("--sets", asked, names(anySet))
			if err != nil {
				return nil, err
			}
			for _, name := range chosen {
				kinds := features
				if exact && named(name).single() {
					kinds = append(slices.Clone(kinds), 0)
				}
				for _, n := range kinds {
					k := study.Key{Set: name, Variant: fmt.Sprintf("features-%d", n)}
					units = append(units, study.Work{Key: k, Run: func(_ context.Context, u *study.Unit) error {
						reached, err := timeSteps(u.Row, named(name), n, duration)
						peak = max(peak, reached)
						return err
					}})
				}
			}
			return units, nil
		},
		Document: func() map[string]any {
			return map[string]any{"cores": runtime.GOMAXPROCS(0), "dgemm_gflops": peak}
		},
	}
}

// The parts of a step: nets, features, Gram matrix and factorisation; means and variances
// where derivatives are matched, the dynamics and the distance; the gradient of all of it;
// the optimiser's step. Each but the last is the difference of two evaluations that differ
// in this part alone.
var stepParts = []string{"data", "match", "gradient", "rest"}

func trainTables(_ *study.Results, rows []*study.Row) ([]study.Table, error) {
	t := study.Table{
		Name: "train", Title: "A step of training", Groups: study.GroupBy(rows, study.Single),
		Columns: []study.Column{
			label, {Head: "kernel", Cell: func(g study.Group) string {
				if n := g[0].Number("features"); n > 0 {
					return study.Fixed(n, 0)
				}
				return "exact"
			}},
			study.MeanOf("rows", "rows", 0), study.MeanOf("support", "support", 0), study.Digits("ms", "seconds_per_step", 1000, 3), study.Digits("ms, 1 core", "seconds_per_step_one_core", 1000, 3), study.MeanOf("1 → all", "speedup", 2),
		},
	}
	for _, part := range stepParts {
		t.Columns = append(t.Columns, study.ShareOf(part, "share."+part))
	}
	t.Columns = append(t.Columns, study.MeanOf("allocs", "allocs_per_step", 0), study.MeanOf("GFLOP/s", "gflops", 1), study.ShareOf("of peak", "peak_fraction"), study.Digits("published ms", "published_seconds_per_step", 1000, 3),
		study.Column{Head: "ratio", Cell: func(g study.Group) string {
			if v := g[0].Number("published_seconds_per_step") / g[0].Number("seconds_per_step_one_core"); !math.IsNaN(v) {
				return study.Fixed(v, 1)
			}
			return ""
		}})
	return []study.Table{t}, nil
}

// timeSteps measures one size and puts the times into a row; features 0 is the exact
// kernel. It returns the rate of a product of matrices, GFLOP/s.
func timeSteps(r *study.Row, s *set, features int, duration time.Duration) (peak float64, err error) {
	d, err := s.draw(0)
	if err != nil {
		return 0, err
	}
	settings := paper.DefaultSettings()
	settings.F, settings.Exact = max(features, 2), features == 0
	if !s.single() {
		settings.Support = 30
	}
	step := paper.NewStep(d, settings, 1)
	fine := true
	run := func() { fine = step.Run() && fine }
	run() // allocates what grows
	multiply, multiplied := product(384)
	// What one core does is timed by its processor's clock: another program that runs in
	// between does not count.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var one, all, reached, data, value, gradient speed.Least
	cores := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(cores)
	for began := time.Now(); time.Since(began) < duration || all == 0; {
		runtime.GOMAXPROCS(1)
		one.Busy(run)
		data.Busy(func() { fine = step.Objective(false, false) && fine })
		value.Busy(func() { fine = step.Objective(true, false) && fine })
		gradient.Busy(func() { fine = step.Objective(true, true) && fine })
		reached.Busy(multiply)
		runtime.GOMAXPROCS(cores)
		all.Wall(run)
	}
	runtime.GOMAXPROCS(1)
	allocs := math.Inf(1)
	for range 3 { // what the collector itself allocates, in between, is not the step's
		allocs = min(allocs, testing.AllocsPerRun(3, run))
	}
	if !fine {
		return 0, fmt.Errorf("%s: a step failed numerically", s.label)
	}
	rows, support := step.Rows()
	r.Put("set", s.name).Put("features", features).Put("rows", rows).Put("support", support).Put("allocs_per_step", allocs)
	r.Put("seconds_per_step", all.Seconds()).Put("seconds_per_step_one_core", one.Seconds()).Put("speedup", one.Seconds()/all.Seconds())
	for i, part := range []speed.Least{data, value - data, gradient - value, one - gradient} {
		r.Put("share."+stepParts[i], max(0, part.Seconds()/one.Seconds()))
	}
	peak = 2 * multiplied / reached.Seconds() / 1e9
	published := publishedSteps[s.name].exact
	r.Put("kernel", "exact")
	if features > 0 {
		rate := 2 * step.MultiplyAdds() / one.Seconds() / 1e9
		r.Put("kernel", "features").Put("gflops", rate).Put("peak_fraction", rate/peak)
		if published = 0; features == 40 {
			published = publishedSteps[s.name].features
		}
	}
	if published > 0 {
		r.Put("published_seconds_per_step", published)
	}
	return peak, nil
}

// product returns a product of two square matrices of n rows, to be timed, and its
// number of multiply-adds.
func product(n int) (run func(), multiplyAdds float64) {
	a, b, c := matmul.Matrix(n, n, make([]float64, n*n)), matmul.Matrix(n, n, make([]float64, n*n)), matmul.Matrix(n, n, make([]float64, n*n))
	for i := range a.Data {
		a.Data[i], b.Data[i] = float64(i%7), float64(i%5)
	}
	var w matmul.Work
	return func() { w.Mul(c, 1, false, a, false, b, 0) }, math.Pow(float64(n), 3)
}
