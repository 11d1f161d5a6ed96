// Package predictors compares the model with predictors of Python libraries on public recordings of
// robots, fitted to the same flights and scored on the same windows, and with itself without parts of
// its recipe.
package predictors

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/score"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Predictors of a unit: the model, and those of Python libraries.
const (
	ours      = "model"
	libraries = "libraries" // of Python
)

// predict writes the displacement of a window at the horizons of the recording to mean
// (T×K), and its standard deviation about measurements to std (T×K).
type predict func(mean, std []float64, w *replay.Window) error

// predictor is a predictor that was fitted.
type predictor struct {
	name    string
	predict predict
	seconds float64 // that its fit took, by the clock

	half50 func(w *replay.Window, place int) float64 // (optional) half width of the 50 % interval of a channel and time (T×K) over its standard deviation; nil = a Gaussian's
}

// folds of what is fitted for the intervals of the baselines.
const folds = 4

// overflow bounds the displacement of a roll-out that overflows, in the channel's unit.
const overflow = 1e12

// point predicts displacements (T×K) without an interval.
type point func(mean []float64, w *replay.Window)

// with returns the predictor of a name with constant standard deviations (T×K).
func (p point) with(std []float64, name string, seconds float64) predictor {
	return predictor{name: name, seconds: seconds, predict: func(mean, s []float64, w *replay.Window) error {
		p(mean, w)
		copy(s, std)
		return nil
	}}
}

// bound replaces what overflows.
func bound(mean []float64) {
	for j, v := range mean {
		if !(math.Abs(v) <= overflow) {
			mean[j] = overflow
		}
	}
}

// coveringStd returns the standard deviation of every channel at every horizon (T×K) whose
// 95 % interval covers 95 % of the errors that the predictors, one for each fold, make on
// what their folds hold out.
func coveringStd(d *data, split []window.Fold, predictors []point) ([]float64, error) {
	size := len(d.of.horizons) * len(d.task.States)
	residuals, mean := make([][]float64, size), make([]float64, size)
	for i, fold := range split {
		for w := range replay.Each(fold.Held, window.Cut(fold.Held, d.task.Horizon, d.of.stride), d.of.horizons) {
			predictors[i](mean, w)
			for j, y := range w.Measured {
				if !math.IsNaN(y) {
					residuals[j] = append(residuals[j], y-mean[j])
				}
			}
		}
	}
	std := make([]float64, size)
	for j, r := range residuals {
		if len(r) == 0 {
			return nil, errUnmeasured(d, j)
		}
		std[j] = score.CoveringStd(r)
	}
	return std, nil
}

// errUnmeasured is the error of a channel and horizon j (T×K) without measurements.
func errUnmeasured(d *data, j int) error {
	K := len(d.task.States)
	return fmt.Errorf("channel %q is not measured %g s after any start", d.task.States[j%K].Name, d.of.horizons[j/K])
}

// planRows is the number of rows that the input over the horizon is averaged into.
const planRows = 50

// learned trains the model with the default recipe.
func learned(ctx context.Context, d *data) (predictor, error) {
	began := time.Now()
	res, err := trainer.Train(ctx, d.train, d.settings, nil)
	if err != nil {
		return predictor{}, err
	}
	if res.Partial != "" {
		return predictor{}, fmt.Errorf("the training ended early: %s; run it on an otherwise idle machine", res.Partial)
	}
	fast, err := estimator.NewFast(res.Model, d.of.horizons)
	if err != nil {
		return predictor{}, err
	}
	p, q, K := fast.NewPrediction(), &estimator.Query{}, res.Model.K
	return predictor{name: ours, seconds: time.Since(began).Seconds(), half50: func(*replay.Window, int) float64 { return p.Half50 }, predict: func(mean, std []float64, w *replay.Window) error {
		w.Query(q, res.Model, model.Plan, planRows)
		if !fast.Predict(p, q) {
			return fmt.Errorf("segment %q, sample %d: a prediction is not finite", w.Flight.Name, w.Start)
		}
		for j, m := range p.Mean {
			mean[j], std[j] = m-w.X0[j%K], p.ObsStd[j]
		}
		return nil
	}}, nil
}
