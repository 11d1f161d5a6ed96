package baseline

import (
	"context"
	"errors"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/ridge"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Of the direct ridge regression: earlier samples that it reads, parts of the plan, the number
// of columns up to which their products are columns too, folds that choose the penalty, and
// the most windows that it is fitted to.
const (
	earlier      = 5
	blocks       = 5
	products     = 24
	folds        = 4
	ridgeWindows = 8000
)

// RidgeConfig describes the fit of the direct ridge regression at some times, s: on state, plan
// and every number of earlier samples in rows, ascending.
func RidgeConfig(flights []window.Flight, times []float64, rows []int, stride float64, readouts ...model.Readout) ridge.Config {
	cfg := ridge.Config{Times: times, Rows: rows, Readouts: readouts, Blocks: blocks, Products: products, Stride: stride}
	interval := window.Interval(flights)
	for j := range rows[len(rows)-1] {
		cfg.History.Edges = append(cfg.History.Edges, float64(j+1)*interval)
	}
	return cfg
}

// Ridge fits a direct ridge regression on state, plan and the last five samples for each of
// the times, s. Where the flights are too short for it, the result has no levels.
func Ridge(ctx context.Context, flights []window.Flight, task window.Task, times []float64) (model.Ridge, error) {
	readouts := []model.Readout{model.Plan}
	if task.Inputs > 0 {
		readouts = append(readouts, model.Hold)
	}
	cfg := RidgeConfig(flights, times, []int{earlier}, task.Horizon/50, readouts...)
	cfg.Windows = ridgeWindows
	if cfg.History.Check() != nil { // samples too dense for a history, or too far apart
		cfg.Rows, cfg.History.Edges = nil, nil
	}
	f, err := ridge.Fit(ctx, flights, window.Folds(flights, task.Horizon, folds), task, cfg)
	if errors.Is(err, ridge.ErrTooFew) {
		return model.Ridge{}, nil
	}
	if err != nil {
		return model.Ridge{}, err
	}
	out := model.Ridge{Direct: f.Model, History: cfg.History}
	out.Direct.Range, out.Direct.Change = nil, nil // a baseline needs none
	return out, nil
}
