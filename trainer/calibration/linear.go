package calibration

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/linear"
	"github.com/dgm-robotics/dgm/trainer/baseline"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// firstKnot replaces the knot at τ = 0, where nothing has moved yet.
const firstKnot = 0.01

// LinearStd returns the standard deviation of the linear baseline at every knot of the
// horizon and for every channel (K×Q, state units) with which its 95 % intervals cover
// 95 % of what each fold holds out, the folds averaged as they are for the learned model;
// nil if there are no folds.
func LinearStd(folds []window.Fold, task window.Task, knots []float64) ([]float64, error) {
	if len(folds) == 0 {
		return nil, nil
	}
	K, Q, H := len(task.States), len(knots), task.Horizon
	times := make([]float64, Q)
	for q, tau := range knots {
		times[q] = math.Max(tau, firstKnot) * H
	}
	logs := make([]float64, K*Q)
	for _, fold := range folds {
		m, err := baseline.Linear(fold.Train, task)
		if err != nil {
			return nil, err
		}
		roll, err := linear.New(m, task.States, task.Inputs, times)
		if err != nil {
			return nil, err
		}
		for j, e := range linearErrors(roll, window.Compared(fold.Held), H, times) {
			logs[j] += math.Log(math.Max(quantile95(e), 1e-12))
		}
	}
	for j := range logs {
		logs[j] = math.Exp(logs[j] / float64(len(folds)))
	}
	return logs, nil
}

// linearErrors returns the errors of the linear baseline at the times, s (K×Q lists).
func linearErrors(roll *linear.Rollout, held []window.Flight, H float64, times []float64) [][]float64 {
	K, Q := held[0].K, len(times)
	errs, predicted := make([][]float64, K*Q), make([]float64, Q*K)
	for w := range replay.Each(held, window.Cut(held, H, H/20), times) {
		if !roll.Predict(predicted, w.X0, &w.Input) {
			continue // it diverges; windows on which it does not are scored
		}
		for j, y := range w.Measured {
			if !math.IsNaN(y) {
				at := j%K*Q + j/K
				errs[at] = append(errs[at], y-predicted[j])
			}
		}
	}
	return errs
}
