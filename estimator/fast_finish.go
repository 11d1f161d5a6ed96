package estimator

import (
	"math"
)

// finish turns means and variances of the members into the prediction: combine and
// finish of a Predictor, point by point in double precision.
func (f *Fast) finish(dst *Prediction, q *Query) (ok bool) {
	g, w, m := f.g, &f.w, f.plain.m
	K, n := m.K, len(g.times)
	carried := q.P0 != nil && m.Displacement
	if carried {
		f.carry(q, dst.Readout)
	}
	f.plain.startMotion(dst)
	for lane, i := range g.order[:len(g.points)] {
		for k := range K {
			w.moved[k] = w.base.base[k*len(g.points)+lane]
		}
		w.growth[lane] = f.plain.growth(dst, i, w.moved)
	}
	part := &g.parts[dst.Readout]
	members, refits := w.means[:len(f.c.members)], w.means[len(f.c.members):]
	perMember, perRefit := 1/float64(len(members)), 1/math.Max(float64(len(refits)), 1)
	perVariance := 1 / float64(f.c.variances)
	ok = true
	for k := range K {
		origin := 0.0
		if m.Displacement {
			origin = q.X0[k]
		} else {
			origin = m.Origin[k]
		}
		for lane, i := range g.order[:len(g.points)] {
			j := k*n + lane
			mean := 0.0
			for _, e := range members {
				mean += float64(e[j])
			}
			mean *= perMember
			spread := 0.0
			for _, e := range members {
				d := float64(e[j]) - mean
				spread += d * d
			}
			variance := w.v[j]*perVariance + spread*perMember
			if len(refits) > 0 {
				spread = 0
				for _, e := range refits {
					d := float64(e[j]) - mean
					spread += d * d
				}
				variance = math.Max(variance, spread*perRefit)
			}
			state := variance*g.scale[j] + part.state[j]
			factor := w.growth[lane] * part.widen[j]
			start := 0.0
			if carried {
				start = startFactor(factor) * math.Max(0, float64(w.carry.variance[j]))
			}
			at := i*K + k
			dst.Mean[at] = origin + w.base.base[k*len(g.points)+lane] + part.gain[j]*mean
			dst.Std[at] = math.Sqrt(factor*factor*state + start)
			dst.ObsStd[at] = math.Sqrt(factor*factor*(state+part.obs[j]) + start)
			ok = ok && finite(dst.Mean[at]) && finite(dst.ObsStd[at])
		}
	}
	return ok && finite(dst.OOD)
}
