package estimator

import (
	"math"

	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// intervalWork is the memory for the factors of the variances of one channel at all N
// points of a Fast.
type intervalWork struct {
	mean                  []float64 // of the members, without the network weight
	total, noise          []float64 // variances with that of the posterior and without, state units
	motion, ratio, spread []float64 // of what a covariate is the logarithm, then that
	rough                 []float64
	factor                []float64
}

func newIntervalWork(n int) intervalWork {
	all := make([]float64, 8*n)
	part := func(i int) []float64 { return all[i*n : (i+1)*n] }
	return intervalWork{mean: part(6), total: part(0), noise: part(1), motion: part(2), ratio: part(3), spread: part(4), factor: part(5), rough: part(7)}
}

// factors sets factor for channel k: intervals.factor at all points, by vectors. total and
// noise are set.
func (f *Fast) factors(k int, spreads []float64) {
	v, w, K := &f.plain.intervals, &f.w.interval, f.plain.m.K
	c, order, moved := v.of.calibration, f.g.order[:len(w.factor)], f.w.prior.displacement
	log := v.perChannel[k]
	add := func(j model.Covariate, x []float64, scale float64) float64 {
		f64.Log(x, x)
		b := c.Coefficient[j][k]
		log -= b * c.Centre[j]
		if most, _ := c.Bounds(j); math.IsInf(most, 1) {
			return b * scale
		}
		for lane, v := range x {
			within, added := c.Counted(j, scale*v)
			x[lane] = b*within + added
		}
		return 1
	}
	var bMotion, bRatio, bSpread, bRough float64
	if v.of.uses[model.CovariateMotion] {
		for lane, i := range order {
			w.motion[lane] = leastShare
			if typical := v.typical[i*K+k]; typical > 0 {
				w.motion[lane] += math.Abs(moved[lane*K+k]) / typical
			}
		}
		bMotion = add(model.CovariateMotion, w.motion, 1)
	}
	if v.of.uses[model.CovariateVariance] {
		f64.Div(w.ratio, w.total, w.noise)
		bRatio = add(model.CovariateVariance, w.ratio, 0.5)
	}
	if v.of.uses[model.CovariateSpread] {
		f64.Sqrt(w.spread, w.noise)
		for lane, noise := range w.spread {
			w.spread[lane] = leastShare + spreads[lane*K+k]/noise
		}
		bSpread = add(model.CovariateSpread, w.spread, 1)
	}
	if v.usesRoughness() {
		f64.Sqrt(w.rough, w.noise)
		for lane, noise := range w.rough {
			w.rough[lane] = leastShare + v.rough[k]/noise
		}
		bRough = add(model.CovariateRoughness, w.rough, 1)
	}
	for lane, i := range order {
		w.factor[lane] = 2 * (v.of.logScale[i*K+k] + log + bMotion*w.motion[lane] + bRatio*w.ratio[lane] + bSpread*w.spread[lane] + bRough*v.fading[i]*w.rough[lane])
	}
	f64.Exp(w.factor, w.factor)
	for lane, i := range order {
		w.factor[lane] = v.bounded(i*K+k, w.factor[lane], w.total[lane], moved[lane*K+k])
	}
}
