package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// combine turns the sums over members into the ensemble: sum becomes the mean,
// sumV the variance with the members' spread, sumSq is cleared. Derivatives go
// to dst in units per second.
func (p *Predictor) combine(dst *Prediction, derivative bool) {
	n, nv := float64(len(p.members)), float64(p.variances)
	for j := range p.sum {
		mean := p.sum[j] / n
		spread := math.Max(0, p.sumSq[j]/n-mean*mean)
		p.sum[j], p.sumV[j], p.sigma2[j] = mean, p.sumV[j]/nv+spread, p.sigma2[j]/n
	}
	clear(p.sumSq)
	if !derivative {
		return
	}
	K, weight := p.m.K, &p.networkWeight[dst.condition()]
	for j := range p.dsum {
		unit := p.m.Scale[j%K] / p.m.Inputs.TimeStd
		mean := p.dsum[j] / n
		spread := math.Max(0, p.dsumSq[j]/n-mean*mean)
		dst.DMean[j] = unit * (p.ddisplacement[j] + weight.value[j]*mean + weight.slope[j]*p.sum[j])
		dst.DStd[j] = unit * math.Sqrt(p.dsumV[j]/nv+spread)
	}
}

// finish turns output units into state units and adds noise, the uncertainty of
// x0, and calibration.
func (p *Predictor) finish(dst *Prediction, q *Query) (ok bool) {
	m := p.m
	K := m.K
	withStart := q.P0 != nil && m.Displacement
	if withStart || dst.Jacobian != nil {
		p.startJacobian(dst, q)
	}
	scaleFactor, _ := model.ForCondition(m.ScaleFactor, dst.condition())
	calibrated := p.intervals.begin(dst, q)
	p.startRMS(dst)
	displacement := p.dmean[:K] // as scratch
	ok = true
	for i := range p.times {
		for k, d := range m.Scale {
			displacement[k] = d * p.displacement[i*K+k]
		}
		interval := p.intervalFactor(dst, i, displacement)
		for k := range K {
			j := i*K + k
			d2 := m.Scale[k] * m.Scale[k]
			state, noise := p.sumV[j]*d2, p.sigma2[j]*d2
			obs, beside := p.intervals.sensor(k, noise)
			state += noise - obs
			origin, start := 0.0, 0.0
			if m.Displacement {
				origin = q.X0[k]
				if withStart {
					start = math.Max(0, p.startVariance(i, k))
				}
			} else {
				origin = m.Origin[k]
			}
			if dst.Covariates != nil {
				p.intervals.covariates(dst.Covariates[j*int(model.Covariates):], i, k, displacement[k], state+obs, noise, p.spread[j])
			}
			factor := interval * p.scale(scaleFactor, i, k)
			factor *= factor
			if calibrated {
				factor = p.intervals.factor(i, k, displacement[k], state+obs, noise, p.spread[j])
			}
			dst.Mean[j] = origin + m.Scale[k]*(p.displacement[j]+p.networkWeight[dst.condition()].value[j]*p.sum[j])
			start *= startFactor(factor)
			p.correlations.start[j] = start
			apart := p.disagreement[j]
			dst.Std[j] = math.Sqrt(p.intervals.state(factor, state, obs) + apart + start)
			dst.ObsStd[j] = math.Sqrt(factor*(state+obs) + apart + beside + start)
			ok = ok && finite(dst.Mean[j]) && finite(dst.Std[j]) && finite(dst.ObsStd[j])
		}
	}
	p.correlate(dst, q)
	if len(dst.InputJacobian) > 0 {
		p.inputJacobian(dst)
	}
	return ok && allFinite(dst.DMean) && allFinite(dst.DStd) && finite(dst.OOD)
}

// scale returns the scale factor of channel k at time i from those at the noise knots (K×Q);
// 1 of none.
func (p *Predictor) scale(table []float64, i, k int) float64 {
	if table == nil {
		return 1
	}
	Q := len(p.m.NoiseKnots)
	return dot(p.noise[i*Q:(i+1)*Q], table[k*Q:(k+1)*Q])
}
