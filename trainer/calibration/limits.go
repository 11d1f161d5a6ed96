package calibration

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/ood"
)

// flaggedShares are the shares of the windows held out that one measure may flag, and
// mostOutside that of the errors outside of their 95 % intervals with which windows hold
// their promise.
var flaggedShares = []float64{0.01, 0.02, 0.05, 0.1, 0.15, 0.2}

const mostOutside = 0.12

// seen is one window held out.
type seen struct {
	weight     float64    // every fold counts the same
	far        [3]float64 // as in heldWindow
	n, outside float64    // errors, and those outside of the 95 % intervals
}

// limitsOf returns the distance, the leverage and the input score from which on a window is
// flagged: from the farthest windows held out inwards, as long as less than 88 % of the
// errors are within their 95 % intervals. Where there are none, the measure does not follow the error, and the limit
// is beyond all that was held out.
func limitsOf(folds []*heldErrors, r *regression, q quantiles) ood.Limits {
	windows := seenBy(folds, r, q)
	var limit [3]float64
	for m := range limit {
		var values []weighted
		for i := range windows {
			values = append(values, weighted{windows[i].far[m], windows[i].weight})
		}
		limit[m] = quantile(values, 1)
		for _, share := range flaggedShares {
			at := quantile(values, 1-share)
			if outsideBetween(windows, m, at, limit[m]) <= mostOutside {
				break
			}
			limit[m] = at
		}
	}
	return ood.Limits{Distance: limit[0], Leverage: limit[1], Input: math.Max(limit[2], 1)}
}

// outsideBetween returns the share of errors outside of their intervals among windows whose
// measure m is above low and at most high; 0 of none.
func outsideBetween(windows []seen, m int, low, high float64) float64 {
	outside, n := 0.0, 0.0
	for i := range windows {
		if w := &windows[i]; w.far[m] > low && w.far[m] <= high {
			outside += w.weight * w.outside
			n += w.weight * w.n
		}
	}
	return outside / math.Max(n, 1e-300)
}

// seenBy counts the errors of every window.
func seenBy(folds []*heldErrors, r *regression, q quantiles) (out []seen) {
	centre := r.centre
	for _, e := range folds {
		for i := range e.windows {
			w := &e.windows[i]
			s := seen{weight: 1 / float64(len(e.windows)), far: w.far}
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
