package calibration

import (
	"math"
	"slices"
	"sync"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// leastGain is the log likelihood of a point that a form with fewer coefficients must add.
const leastGain = 0.01

// choose returns the form: each channel's own coefficients, unless the likelihood on folds that
// are left out is higher by leastGain with one for all channels, or with the prior ones.
func (c *cells) choose(allowed []model.Covariate) form {
	if c.folds < 2 || len(allowed) == 0 {
		return form{terms: allowed}
	}
	best, some := form{allowed, own}, c.every(thinned)
	scores, least := some.crossValidate(best), leastGain
	for _, f := range []form{{allowed, pooled}, {allowed, fixed}} {
		s := some.crossValidate(f)
		if gain, _ := PairedDifference(s, scores); gain > least {
			best, scores, least = f, s, 0
		}
	}
	return best
}

// thinned is of how many cells one is enough to choose a form, which has few numbers. It has no factor in common with the
// scored times, so that all of these are left.
const thinned = 3

// crossValidate returns the mean log likelihood of a point of each fold under the
// regression to the others.
func (c *cells) crossValidate(f form) []float64 {
	out := make([]float64, c.folds)
	var wait sync.WaitGroup
	for fold := range out {
		wait.Go(func() {
			r, sum, n := c.regress(f, fold), 0.0, 0.0
			c.each(fold, func(k int, e *cell) {
				sum -= e.strata * loss(e.z, r.log(k, e))
				n += e.strata
			})
			out[fold] = sum / n
		})
	}
	wait.Wait()
	return out
}

// quantiles are those of |z|/σ at every scored time. Of folds that hold out whole flights they are
// geometric means over folds, so that one that is unlike all others does not decide alone. Of blocks
// of the same flights they are those of all errors, every fold weighing the same: where a robot mostly
// rests few blocks show motion, and a mean over blocks is that of rest.
type quantiles struct {
	q50, q95      []float64 // T
	standardError float64   // of the log of the 95 % quantile, over folds; 0 of all errors
}

// mostApart is how far from the median of the folds the log of a fold's quantile counts.
const mostApart = 0.5

// quantiles returns those of a form: each fold under the regression to the others, where
// leaving out is asked for and there are others, else under that to all. Together is whether
// they are those of the errors of all folds.
func (c *cells) quantiles(f form, leaveOut, together bool) quantiles {
	q50, q95 := make([][]float64, c.T), make([][]float64, c.T)
	var whole []float64
	errors := make([][]weighted, c.T)
	r := c.whole(f)
	for fold := range c.folds {
		if leaveOut && c.folds > 1 {
			r = c.regress(f, fold)
		}
		var all []weighted
		at := make([][]weighted, c.T)
		c.each(fold, func(k int, e *cell) {
			v := weighted{math.Abs(e.z) * math.Exp(-r.log(k, e)), e.weight}
			all, at[e.at] = append(all, v), append(at[e.at], v)
		})
		whole = append(whole, logQuantile(all, 0.95))
		for i, v := range at {
			if len(v) > 0 {
				q50[i], q95[i] = append(q50[i], logQuantile(v, 0.5)), append(q95[i], logQuantile(v, 0.95))
			}
			errors[i] = append(errors[i], v...)
		}
	}
	if together {
		return pooledQuantiles(errors)
	}
	var out quantiles
	for i := range c.T {
		out.q50, out.q95 = append(out.q50, winsorised(q50[i])), append(out.q95, winsorised(q95[i]))
	}
	_, out.standardError = Mean(clipped(whole))
	return out
}

// pooledQuantiles returns those of the errors of all folds; 1 of none.
func pooledQuantiles(errors [][]weighted) (out quantiles) {
	for _, v := range errors {
		q50, q95 := 1.0, 1.0
		if len(v) > 0 {
			q50, q95 = math.Exp(logQuantile(v, 0.5)), math.Exp(logQuantile(v, 0.95))
		}
		out.q50, out.q95 = append(out.q50, q50), append(out.q95, q95)
	}
	return out
}

func logQuantile(v []weighted, p float64) float64 {
	return math.Log(math.Max(quantile(v, p), 1e-12))
}

// winsorised returns the exponential of the mean of logs, clipped; 1 of none.
func winsorised(logs []float64) float64 {
	mean, _ := Mean(clipped(logs))
	return math.Exp(mean)
}

// clipped returns values within mostApart of their median.
func clipped(v []float64) []float64 {
	out := slices.Sorted(slices.Values(v))
	if len(out) == 0 {
		return nil
	}
	median := 0.5 * (out[(len(out)-1)/2] + out[len(out)/2])
	for i, x := range out {
		out[i] = math.Min(math.Max(x, median-mostApart), median+mostApart)
	}
	return out
}
