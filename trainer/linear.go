package trainer

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/linear"
	"github.com/dgm-robotics/dgm/trainer/baseline"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// linearErrors gives the linear model the interval that it deserves: at every knot
// of the horizon and for every channel (K×Q, state units) the standard deviation
// that makes 95 % of its intervals hold what each fold did, the folds averaged as
// they are for the learned model. nil if there are no folds.
func linearErrors(parts []window.Fold, states []channel.Channel, P int, H float64, knots []float64) ([]float64, error) {
	K, Q := len(states), len(knots)
	times := make([]float64, Q)
	for q, tau := range knots {
		times[q] = math.Max(tau, firstKnot) * H
	}
	logs, n := make([]float64, K*Q), 0.0
	for _, f := range parts {
		m, err := baseline.Linear(f.Train, states, P, H)
		if err != nil {
			return nil, err
		}
		roll, err := linear.New(m, states, P, times)
		if err != nil {
			return nil, err
		}
		errs := make([][]float64, K*Q)
		dst, y := make([]float64, Q*K), make([]float64, K)
		var u window.Input
		for _, w := range window.Cut(f.Held, H, H/20) {
			fl := &f.Held[w.Flight]
			u = window.Input{Flight: fl, Start: w.Start}
			if !roll.Predict(dst, fl.State(w.Start), &u) {
				continue // it runs away; those that do not are scored
			}
			for q, t := range times {
				fl.Displacement(y, w.Start, t)
				for k := range K {
					if !math.IsNaN(y[k]) {
						errs[k*Q+q] = append(errs[k*Q+q], y[k]-dst[q*K+k])
					}
				}
			}
		}
		for j, e := range errs {
			logs[j] += math.Log(math.Max(quantile95(e), 1e-12))
		}
		n++
	}
	if n == 0 {
		return nil, nil
	}
	for j := range logs {
		logs[j] = math.Exp(logs[j] / n)
	}
	return logs, nil
}

// firstKnot stands in for the knot at τ = 0, where nothing has moved yet.
const firstKnot = 0.01
