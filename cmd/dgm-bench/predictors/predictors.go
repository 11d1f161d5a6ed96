package predictors

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/linear"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/baseline"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/ridge"
	"github.com/dgm-robotics/dgm/trainer/score"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Predictors of a unit: those that are fitted in seconds, ensembles of nets, and the model.
const (
	simple      = "simple"
	ours        = "model"
	trainedNets = "nets" // ensembles of nets
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

// baselines fits hold, constant velocity and the linear model. Their intervals are those
// that cover 95 % of what folds hold out, by channel and horizon.
func baselines(d *data, readout model.Readout) ([]predictor, error) {
	var derivative []int
	for _, c := range d.task.States {
		derivative = append(derivative, channel.Index(d.task.States, c.Derivative))
	}
	K, times := len(d.task.States), d.of.horizons
	fits := []struct {
		name string
		fit  func(flights []window.Flight) (point, error)
	}{
		{"hold", func([]window.Flight) (point, error) {
			return func(mean []float64, _ *replay.Window) { clear(mean) }, nil
		}},
		{"velocity", func([]window.Flight) (point, error) {
			return func(mean []float64, w *replay.Window) {
				for j := range mean {
					mean[j] = 0
					if v := derivative[j%K]; v >= 0 {
						mean[j] = w.X0[v] * times[j/K]
					}
				}
			}, nil
		}},
		{"linear", func(flights []window.Flight) (point, error) { return rollOut(flights, d.task, times, readout) }},
	}
	split := window.Folds(d.train.Flights, d.task.Horizon, folds)
	var out []predictor
	for _, f := range fits {
		began := time.Now()
		var held []point
		for _, fold := range split {
			p, err := f.fit(fold.Train)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.name, err)
			}
			held = append(held, p)
		}
		std, err := coveringStd(d, split, held)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		whole, err := f.fit(d.train.Flights)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		out = append(out, whole.with(std, f.name, time.Since(began).Seconds()))
	}
	return out, nil
}

func rollOut(flights []window.Flight, task window.Task, times []float64, readout model.Readout) (point, error) {
	m, err := baseline.Linear(flights, task)
	if err != nil {
		return nil, err
	}
	r, err := linear.New(m, task.States, task.Inputs, times)
	if err != nil {
		return nil, err
	}
	return func(mean []float64, w *replay.Window) {
		r.Predict(mean, w.X0, w.Signal(readout))
		bound(mean)
	}, nil
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

// earlier are the numbers of earlier samples of the ridge regressions.
var earlier = []int{1, 2, 5, 10, 20}

// ridgeName names the ridge regression with so many earlier samples.
func ridgeName(n int) string {
	if n == 0 {
		return "ridge"
	}
	return fmt.Sprintf("ridge + %d", n)
}

// ridges fits the direct ridge regression once, for all lengths of history.
func ridges(ctx context.Context, d *data, readout model.Readout) ([]predictor, error) {
	cfg, began := baseline.RidgeConfig(d.train.Flights, d.of.horizons, earlier, d.of.stride, readout), time.Now()
	split := window.Folds(d.train.Flights, d.task.Horizon, folds)
	m, err := ridge.Fit(ctx, d.train.Flights, split, d.task, cfg)
	if err != nil {
		return nil, err
	}
	seconds := time.Since(began).Seconds()
	var out []predictor
	for _, level := range m.Model.Levels {
		var held []point
		for i := range m.Folds {
			held = append(held, directPoint(&m.Folds[i], cfg, level))
		}
		std, err := coveringStd(d, split, held)
		if err != nil {
			return nil, err
		}
		out = append(out, directPoint(&m.Model, cfg, level).with(std, ridgeName(level.Rows), seconds))
	}
	return out, nil
}

// directPoint predicts with at most the rows of history that the level reads.
func directPoint(m *direct.Model, cfg ridge.Config, level direct.Level) point {
	K, P := len(m.Derivative), len(m.UMean)
	run, held := direct.New(m, K, cfg.Times[len(cfg.Times)-1]), replay.Held{}
	spec := history.Spec{Edges: cfg.History.Edges[:level.Rows]}
	return func(mean []float64, w *replay.Window) {
		var u channel.Signal = &w.Input
		if level.Readout == int(model.Hold) && P > 0 {
			held.Value = w.Flight.Input(w.Start)
			u = &held
		}
		run.Run(w.X0, u, level.Readout, w.History(spec))
		for i, t := range cfg.Times {
			run.At(mean[i*K:(i+1)*K], nil, t)
		}
	}
}

// planRows is the number of rows that the input over the horizon is averaged into.
const planRows = 50

// learned trains the model with the default recipe.
func learned(ctx context.Context, d *data, readout model.Readout) (predictor, error) {
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
		w.Query(q, res.Model, readout, planRows)
		if !fast.Predict(p, q) {
			return fmt.Errorf("segment %q, sample %d: a prediction is not finite", w.Flight.Name, w.Start)
		}
		for j, m := range p.Mean {
			mean[j], std[j] = m-w.X0[j%K], p.ObsStd[j]
		}
		return nil
	}}, nil
}
