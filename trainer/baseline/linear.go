// Package baseline fits the predictors that a learned model has to beat: a linear model,
//
//	z⁺ = A z + B ū + c   by least squares on the lifted state, rolled out,
//
// and a direct ridge regression for each time ahead on state, plan and the last samples.
// They are fitted on the training log alone, scored on the same windows as the model, and
// stored with it.
package baseline

import (
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/estimator/linear"
	"github.com/dgm-robotics/dgm/trainer/leastsquares"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/score"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// steps are the lengths of a step that are tried, in samples. One sample reads
// the noise of a velocity as acceleration; five average it.
var steps = []int{1, 5}

// choiceWindows bounds the training windows that steps are compared on.
const choiceWindows = 1000

// Linear fits the linear model to the flights with each length of a step and
// returns the one whose roll-outs over the horizon H, s, follow the flights
// better. The error names what the log lacks.
func Linear(flights []window.Flight, task window.Task) (*linear.Model, error) {
	if len(flights) == 0 {
		return nil, fmt.Errorf("linear baseline: no flight to fit to")
	}
	dt := window.Interval(flights)
	var best *linear.Model
	least := math.Inf(1)
	for _, n := range steps {
		m, ok := fitStep(flights, task, float64(n)*dt)
		if !ok {
			continue
		}
		if e := rollOutError(flights, task, m); e < least {
			best, least = m, e
		}
	}
	if best == nil {
		l := linear.NewLifting(task.States)
		return nil, fmt.Errorf("linear baseline: no finite fit of %d coefficients a channel to %d samples, %.3g s apart: log faster, or longer",
			l.Z+task.Inputs+1, window.Samples(flights), dt)
	}
	return best, nil
}

// rollOutError returns the geometric mean, over channels and four horizons, of
// the error of m over that of holding the last value; +Inf if it overflows.
func rollOutError(flights []window.Flight, task window.Task, m *linear.Model) float64 {
	K, H := len(task.States), task.Horizon
	times := []float64{0.1 * H, 0.2 * H, 0.5 * H, H}
	r, err := linear.New(m, task.States, task.Inputs, times)
	if err != nil {
		panic(err) // the fit has made the wrong shapes
	}
	windows := window.Cut(flights, H, 0)
	every := max(1, len(windows)/choiceWindows)
	thin := make([]window.Window, 0, len(windows)/every+1)
	for i := 0; i < len(windows); i += every {
		thin = append(thin, windows[i])
	}
	pred, model, hold := make([]float64, len(times)*K), make([]float64, len(times)*K), make([]float64, len(times)*K)
	for w := range replay.Each(flights, thin, times) {
		if !r.Predict(pred, w.X0, &w.Input) {
			return math.Inf(1)
		}
		for j := range times {
			for k, d := range w.Measured[j*K : (j+1)*K] {
				if math.IsNaN(d) {
					continue
				}
				e := pred[j*K+k] - d
				model[j*K+k] += e * e
				hold[j*K+k] += d * d
			}
		}
	}
	var num, den []float64
	for i := range model {
		if hold[i] > 0 && model[i] > 0 {
			num, den = append(num, math.Sqrt(model[i])), append(den, math.Sqrt(hold[i]))
		}
	}
	if len(num) == 0 {
		return 0 // nothing moves, or all is exact: any step does
	}
	if g := score.GeoRatio(num, den); !math.IsNaN(g) {
		return g
	}
	return math.Inf(1)
}

// fitStep returns the linear model with the given step, s, that predicts one
// step best in the least-squares sense. What is regressed is the increment of
// the lifted state over the step, on the lifted state and the mean input; an
// invariant channel is not read, only moved. ok is false where there are too few
// pairs of states one step apart.
func fitStep(flights []window.Flight, task window.Task, step float64) (*linear.Model, bool) {
	states, inputs := task.States, task.Inputs
	l := linear.NewLifting(states)
	var read []int // places of z that are read
	for k, at := range l.At {
		if states[k].Invariant && l.Omega[k] == 0 {
			continue
		}
		read = append(read, at)
		if l.Omega[k] > 0 {
			read = append(read, at+1)
		}
	}
	V := len(read) + inputs
	g := leastsquares.New(V, l.Z, nil)
	row := make([]float64, V+l.Z)
	z, zNext, next := make([]float64, l.Z), make([]float64, l.Z), make([]float64, l.K)
	for i := range flights {
		f := &flights[i]
		for _, s := range f.Starts(nil, step, 0) {
			if !f.StateAt(next, f.T[s]+step) {
				continue
			}
			l.Lift(z, f.State(s))
			l.Lift(zNext, next)
			for j, at := range read {
				row[j] = z[at]
			}
			f.InputMean(row[len(read):V], f.T[s], f.T[s]+step)
			for j := range z {
				row[V+j] = zNext[j] - z[j]
			}
			g.Add(row)
		}
	}
	if g.N() <= V+1 {
		return nil, false
	}
	W, c, ok := g.Solve(V, leastsquares.Apart)
	if !ok {
		return nil, false
	}
	m := &linear.Model{Step: step, A: make([]float64, l.Z*l.Z), B: make([]float64, l.Z*inputs), C: c}
	for j := range l.Z {
		m.A[j*l.Z+j] = 1
		for i, at := range read {
			m.A[j*l.Z+at] += W[j*V+i]
		}
		copy(m.B[j*inputs:(j+1)*inputs], W[j*V+len(read):(j+1)*V])
	}
	return m, true
}
