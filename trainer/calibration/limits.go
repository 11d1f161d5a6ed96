package calibration

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/ood"
)

// Shares of the windows held out that are flagged by one measure at most, and of errors
// outside of the 95 % intervals with which a fold holds its promise.
const (
	flaggedShare = 0.03
	mostOutside  = 0.1
)

// seen is one window held out.
type seen struct {
	fold       int
	weight     float64
	far        [3]float64 // as in heldWindow
	n, outside float64    // errors, and those outside of the 95 % intervals
}

// limitsOf returns the distance, the leverage and the input score from which on a window is
// flagged: those that 3 % of the windows are beyond, of the folds whose intervals cover 90 %.
// Where errors beyond a limit are within their intervals as often as others, the measure
// does not follow the error, and the limit is beyond all that was held out.
func limitsOf(folds []*heldErrors, r *regression, q quantiles) ood.Limits {
	windows := seenBy(folds, r, q)
	outside, n := make([]float64, len(folds)), make([]float64, len(folds))
	for i := range windows {
		outside[windows[i].fold] += windows[i].outside
		n[windows[i].fold] += windows[i].n
	}
	holds, any := make([]bool, len(folds)), false
	for f := range folds {
		holds[f] = outside[f] <= mostOutside*n[f]
		any = any || holds[f]
	}
	var limit [3]float64
	for m := range limit {
		var values []weighted
		most := 0.0
		for i := range windows {
			w := &windows[i]
			most = math.Max(most, w.far[m])
			if holds[w.fold] || !any {
				values = append(values, weighted{w.far[m], w.weight})
			}
		}
		limit[m] = quantile(values, 1-flaggedShare)
		if !follows(windows, m, limit[m]) {
			limit[m] = most
		}
	}
	return ood.Limits{Distance: limit[0], Leverage: limit[1], Input: math.Max(limit[2], 1)}
}

// follows reports whether errors of windows beyond a limit of measure m are more often
// outside of their intervals than those of the others.
func follows(windows []seen, m int, limit float64) bool {
	var outside, n [2]float64
	for i := range windows {
		side := 0
		if windows[i].far[m] > limit {
			side = 1
		}
		outside[side] += windows[i].outside
		n[side] += windows[i].n
	}
	return n[1] > 0 && outside[1]*n[0] > outside[0]*n[1]
}

// seenBy counts the errors of every window.
func seenBy(folds []*heldErrors, r *regression, q quantiles) (out []seen) {
	centre := r.centre
	for f, e := range folds {
		for i := range e.windows {
			w := &e.windows[i]
			s := seen{fold: f, weight: 1 / float64(len(e.windows)), far: w.far}
			for j := range w.errors {
				at := &w.errors[j]
				if at.std == 0 {
					continue
				}
				c := cell{at: j / len(r.level), x: at.x}
				for n := range c.x {
					c.x[n] -= centre[n]
				}
				s.n++
				if math.Abs(at.z) > math.Exp(r.log(j%len(r.level), &c))*q.q95[c.at] {
					s.outside++
				}
			}
			if s.n > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}
