package estimator

import "github.com/dgm-robotics/dgm/estimator/feature"

// inputJacobian writes ∂mean/∂plan to dst, after finish: the posterior's part by one JVP for
// each number of the knots, whose derivatives by the plan are known, and that of the prior
// dynamics by one for each number of the plan.
func (p *Predictor) inputJacobian(dst *Prediction) {
	clear(dst.InputJacobian)
	p.posteriorByInput(dst)
	K, P := p.m.K, p.m.P
	rows := len(p.plan.Values) / P
	p.planRow.Plan = &p.plan
	for r := range rows * P {
		p.planRow.Row, p.planRow.Input = r/P, r%P
		p.prior.InputJVP(&p.planRow)
		for i, t := range p.times {
			p.prior.InputJVPAt(p.mean[:K], t)
			for k, d := range p.mean[:K] {
				dst.InputJacobian[(i*K+k)*rows*P+r] += d
			}
		}
	}
}

// posteriorByInput adds the part of the members' mean.
func (p *Predictor) posteriorByInput(dst *Prediction) {
	in := &p.m.Inputs
	I, L, P := in.Dim(), in.Lift.Dim(), p.m.P
	for q := range in.Knots * P {
		for i := range p.times {
			ds := p.rows.DS[i*I : (i+1)*I]
			clear(ds)
			ds[1+L+q] = 1
		}
		zero(p.dsum)
		p.addTangents(p.dsum, 1, 0, dst.Readout)
		for i, t := range p.times {
			p.addKnot(dst, i, t, q/P, q%P)
		}
	}
}

// addKnot adds, at time i, the derivative by the part of one knot that is an input's, which
// is in dsum.
func (p *Predictor) addKnot(dst *Prediction, i int, t float64, knot, input int) {
	in, K, P := &p.m.Inputs, p.m.K, p.m.P
	rows := len(p.plan.Values) / P
	from, to, length := in.Block(knot, t)
	if to <= from {
		return
	}
	weight := p.networkWeight[dst.condition()].value
	for r := range rows {
		d := feature.PlanRow{Plan: &p.plan, Row: r, Input: input}
		d.Mean(p.scratch, from, to)
		share := p.scratch[input] * (to - from) / length / in.InputStd[input] / float64(len(p.members))
		if share == 0 {
			continue
		}
		for k, d := range p.m.Scale {
			dst.InputJacobian[((i*K+k)*rows+r)*P+input] += share * d * weight[i*K+k] * p.dsum[i*K+k]
		}
	}
}
