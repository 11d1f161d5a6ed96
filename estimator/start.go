package estimator

import (
	"math"

	"github.com/tphakala/simd/f64"
)

// startJacobian fills jacobian with ∂x(t)/∂x0 of the ensemble's mean as a Fast has it, by one
// JVP for each state, dst.Jacobian with the exact one, and diff with P0 − R.
func (p *Predictor) startJacobian(dst *Prediction, q *Query) {
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
		p.addTangents(p.jacobian, K, c, dst.Readout)
		p.addPriorTangents(dst, c)
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
	if dst.Jacobian != nil {
		f64.Add(dst.Jacobian, dst.Jacobian, p.jacobian)
	}
}

// addPriorTangents completes column c of jacobian, in output units and summed over members, with
// what the prior dynamics contribute, and sets that of dst.Jacobian to what an exact one differs
// by.
func (p *Predictor) addPriorTangents(dst *Prediction, c int) {
	K, weight := p.m.K, p.networkWeight[dst.condition()].value
	p.prior.JVP(c)
	for i, t := range p.times {
		p.prior.JVPAt(p.mean[:K], t)
		if dst.Jacobian != nil {
			p.prior.exactJVPAt(p.v[:K], t)
		}
		for k, d := range p.mean[:K] {
			at := (i*K+k)*K + c
			p.jacobian[at] = p.jacobian[at]*weight[i*K+k] + d/p.m.Scale[k]*float64(len(p.members))
			if dst.Jacobian != nil {
				dst.Jacobian[at] = p.v[k] - d
			}
		}
	}
}

// addTangents adds the derivatives of the members' means along DS of the rows, output units,
// to column c of dst, which has so many columns.
func (p *Predictor) addTangents(dst []float64, columns, c int, readout Readout) {
	for w := range p.members {
		e := &p.members[w].e.Map
		for i, t := range p.times {
			p.rows.Fill(i, &p.m.Inputs, e.Gated, e.Basis, t)
			p.rows.JVP(i, e.Basis)
		}
		p.posterior(&p.members[w], readout, true, false)
		for j, d := range p.dmean {
			dst[j*columns+c] += d
		}
	}
}

// startVariance returns element k of diag J (P0 − R) Jᵀ at time i.
func (p *Predictor) startVariance(i, k int) float64 {
	K := p.m.K
	row := p.jacobian[(i*K+k)*K : (i*K+k+1)*K]
	s := 0.0
	for a, ja := range row {
		s += ja * dot(p.diff[a*K:(a+1)*K], row)
	}
	return s
}

// startFactor returns the factor of the variance that x0 contributes where a calibration
// factor multiplies the variance: this part was not calibrated, and never shrinks.
func startFactor(factor float64) float64 { return math.Max(1, factor) }
