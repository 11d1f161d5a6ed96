package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// finish turns means and variances of the members into the prediction: combine and
// finish of a Predictor, point by point in double precision.
func (f *Fast) finish(dst *Prediction, q *Query) (ok bool) {
	g, w, m := f.g, &f.w, f.plain.m
	K, n, N := m.K, len(g.times), len(g.points)
	withStart := q.P0 != nil && m.Displacement
	if withStart || dst.Jacobian != nil {
		f.startVariance(dst, q)
	}
	calibrated := f.plain.intervals.begin(dst, q)
	f.intervalFactors(dst)
	spread := w.prior.spreads()
	part, origin := &g.parts[dst.condition()], m.Origin
	if m.Displacement {
		origin = q.X0
	}
	ok = true
	for k := range K {
		v := &w.interval
		for lane := range N {
			j := k*n + lane
			mean, variance := f.ensemble(j)
			noise := part.state[j] + part.obs[j]
			v.mean[lane], v.noise[lane], v.total[lane] = mean, noise, variance*g.scale[j]+noise
		}
		if calibrated {
			f.factors(k, spread)
		}
		for lane, i := range g.order[:N] {
			j, at := k*n+lane, i*K+k
			factor := w.factor[lane] * part.scaleFactor[j]
			factor *= factor
			if calibrated {
				factor = v.factor[lane]
			}
			start := 0.0
			if withStart {
				start = startFactor(factor) * math.Max(0, float64(w.covariance.variance[j]))
			}
			f.plain.correlations.start[at] = start
			dst.Mean[at] = origin[k] + w.prior.displacement[lane*K+k] + part.networkWeight[j]*v.mean[lane]
			apart := w.prior.disagreement[lane*K+k]
			dst.Std[at] = math.Sqrt(f.plain.intervals.state(factor, math.Max(0, v.total[lane]-part.obs[j]), part.obs[j]) + apart + start)
			dst.ObsStd[at] = math.Sqrt(factor*v.total[lane] + apart + f.plain.intervals.beside[k] + start)
			if dst.Prior != nil {
				dst.Prior[at] = w.prior.displacement[lane*K+k]
			}
			if dst.Covariates != nil {
				f.plain.intervals.covariates(dst.Covariates[at*int(model.Covariates):], i, k, w.prior.displacement[lane*K+k], v.total[lane], v.noise[lane], spread[lane*K+k])
			}
			ok = ok && finite(dst.Mean[at]) && finite(dst.ObsStd[at])
		}
	}
	f.plain.correlate(dst, q)
	return ok && finite(dst.OOD)
}

// ensemble returns mean and variance over the members at place j of K×n.
func (f *Fast) ensemble(j int) (mean, variance float64) {
	c, w := f.c, &f.w
	members, refits := w.means[:len(c.members)], w.means[len(c.members):]
	for _, e := range members {
		mean += float64(e[j])
	}
	mean *= c.perMember
	variance = w.v[j]*c.perVariance + spread(members, j, mean)*c.perMember
	if len(refits) > 0 {
		variance = math.Max(variance, spread(refits, j, mean)*c.perRefit)
	}
	return mean, variance
}

// spread returns the sum of the squared distances of members from a mean.
func spread(members [][]float32, j int, mean float64) (sum float64) {
	for _, e := range members {
		d := float64(e[j]) - mean
		sum += d * d
	}
	return sum
}

// intervalFactors sets the factor of all intervals at every point.
func (f *Fast) intervalFactors(dst *Prediction) {
	w, K := &f.w, f.plain.m.K
	f.plain.startRMS(dst)
	for lane, i := range f.g.order[:len(f.g.points)] {
		w.factor[lane] = f.plain.intervalFactor(dst, i, w.prior.displacement[lane*K:(lane+1)*K])
	}
}
