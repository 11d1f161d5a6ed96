package trainer

import (
	"fmt"
	"math"

	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// verdict says in a few sentences whether the model is worth flying: whether it
// beats the simple predictors, whether its intervals are true, up to which horizon,
// and what becomes of it where the plan is not known. good is whether there is
// nothing to worry about.
func verdict(res *Result) (line string, good bool) {
	t := res.Table
	if t == nil {
		return "No data were held out: nothing is known about flights that the model has not seen.", false
	}
	line, good = t.Verdict(), t.Beats()
	if res.Partial != "" {
		good = false
		line = "The training ended early: " + line
	}
	low, high := t.CoverageRange()
	line += " Its 95 % intervals held " + evaluate.Percent(low, high) + " of the held-out measurements, by horizon."
	if low > 0.985 {
		good = false
		line += " They are wider than they need to be."
	}
	if f := t.Calibrated; f != nil && !f.Better() {
		good = false
		line += fmt.Sprintf(" A linear model with calibrated intervals predicts distributions as well: log likelihood %.2f against the model's %.2f, CRPS ratio %.2f.", f.LinearLogLik, f.LogLik, f.CRPS)
	}
	good = good && !lost(t)
	if s := supported(t); s < t.Horizons[len(t.Horizons)-1].T {
		good = false
		what := "The data support"
		if res.Partial != "" { // that may be for want of time, not of data
			what = "As far as it got, it supports"
		}
		if s == 0 {
			line += " " + what + " no horizon: nothing is predicted better than by holding the last value with true intervals."
		} else {
			line += fmt.Sprintf(" %s a horizon of %g s, not more.", what, s)
		}
	}
	if h := res.HoldTable; h != nil {
		low, high := h.CoverageRange()
		line += fmt.Sprintf(" Without a plan, the last input held, it has %.3g times the error that it has with one, and its intervals held %s.", h.Geo.Model/t.Geo.Model, evaluate.Percent(low, high))
		good = good && low > 0.85
	}
	return line, good
}

// lost reports whether some channel is far behind a simple predictor: a planner that uses
// it is worse off than without the model.
func lost(t *evaluate.Table) bool {
	const far = 1.5
	all := t.WorstRatios()
	return len(all) > 0 && all[0].Ratio > far
}

// supported returns the longest horizon up to which predictions are better than
// the last value and the interval of their coverage reaches 0.9; 0 if none is.
func supported(t *evaluate.Table) float64 {
	s := 0.0
	for _, h := range t.Horizons {
		log := 0.0
		for _, c := range h.Channels {
			if c.Hold > 0 && c.RMSE > 0 {
				log += math.Log(c.RMSE / c.Hold)
			}
		}
		if log > 0 || h.Coverage95High < 0.9 {
			break
		}
		s = h.T
	}
	return s
}
