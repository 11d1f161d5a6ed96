package paper

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/speed"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/trainer/paper"
)

// trained is one row of what a step of training costs, as it stands in the JSON
// document.
type trained struct {
	Set      string  `json:"set"`
	Kernel   string  `json:"kernel"` // features, exact
	Features int     `json:"features"`
	Rows     int     `json:"rows"`    // observations, starts among them
	Support  int     `json:"support"` // points at which derivatives are matched
	Step     float64 `json:"seconds_per_step"`
	OneCore  float64 `json:"seconds_per_step_one_core"`
	Speedup  float64 `json:"speedup"` // 1 → 2 cores
	Shares   shares  `json:"share"`
	Allocs   float64 `json:"allocs_per_step"`
	GFlops   float64 `json:"gflops,omitempty"` // of matrix products, the nets' among them, and factorisations, over the whole step, one core
	Products float64 `json:"peak_fraction,omitempty"`
	JAX      float64 `json:"published_seconds_per_step,omitempty"` // of the published code, where the size is the same
}

// shares of a step on one core, each the difference of two evaluations that differ in
// this part alone.
type shares struct {
	Data     float64 `json:"data"`     // nets, features, Gram matrix, factorisation
	Match    float64 `json:"match"`    // means and variances where derivatives are matched, the dynamics, the distance
	Gradient float64 `json:"gradient"` // of all of it
	Rest     float64 `json:"rest"`     // the optimiser's step
}

// published are the seconds per step of the authors' code (JAX, one core): of one
// trajectory with the exact kernel, of many with 40 features and with the exact kernel.
var published = map[string]struct{ exact, features float64 }{
	"lv1": {exact: 2.1e-3}, "lo1": {exact: 3.2e-3}, "dp1": {exact: 4.4e-3}, "qu1": {exact: 15.9e-3},
	"lv100": {9.5, 0.49}, "lo125": {57, 0.89}, "dp100": {15, 0.94}, "qu64": {36, 1.87},
}

// TrainCommand returns the command "train": what a step of training costs.
func TrainCommand() *cobra.Command {
	var (
		asked    string
		features []int
		exact    bool
		duration time.Duration
		asJSON   bool
	)
	var names []string
	for _, s := range sets() {
		names = append(names, s.name)
	}
	cmd := &cobra.Command{
		Use: "train", Short: "Time of one step of training on the paper's data sets", Args: cobra.NoArgs,
		Long: `train measures steps of training in the paper's form: observations as they are, derivatives matched at the
observations of one trajectory and at 30 points of each of many. Every time is the least of many: on one core
by the processor's clock, on all by that on the wall, so that what else runs weighs on the latter. The shares
are of one core; the peak is what the module's own product of two matrices of 384 rows reaches there, in turns
with the steps; "1 → 2" is by how much all cores are faster (below 1: slower,
as two threads of one core may be). Where the published code was timed at the same size, on one core, its
time stands beside, and the ratio to that of one core here.`,
		Example: `  dgm-bench train --json
  dgm-bench train --sets lo125,qu64 --features 100`,
	}
	f := cmd.Flags()
	f.StringVar(&asked, "sets", strings.Join(names, ","), "data sets, separated by commas")
	f.IntSliceVar(&features, "features", []int{40, 100}, "random features a channel; a row for each")
	f.BoolVar(&exact, "exact", false, "a row with the exact kernel too, for single trajectories")
	f.DurationVar(&duration, "duration", 2*time.Second, "how long a row is measured")
	f.BoolVar(&asJSON, "json", false, "one JSON document on standard output and nothing else")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		for _, n := range features {
			if n < 2 || n%2 != 0 || n > 2000 {
				return cli.Usage("--features %d must be even and within 2 … 2000", n)
			}
		}
		if duration <= 0 {
			return cli.Usage("--duration %v must be positive", duration)
		}
		asks, err := chosen(asked, names)
		if err != nil {
			return err
		}
		var rows []trained
		for _, name := range asks {
			kinds := features
			if exact && named(name).single() {
				kinds = append(slices.Clone(kinds), 0)
			}
			for _, n := range kinds {
				if err := cmd.Context().Err(); err != nil {
					return err
				}
				r, err := timeSteps(named(name), n, duration)
				if err != nil {
					return err
				}
				rows = append(rows, r)
			}
		}
		if asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
				Cores int       `json:"cores"`
				Peak  float64   `json:"dgemm_gflops"`
				Train []trained `json:"train"`
			}{runtime.GOMAXPROCS(0), peakSeen, rows})
		}
		s := section{
			Title: "A step of training", Head: []string{"set", "kernel", "rows", "support", "ms", "ms, 1 core", "1 → 2", "data", "match", "gradient", "rest", "allocs", "GFLOP/s", "of peak", "published ms", "ratio"},
		}
		for _, r := range rows {
			kernel, beside, ratio := "exact", "", ""
			if r.Features > 0 {
				kernel = strconv.Itoa(r.Features)
			}
			if r.JAX > 0 {
				beside, ratio = strconv.FormatFloat(1000*r.JAX, 'g', 3, 64), strconv.FormatFloat(r.JAX/r.OneCore, 'f', 1, 64)
			}
			line := []string{named(r.Set).label, kernel, strconv.Itoa(r.Rows), strconv.Itoa(r.Support), fmt.Sprintf("%.3g", 1000*r.Step), fmt.Sprintf("%.3g", 1000*r.OneCore), two(r.Speedup)}
			h := r.Shares
			for _, v := range []float64{h.Data, h.Match, h.Gradient, h.Rest} {
				line = append(line, whole(100*v)+" %")
			}
			rate, share := "", "" // of the exact kernel they are not counted
			if r.GFlops > 0 {
				rate, share = strconv.FormatFloat(r.GFlops, 'f', 1, 64), whole(100*r.Products)+" %"
			}
			s.Rows = append(s.Rows, append(line, whole(r.Allocs), rate, share, beside, ratio))
		}
		return s.print(cmd.OutOrStdout())
	}
	return cmd
}

// peakSeen is the highest rate that a product of matrices has reached, GFLOP/s.
var peakSeen float64

// timeSteps measures one size; features 0 is the exact kernel.
func timeSteps(s *set, features int, duration time.Duration) (trained, error) {
	d, err := s.draw(0)
	if err != nil {
		return trained{}, err
	}
	settings := paper.DefaultSettings()
	settings.F, settings.Exact = features, features == 0
	if settings.Exact {
		settings.F = 2
	}
	if !s.single() {
		settings.Support = 30
	}
	step := paper.NewStep(d, settings, 1)
	fine := true
	run := func() { fine = step.Run() && fine }
	run() // takes the memory that grows
	r := trained{Set: s.name, Features: features, Kernel: "features"}
	r.Rows, r.Support = step.Rows()
	multiply, multiplied := product(384)
	// What one core does is timed by its processor's clock: another program that is
	// given its turn does not count.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	wall := func() time.Duration { return time.Since(start) }
	var one, all, peak, data, value, gradient time.Duration
	cores := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(cores)
	for began := time.Now(); time.Since(began) < duration || all == 0; {
		runtime.GOMAXPROCS(1)
		least(&one, speed.Busy, run)
		least(&data, speed.Busy, func() { fine = step.Objective(false, false) && fine })
		least(&value, speed.Busy, func() { fine = step.Objective(true, false) && fine })
		least(&gradient, speed.Busy, func() { fine = step.Objective(true, true) && fine })
		least(&peak, speed.Busy, multiply)
		runtime.GOMAXPROCS(cores)
		least(&all, wall, run)
	}
	runtime.GOMAXPROCS(1)
	r.Allocs = math.Inf(1)
	for range 3 { // what the collector itself takes, in between, is not the step's
		r.Allocs = min(r.Allocs, testing.AllocsPerRun(3, run))
	}
	if !fine {
		return r, fmt.Errorf("%s: a step failed numerically", s.label)
	}
	r.Step, r.OneCore = all.Seconds(), one.Seconds()
	r.Speedup = r.OneCore / r.Step
	share := func(d time.Duration) float64 { return max(0, d.Seconds()/r.OneCore) }
	r.Shares = shares{share(data), share(value - data), share(gradient - value), share(one - gradient)}
	reached := 2 * multiplied / peak.Seconds() / 1e9
	peakSeen = max(peakSeen, reached)
	if features > 0 {
		r.GFlops = 2 * step.MultiplyAdds() / r.OneCore / 1e9
		r.Products = r.GFlops / reached
		if features == 40 {
			r.JAX = published[s.name].features
		}
	} else {
		r.Kernel, r.JAX = "exact", published[s.name].exact
	}
	return r, nil
}

var start = time.Now()

// least keeps the least time that f takes by a clock, and tells whether this was it.
func least(best *time.Duration, clock func() time.Duration, f func()) bool {
	began := clock()
	f()
	if d := clock() - began; *best == 0 || d < *best {
		*best = d
		return true
	}
	return false
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
