// Package predictors compares the model with predictors of Python libraries on public recordings of
// robots, fitted to the same flights and scored on the same windows, and with itself without parts of
// its recipe.
package predictors

import (
	"context"
	"fmt"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// ours is the model among the predictors of a unit.
const ours = "model"

// predict writes the displacement of a window at the horizons of the recording to mean
// (T×K), and its standard deviation about measurements to std (T×K).
type predict func(mean, std []float64, w *replay.Window) error

// predictor is a predictor that was fitted.
type predictor struct {
	name    string
	predict predict
	seconds float64 // that its fit took, by the clock

	simulate func(f *window.Flight, initial int) error // (optional) writes the states of a flight after its initial samples, see freeRun

	half50 func(w *replay.Window, place int) float64 // (optional) half width of the 50 % interval of a channel and time (T×K) over its standard deviation; nil = a Gaussian's
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
	simulate := func(f *window.Flight, initial int) error { return chained(fast, f, initial, d.of.horizon()) }
	return predictor{name: ours, seconds: time.Since(began).Seconds(), simulate: simulate, half50: func(*replay.Window, int) float64 { return p.Half50 }, predict: func(mean, std []float64, w *replay.Window) error {
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
