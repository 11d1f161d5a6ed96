package paper

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/speed"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/plot"
)

// scaled is a finished size of one kernel.
type scaled struct {
	key
	Kernel   string  `json:"kernel"` // features, exact; recipe
	N        int     `json:"n"`      // observations
	Features int     `json:"features,omitempty"`
	Rows     int     `json:"rows,omitempty"`             // observations and starts
	Support  int     `json:"support,omitempty"`          // points at which derivatives are matched
	Step     float64 `json:"seconds_per_step,omitempty"` // one core, by the processor's clock
	MiB      float64 `json:"mib,omitempty"`              // memory of a training
	Train    float64 `json:"seconds,omitempty"`          // of the whole training, all cores
	Scores   *scores `json:"scores,omitempty"`           // on ten unseen starts; none where only steps were timed
	Steps    int     `json:"steps_of_training,omitempty"`

	Phases *phases  `json:"phases,omitempty"` // of the recipe
	Forms  []string `json:"forms,omitempty"`  // of its flows
}

// sides are those of the grids of starts, with 5 observations from each.
var sides = []int{4, 7, 10, 14, 20, 25, 45, 79, 141}

// usualSteps are those of the training of a single model.
const usualSteps = 1000

// perStart is how many observations there are of each trajectory.
const perStart = 5

func scalingStudy() *study[scaled] {
	s := &study[scaled]{
		name: "scaling", files: "scaling", sets: []string{"lv"}, seeds: 1, recipe: func(variant string) bool { return strings.HasPrefix(variant, "recipe-") },
		short: "Appendix: time of a step, memory and score against the number of observations",
		long: `scaling trains Lotka-Volterra from growing grids of starts with 5 observations each. Steps are timed with 50
random features up to 100,000 observations, with the exact kernel as far as that goes; single models in the
paper's form are trained and scored up to its one such run, 25 x 25 starts, 3,125 observations, 440 s on a GPU;
the recipe learns from a few times as many. Time of a step is of one core; that of a training is of all.`,
	}
	steps, most, trained, recipe, exact, timed := usualSteps, 100000, 3125, 11000, 500, 2000
	s.flags = func(cmd *cobra.Command) {
		f := cmd.Flags()
		f.IntVar(&steps, "steps", steps, "steps of a training")
		f.IntVar(&most, "most", most, "most observations with random features")
		f.IntVar(&trained, "trained", trained, "most observations that a single model with random features is trained on")
		f.IntVar(&recipe, "recipe", recipe, "most observations that the recipe learns from")
		f.IntVar(&exact, "exact", exact, "most observations that the exact kernel is trained on")
		f.IntVar(&timed, "exact-timed", timed, "most observations that steps of the exact kernel are timed on")
	}
	s.check = func() error {
		if steps < 1 || most < perStart*sides[0]*sides[0] {
			return cli.Usage("--steps must be at least 1 and --most at least %d", perStart*sides[0]*sides[0])
		}
		return nil
	}
	s.settings = func() string { return changed("steps", steps, usualSteps) }
	s.variants = func() []string {
		var all []string
		for _, side := range sides {
			n := perStart * side * side
			if n <= most && side != 4 && side != 7 && side != 14 && side != 20 {
				all = append(all, fmt.Sprintf("features-%d", side))
				if n <= recipe {
					all = append(all, fmt.Sprintf("recipe-%d", side))
				}
			}
			if n <= max(exact, timed) && side != 25 {
				all = append(all, fmt.Sprintf("exact-%d", side))
			}
		}
		return all
	}
	due := func(r *scaled) bool {
		return r.Kernel == "exact" && r.N <= exact || r.Kernel == "features" && r.N <= trained
	}
	s.whole = func(dir string, k key) bool {
		r, ok, err := load[scaled](dir, k)
		return err == nil && ok && (r.Scores != nil || !due(r))
	}
	s.run = func(ctx context.Context, _ string, k key) (*scaled, error) {
		kernel, number, _ := strings.Cut(k.Variant, "-")
		side, err := strconv.Atoi(number)
		if err != nil {
			return nil, err
		}
		set := gridOfLV(side)
		d, on, err := set.both(k.Seed)
		if err != nil {
			return nil, err
		}
		if kernel == "recipe" {
			return set.scaledRecipe(ctx, k)
		}
		settings := paper.DefaultRecipe(d).Settings
		settings.Steps, settings.Exact = steps, kernel == "exact"
		r := &scaled{key: k, Kernel: kernel, N: d.Rows()}
		if !settings.Exact {
			r.Features = settings.F
		}
		if err := r.time(d, settings); err != nil {
			return nil, err
		}
		if !due(r) {
			return r, nil
		}
		began := time.Now()
		fit, err := paper.Train(ctx, d, settings, uint64(k.Seed))
		if err != nil {
			return nil, err
		}
		r.Train, r.Steps = time.Since(began).Seconds(), steps
		ask := ofFit(fit)
		if settings.Exact {
			e, err := fit.Exact()
			if err != nil {
				return nil, err
			}
			ask = e.Predict
		}
		all, _, err := on.score(d.K, ask)
		if err != nil {
			return nil, err
		}
		r.Scores = &all
		return r, nil
	}
	s.tell = func(r *scaled) string {
		text := fmt.Sprintf("%d observations, %s", r.N, r.Kernel)
		if r.Step > 0 {
			text += fmt.Sprintf(", %.4g s a step, %.0f MiB", r.Step, r.MiB)
		}
		if r.Scores != nil {
			text += fmt.Sprintf(", log likelihood %.2f after %.0f s", r.Scores.LogLik, r.Train)
		}
		return text
	}
	s.sections = scalingSections
	return s
}

// scaledRecipe learns by the whole recipe.
func (s *set) scaledRecipe(ctx context.Context, k key) (*scaled, error) {
	_, r, err := s.learn(ctx, k, func(*paper.Recipe) {})
	if err != nil {
		return nil, err
	}
	return &scaled{key: k, Kernel: "recipe", N: len(s.starts) * s.points, Train: r.Seconds, Scores: &r.scores, Phases: &r.Phases, Forms: r.Forms}, nil
}

// gridOfLV is LV 100 with another grid.
func gridOfLV(side int) *set {
	s := *named("lv100")
	s.starts, s.points = grid(2, 0, 2, side, 0.5, 1.5), perStart
	return &s
}

// time sets the time of a step and the memory of a training.
func (r *scaled) time(d *paper.Data, settings paper.Settings) error {
	before := inUse()
	step := paper.NewStep(d, settings, 1)
	if !step.Run() {
		return fmt.Errorf("a step with %d observations failed numerically", r.N)
	}
	r.MiB = math.Round(10*(inUse()-before)/(1<<20)) / 10
	r.Rows, r.Support = step.Rows()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var best time.Duration
	for began, n := time.Now(), 0; n < 3 || n < 50 && time.Since(began) < time.Second; n++ {
		least(&best, speed.Busy, func() { step.Run() })
	}
	r.Step = best.Seconds()
	return nil
}

// inUse returns the bytes that the program holds.
func inUse() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

func scalingSections(_ string, all []*scaled) ([]section, error) {
	out := section{
		Title: "Cost against the number of observations",
		Text:  "Lotka-Volterra on growing grids of starts, 5 observations each, scored on ten unseen starts: single fits, and the recipe, whose members are trained on some of the trajectories and whose flows are refined on all. The paper: 3,125 observations with 50 features in 440 s, 500 with the exact kernel in 408 s, on a GPU.",
		Head:  []string{"kernel", "observations", "support", "ms a step", "µs a step and observation", "MiB", "steps", "seconds", "log likelihood", "coverage 95"},
	}
	times := plot.Chart{Title: "Time of a step", XLabel: "observations", YLabel: "s, one core", XLog: true, YLog: true, Description: "Seconds of a step against the number of observations, on logarithmic axes, with a straight line of slope one."}
	straight := plot.Chart{Title: "The same, linear axes", XLabel: "observations, thousands", YLabel: "s, one core", Description: "Seconds of a step with random features against the number of observations, and a straight line."}
	memory := plot.Chart{Title: "Memory of a training", XLabel: "observations", YLabel: "MiB", XLog: true, YLog: true, Description: "Memory against the number of observations."}
	quality := plot.Chart{Title: "Score; what is below -8 stands at -8", XLabel: "observations", YLabel: "log likelihood, unseen starts", XLog: true, Description: "Log likelihood on unseen starts against the number of observations."}
	for _, kernel := range []string{"features", "exact", "recipe"} {
		name, color := "random features", plot.Model
		switch kernel {
		case "exact":
			name, color = "exact kernel", plot.Alert
		case "recipe":
			name, color = "recipe", plot.Linear
		}
		line := func() plot.Line { return plot.Line{Name: name, Color: color, Marks: true} }
		t, m, q := line(), line(), line()
		for _, r := range all {
			if r.Kernel != kernel {
				continue
			}
			n := float64(r.N)
			row := []string{name, strconv.Itoa(r.N), "", "", "", "", "", "", "", ""}
			if r.Step > 0 {
				t.X, t.Y = append(t.X, n), append(t.Y, r.Step)
				m.X, m.Y = append(m.X, n), append(m.Y, max(r.MiB, 0.1))
				row[2], row[3], row[4], row[5] = strconv.Itoa(r.Support), fmt.Sprintf("%.4g", 1000*r.Step), fmt.Sprintf("%.3g", 1e6*r.Step/n), fmt.Sprintf("%.4g", r.MiB)
			}
			if r.Steps > 0 {
				row[6] = strconv.Itoa(r.Steps)
			}
			if r.Scores != nil {
				q.X, q.Y = append(q.X, n), append(q.Y, max(r.Scores.LogLik, -8))
				row[7], row[8], row[9] = whole(r.Train), two(r.Scores.LogLik), two(r.Scores.Coverage95)
			}
			out.Rows = append(out.Rows, row)
		}
		if len(q.X) > 0 {
			quality.Lines = append(quality.Lines, q)
		}
		if len(t.X) == 0 {
			continue
		}
		times.Lines, memory.Lines = append(times.Lines, t), append(memory.Lines, m)
		if kernel != "features" {
			continue
		}
		if len(t.X) < 2 {
			continue
		}
		last := len(t.X) - 1
		per := t.Y[last] / t.X[last]
		times.Lines = append(times.Lines, plot.Line{Name: "slope 1", Color: plot.Hold, Dash: "4 3", X: []float64{t.X[0], t.X[last]}, Y: []float64{per * t.X[0], t.Y[last]}})
		dots := plot.Line{Name: name, Color: color, Dots: true, Y: t.Y}
		for _, x := range t.X {
			dots.X = append(dots.X, x/1000)
		}
		fixed, each := throughAll(t.X, t.Y)
		end := t.X[last]
		straight.Lines = append(straight.Lines, plot.Line{Name: fmt.Sprintf("%.2g ms + %.2g µs each", 1000*fixed, 1e6*each), Color: plot.Hold, Dash: "4 3", X: []float64{0, end / 1000}, Y: []float64{fixed, fixed + each*end}}, dots)
		out.Text += fmt.Sprintf(" With features the time of a step grows with the power %.2f of the observations.", power(t.X, t.Y))
	}
	var rows [][]plot.Chart
	for _, pair := range [][]plot.Chart{{times, straight}, {memory, quality}} {
		if pair = slices.DeleteFunc(pair, func(c plot.Chart) bool { return len(c.Lines) == 0 }); len(pair) > 0 {
			rows = append(rows, pair)
		}
	}
	if len(rows) == 0 {
		return []section{out}, nil
	}
	svg, err := plot.Sheet("Cost against the number of observations", "", rows)
	if err != nil {
		return nil, err
	}
	out.Pictures = []picture{{"scaling", svg}}
	return []section{out}, nil
}

// throughAll returns the straight line a + bx that is nearest to all points, each
// distance over y.
func throughAll(x, y []float64) (a, b float64) {
	var w, wx, wxx, wy, wxy float64
	for i, v := range x {
		u := 1 / (y[i] * y[i])
		w, wx, wxx, wy, wxy = w+u, wx+u*v, wxx+u*v*v, wy+u*y[i], wxy+u*v*y[i]
	}
	det := w*wxx - wx*wx
	if !(det > 1e-12*w*wxx) {
		return 0, wxy / wxx
	}
	return (wxx*wy - wx*wxy) / det, (w*wxy - wx*wy) / det
}

// power returns the slope of log y against log x.
func power(x, y []float64) float64 {
	lx, ly := make([]float64, len(x)), make([]float64, len(y))
	for i := range x {
		lx[i], ly[i] = math.Log(x[i]), math.Log(y[i])
	}
	mx, my := mean(lx), mean(ly)
	a, b := 0.0, 0.0
	for i := range lx {
		a += (lx[i] - mx) * (ly[i] - my)
		b += (lx[i] - mx) * (lx[i] - mx)
	}
	if b == 0 {
		return math.NaN()
	}
	return a / b
}
