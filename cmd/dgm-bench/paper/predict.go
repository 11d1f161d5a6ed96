package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/speed"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/trainer/paper"
	"github.com/dgm-robotics/dgm/trainer/plot"
	"github.com/dgm-robotics/dgm/trainer/score"
)

// predicted is a finished seed of the study of predictions.
type predicted struct {
	key
	Plain      float64   `json:"plain_us"`
	Fast       float64   `json:"fast_us"`
	Recipe     float64   `json:"recipe_us"`     // fast, with the core of the recipe's smoother
	MonteCarlo float64   `json:"montecarlo_us"` // 200 samples, one after the other
	Together   float64   `json:"montecarlo_together_us"`
	Unit       string    `json:"unit"`
	Smoother   scores    `json:"smoother"` // closed form
	Rollouts   scores    `json:"rollouts"` // of as many as there are
	Samples    []int     `json:"samples"`
	LogLik     []float64 `json:"loglik_by_samples"` // of the first so many rollouts
	Lost       int       `json:"lost"`              // rollouts that did not stay finite
}

func (r *predicted) check() error {
	if len(r.LogLik) == 0 || len(r.LogLik) != len(r.Samples) {
		return errors.New("loglik_by_samples is not there, or not as long as samples")
	}
	return nil
}

// counts are the numbers of samples for which a log likelihood is told.
var counts = []int{2, 3, 5, 10, 20, 50, 100, 200, 500, 1000}

// predictStudy compares the closed form with what it replaces.
func predictStudy() *study[predicted] {
	s := &study[predicted]{
		name: "predict", files: "predict", seeds: 3, from: unseen, recipe: always,
		short: "Table 1, right, and the figure on the number of samples: closed form against integrating samples",
		long: `predict measures how long 100 points take, in closed form and as mean and standard deviation of 200 integrated
samples, on one core with the same kernels (dgm-bench predict says more). Then it trains one model a seed and
samples whole trajectories of its dynamics, with one ε for each: their log likelihood against how many there
are, beside that of the closed form. Where results of baselines are there, samples of weights stand beside.`,
	}
	var duration time.Duration
	var steps int
	s.flags = func(cmd *cobra.Command) {
		cmd.Flags().DurationVar(&duration, "duration", 2*time.Second, "how long a prediction's time is measured")
		cmd.Flags().IntVar(&steps, "steps", paper.DefaultSettings().Steps, "steps of the training")
	}
	s.check = func() error {
		if steps < 1 || duration <= 0 {
			return cli.Usage("--steps and --duration must be positive")
		}
		return nil
	}
	s.settings = func() string { return changed("steps", steps, paper.DefaultSettings().Steps) }
	for _, set := range sets() {
		if set.single() {
			s.sets = append(s.sets, set.name)
		}
	}
	s.run = func(ctx context.Context, dir string, k key) (*predicted, error) {
		set := named(k.Set)
		m, err := speed.Measure(&set.plant, 100, testPoints, nil, duration)
		if err != nil {
			return nil, err
		}
		d, on, err := set.both(k.Seed)
		if err != nil {
			return nil, err
		}
		final := paper.DefaultRecipe(d).Final
		wide, err := speed.Measure(&set.plant, final.F, testPoints, final.Core, duration)
		if err != nil {
			return nil, err
		}
		r := &predicted{key: k, Plain: m.Plain, Fast: m.Fast, Recipe: wide.Fast, MonteCarlo: m.MonteCarlo, Together: m.Together, Unit: m.Unit}
		settings := paper.DefaultSettings()
		settings.Steps = steps
		fit, err := paper.Train(ctx, d, settings, uint64(k.Seed))
		if err != nil {
			return nil, err
		}
		closed := on.predict(d.K, ofFit(fit))
		q, err := score.Trajectories(closed, d.K)
		if err != nil {
			return nil, err
		}
		r.Smoother = scored(q)
		rng := rand.New(rand.NewPCG(uint64(k.Seed), 0x726f6c6c))
		var all [][]float64
		for range counts[len(counts)-1] {
			eps, x := make([]float64, d.K), make([]float64, len(on.times)*d.K)
			for i := range eps {
				eps[i] = rng.NormFloat64()
			}
			if !fit.Rollout(x, eps, on.starts[0], on.times) {
				r.Lost++
				continue
			}
			all = append(all, x)
		}
		var last *scores
		if r.Samples, r.LogLik, last, err = bySamples(all, on.truth[0], d.K); err != nil {
			return nil, err
		}
		if last == nil {
			return nil, fmt.Errorf("%d of %d rollouts did not stay finite", r.Lost, counts[len(counts)-1])
		}
		r.Rollouts = *last
		if k.Seed%unseen != 0 {
			return r, nil
		}
		return r, drawRollouts(rolloutsFile(dir, k), set, on, closed, all[:min(20, len(all))])
	}
	s.tell = func(r *predicted) string {
		return fmt.Sprintf("%.1f µs, samples %.0f µs; log likelihood %.2f, of rollouts %.2f", r.Fast, r.MonteCarlo, r.Smoother.LogLik, r.Rollouts.LogLik)
	}
	s.sections = predictSections
	return s
}

// changed says that a flag is not what it usually is; empty where it is.
func changed(flag string, is, usual any) string {
	if is == usual {
		return ""
	}
	return fmt.Sprintf("--%s %v", flag, is)
}

// bySamples scores mean and standard deviation of the first so many samples
// (points×K each) on the truth, for growing numbers; the start is known for certain
// and left out. last is of the most; nil where there are too few.
func bySamples(all [][]float64, truth []float64, k int) (n []int, ll []float64, last *scores, err error) {
	sum, squares := make([]float64, len(truth)), make([]float64, len(truth))
	for i, x := range all {
		for j, v := range x {
			sum[j] += v - truth[j]
			squares[j] += (v - truth[j]) * (v - truth[j])
		}
		due := i+1 == len(all)
		for _, c := range counts {
			due = due || c == i+1
		}
		if !due || i < 1 {
			continue
		}
		tr := score.Trajectory{Truth: truth[k:]}
		for j := k; j < len(truth); j++ {
			m := sum[j] / float64(i+1)
			tr.Mean = append(tr.Mean, truth[j]+m)
			tr.Std = append(tr.Std, math.Sqrt(math.Max(squares[j]/float64(i+1)-m*m, 0)*float64(i+1)/float64(i)))
		}
		q, err := score.Trajectories([]score.Trajectory{tr}, k)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("of %d samples: %w", i+1, err)
		}
		n, ll = append(n, i+1), append(ll, short(4, q.LogLik)[0])
		s := scored(q)
		last = &s
	}
	return n, ll, last, nil
}

func rolloutsFile(dir string, k key) string {
	return filepath.Join(dir, "rollouts-"+k.Set+"-"+strconv.Itoa(k.Seed)+".svg")
}

// drawRollouts draws sampled trajectories on the intervals of the closed form.
func drawRollouts(file string, s *set, on *trial, closed []score.Trajectory, all [][]float64) error {
	K := len(s.plant.States)
	var rows [][]plot.Chart
	for c := range K {
		chart := bands(s, c, on.times, closed)
		for _, x := range all {
			l := plot.Line{X: on.times, Color: plot.Velocity, Width: 0.8, Fade: 0.6}
			for i := range on.times {
				l.Y = append(l.Y, x[i*K+c])
			}
			chart.Lines = append(chart.Lines, l)
		}
		if c%2 == 0 {
			rows = append(rows, nil)
		}
		rows[c/2] = append(rows[c/2], chart)
	}
	svg, err := plot.Sheet(s.label+": sampled trajectories", "orange: one ε each; blue: mean and 95 % intervals in closed form; the truth is dashed", rows)
	if err != nil {
		return err
	}
	return durable.WriteFile(file, svg)
}

// The paper's times of 100 points, in ms: in closed form and by 200 samples.
var paperTimes = map[string][2]float64{"lv1": {0.68, 14.98}, "lo1": {0.99, 98.93}, "dp1": {1.31, 10.60}, "qu1": {3.76, 24.68}}

func predictSections(dir string, all []*predicted) ([]section, error) {
	times := section{
		Title: "Time of a prediction", Text: "100 points, 100 features, one core, µs: the plain and the fast predictor, and the fast one with the wider core that the recipe ends with, against 200 integrated samples, one after the other (ratio: over fast, and over recipe) and sixteen in a vector. The paper's own figures are from a GPU, those of its samples, SGHMC's, from Xeon processors.",
		Head: []string{"set", "plain", "fast", "recipe", "200 samples", "together", "ratio", "recipe's ratio", "paper: DGM", "samples", "ratio"},
	}
	number := section{
		Title: "Log likelihood against the number of samples", Text: "One model a seed in the paper's form, as it trains them: no recipe. Lost: rollouts that did not stay finite. Trajectories of its dynamics with one ε each, against the closed form; the start is left out of the samples' scores.",
		Head: []string{"set", "seeds", "closed form", "paper", "coverage 95", "200 rollouts", "1000 rollouts", "coverage 95", "lost"},
	}
	c := plot.Chart{
		Title: "Samples of the dynamics", XLabel: "samples", YLabel: "log likelihood of the truth", XLog: true,
		Description: "Log likelihood of the truth under the Gaussian moments of a growing number of sampled trajectories, against the closed form.",
	}
	for i, name := range []string{"lv1", "lo1", "dp1", "qu1"} {
		var own []*predicted
		for _, r := range all {
			if r.Set == name {
				own = append(own, r)
			}
		}
		if len(own) == 0 {
			continue
		}
		set := named(name)
		of := func(f func(*predicted) float64) float64 { return mean(values(own, f)) }
		fast, samples := of(func(r *predicted) float64 { return r.Fast }), of(func(r *predicted) float64 { return r.MonteCarlo })
		p := paperTimes[name]
		times.Rows = append(times.Rows, []string{
			set.label, whole(of(func(r *predicted) float64 { return r.Plain })), strconv.FormatFloat(fast, 'f', 1, 64), strconv.FormatFloat(of(func(r *predicted) float64 { return r.Recipe }), 'f', 1, 64), whole(samples),
			whole(of(func(r *predicted) float64 { return r.Together })), whole(samples / fast), whole(samples / of(func(r *predicted) float64 { return r.Recipe })), whole(1000 * p[0]), whole(1000 * p[1]), whole(p[1] / p[0]),
		})
		at := func(n int) []float64 {
			return values(own, func(r *predicted) float64 {
				v := r.LogLik[len(r.LogLik)-1]
				for i, c := range r.Samples {
					if c == n {
						v = r.LogLik[i]
					}
				}
				return v
			})
		}
		number.Rows = append(number.Rows, []string{
			set.label, strconv.Itoa(len(own)),
			spread(values(own, func(r *predicted) float64 { return r.Smoother.LogLik })), fmt.Sprintf("%.2f ± %.2f", set.paper[0], set.paper[1]), two(of(func(r *predicted) float64 { return r.Smoother.Coverage95 })),
			spread(at(200)), spread(at(1000)), two(of(func(r *predicted) float64 { return r.Rollouts.Coverage95 })),
			whole(of(func(r *predicted) float64 { return float64(r.Lost) })),
		})
		color := []plot.Color{plot.Model, plot.Alert, plot.Linear, plot.Other}[i]
		l := plot.Line{Name: set.label, Color: color, Marks: true}
		for _, n := range own[0].Samples {
			if v := mean(at(n)); n >= 5 { // fewer: far below the chart
				l.X, l.Y = append(l.X, float64(n)), append(l.Y, v)
			}
		}
		closed := mean(values(own, func(r *predicted) float64 { return r.Smoother.LogLik }))
		c.Lines = append(c.Lines, l, plot.Line{X: []float64{5, 1000}, Y: []float64{closed, closed}, Color: color, Dash: "5 3"})
	}
	svg, err := c.SVG()
	if err != nil {
		return nil, err
	}
	number.Text += " Dashed: the closed form."
	number.Pictures = append(number.Pictures, picture{"predict", svg})
	for _, r := range all {
		if svg, err := os.ReadFile(rolloutsFile(dir, r.key)); err == nil {
			number.Pictures = append(number.Pictures, picture{SVG: svg})
		}
	}
	return []section{times, number}, nil
}
