package estimator

import "math"

// combine turns the sums over members into the ensemble: sum becomes the mean,
// sumV the variance with the members' spread, sumSq is cleared. Derivatives go
// to dst in units per second.
func (p *Predictor) combine(dst *Prediction, q *Query, derivative bool) {
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
	K, gain := p.m.K, &p.gain[dst.Readout]
	for j := range p.dsum {
		unit := p.m.Scale[j%K] / p.m.Inputs.TimeStd
		mean := p.dsum[j] / n
		spread := math.Max(0, p.dsumSq[j]/n-mean*mean)
		dst.DMean[j] = unit * (p.dbase[j] + gain.value[j]*mean + gain.slope[j]*p.sum[j])
		dst.DStd[j] = unit * math.Sqrt(p.dsumV[j]/nv+spread)
	}
}

// finish turns output units into state units and adds noise, the uncertainty of
// x0, and calibration.
func (p *Predictor) finish(dst *Prediction, q *Query) (ok bool) {
	m := p.m
	K := m.K
	carried := q.P0 != nil && m.Displacement
	if carried {
		p.startUncertainty(q, dst.Readout)
	}
	var widen []float64
	if int(dst.Readout) < len(m.ScaleFactor) {
		widen = m.ScaleFactor[dst.Readout]
	}
	p.startMotion(dst)
	base := p.dmean[:K] // as scratch
	Q := len(m.NoiseKnots)
	ok = true
	for i := range p.times {
		for k, d := range m.Scale {
			base[k] = d * p.base[i*K+k]
		}
		growth := p.growth(dst, i, base)
		for k := range K {
			j := i*K + k
			d2 := m.Scale[k] * m.Scale[k]
			state, noise := p.sumV[j]*d2, p.sigma2[j]*d2
			origin, obs, start := 0.0, noise, 0.0
			if m.Displacement {
				origin = q.X0[k]
				obs = math.Min(m.Sensor[k], noise)
				state += noise - obs
				if carried {
					start = math.Max(0, p.carriedVar(i, k))
				}
			} else {
				origin = m.Origin[k]
			}
			factor := growth
			if widen != nil {
				factor *= dot(p.noise[i*Q:(i+1)*Q], widen[k*Q:(k+1)*Q])
			}
			dst.Mean[j] = origin + m.Scale[k]*(p.base[j]+p.gain[dst.Readout].value[j]*p.sum[j])
			start *= startFactor(factor)
			dst.Std[j] = math.Sqrt(factor*factor*state + start)
			dst.ObsStd[j] = math.Sqrt(factor*factor*(state+obs) + start)
			ok = ok && finite(dst.Mean[j]) && finite(dst.Std[j]) && finite(dst.ObsStd[j])
		}
	}
	for j := range dst.DMean {
		ok = ok && finite(dst.DMean[j]) && finite(dst.DStd[j])
	}
	return ok && finite(dst.OOD)
}

// startFactor returns by what the variance that is carried from x0 is multiplied where
// a calibration factor multiplies the standard deviation: it was not part of what was
// calibrated, and is never made less.
func startFactor(factor float64) float64 { return math.Max(1, factor*factor) }

// startUncertainty fills jacobian with ∂x(t)/∂x0 of the ensemble's mean, by
// forward mode along each state, and diff with P0 − R.
func (p *Predictor) startUncertainty(q *Query, readout Readout) {
	m := p.m
	K, I := m.K, m.Inputs.Dim()
	copy(p.diff, q.P0)
	for k := range K {
		p.diff[k*K+k] -= m.Sensor[k]
	}
	clear(p.jacobian)
	lift := &m.Inputs.Lift
	lift.Derivative(p.slope, q.X0)
	for c := range K {
		for i := range p.times {
			ds := p.rows.DS[i*I : (i+1)*I]
			clear(ds)
			for l, of := range lift.Of {
				if of == c {
					ds[1+l] = p.slope[l]
				}
			}
		}
		for w := range p.members {
			p.alongState(&p.members[w], readout, c)
		}
		p.start.JVP(c)
		for i, t := range p.times {
			p.start.JVPAt(p.mean[:K], t)
			for k, d := range p.mean[:K] {
				j := &p.jacobian[(i*K+k)*K+c]
				*j = *j*p.gain[readout].value[i*K+k] + d/m.Scale[k]*float64(len(p.members))
			}
		}
	}
	for i := range p.times {
		for k := range K {
			row := p.jacobian[(i*K+k)*K : (i*K+k+1)*K]
			for c := range row {
				row[c] *= m.Scale[k] / float64(len(p.members))
			}
			row[k]++ // the displacement's own start
		}
	}
}

// alongState adds to jacobian the member's ∂mean/∂x0[c], output units.
func (p *Predictor) alongState(w *memberWork, readout Readout, c int) {
	e, K := &w.e.Map, p.m.K
	for i, t := range p.times {
		p.rows.Fill(i, &p.m.Inputs, e.Gated, e.Basis, t)
		p.rows.JVP(i, e.Basis)
	}
	e.Forward(w.eval, p.rows, true)
	post := w.e.At(readout)
	for k := range K {
		if w.exact != nil {
			w.exact.channel(p, w, post, k, true, false)
		} else {
			p.random(w, post, k, true, false)
		}
		for i := range p.times {
			_, dmu := e.Mu(w.eval, i, k)
			p.jacobian[(i*K+k)*K+c] += p.dmean[i*K+k] + dmu
		}
	}
}

// carriedVar returns element k of diag J (P0 − R) Jᵀ at time i.
func (p *Predictor) carriedVar(i, k int) float64 {
	K := p.m.K
	row := p.jacobian[(i*K+k)*K : (i*K+k+1)*K]
	s := 0.0
	for a, ja := range row {
		s += ja * dot(p.diff[a*K:(a+1)*K], row)
	}
	return s
}

func allFinite(s []float64) bool {
	for _, v := range s {
		if !finite(v) {
			return false
		}
	}
	return true
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
