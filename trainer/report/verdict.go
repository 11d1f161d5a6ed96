package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// Verdict states in a few sentences whether a model is fit for use, from its held-out
// table: whether it is better than the baselines, what the networks add, whether 95 %
// intervals cover 95 % of held-out data, up to which horizon, and what changes where the
// plan is not known (hold, nil without inputs), and the share of predictions flagged OOD
// where it is large, and whether whole flights were held out. partial is the reason why the training ended early,
// empty if it did not. good is whether no sentence is a reason for concern.
func Verdict(t, hold *evaluate.Table, partial string) (line string, good bool) {
	if t == nil {
		return "No data were held out: the error on new flights is unknown.", false
	}
	good = t.Better() && partial == ""
	parts := []string{t.Verdict()}
	if partial != "" {
		parts[0] = "The training ended early. " + parts[0]
	}
	if t.Networks != nil {
		parts = append(parts, t.Networks.Brief())
	}
	low, high := t.CoverageRange()
	parts = append(parts, fmt.Sprintf("95 %% intervals covered %s of the held-out measurements.", evaluate.Percent(low, high)))
	if low > 0.985 {
		good = false
		parts = append(parts, "They are wider than necessary.")
	}
	if c := t.Calibrated; c != nil && !c.Better() {
		good = false
		parts = append(parts, fmt.Sprintf("A linear model with calibrated intervals predicts distributions as well: log likelihood %.2f against the model's %.2f, CRPS ratio %.2f.", c.LinearLogLik, c.LogLik, c.CRPS))
	}
	good = good && !farBehind(t)
	if s := supported(t); s < t.Horizons[len(t.Horizons)-1].T {
		good = false
		what := "The data support"
		if partial != "" { // the cause may be the time, not the data
			what = "The unfinished training supports"
		}
		if s == 0 {
			parts = append(parts, what+" no horizon: no prediction is better than holding the last value with calibrated intervals.")
		} else {
			parts = append(parts, fmt.Sprintf("%s a horizon of %g s, not more.", what, s))
		}
	}
	if hold != nil {
		low, high := hold.CoverageRange()
		parts = append(parts, fmt.Sprintf("Without a plan, with the last input held: %s with the plan, and 95 %% intervals covered %s.", comparedRMSE(hold.Geo.Model/t.Geo.Model), evaluate.Percent(low, high)))
		good = good && low > 0.85
	}
	if t.WholeFlights != nil && !*t.WholeFlights {
		parts = append(parts, "No whole flight was held out: errors and coverage on another flight are not known; log four flights or more.")
	}
	if s := t.FlaggedOOD(); s >= manyFlagged {
		parts = append(parts, fmt.Sprintf("%s of the held-out predictions were flagged OOD; do not plan on flagged predictions.", evaluate.Percent(s, s)))
	}
	return strings.Join(parts, " "), good
}

// manyFlagged is the share of predictions flagged OOD from which the verdict mentions them.
const manyFlagged = 0.1

// comparedRMSE phrases a ratio of two RMSEs up to the name of the second.
func comparedRMSE(ratio float64) string {
	text := evaluate.RelativeRMSE(ratio)
	if text == evaluate.RelativeRMSE(1) {
		return text + " as"
	}
	return text + " than"
}

// farBehind reports whether some channel is far behind a baseline: a planner that uses
// it is worse off than without the model.
func farBehind(t *evaluate.Table) bool {
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
