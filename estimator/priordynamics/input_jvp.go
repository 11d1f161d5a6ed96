package priordynamics

import "github.com/dgm-robotics/dgm/estimator/channel"

// InputJVP takes the derivative of the last Run along a direction of its input.
func (p *Rollout) InputJVP(du channel.Signal) {
	K, n, L, P := p.k, len(p.va), len(p.sa), len(p.mean)
	p.differentiable()
	p.du = du
	clear(p.jvp[:K])
	for i := range p.nodes {
		here, next := p.jvp[i*K:(i+1)*K], p.jvp[(i+1)*K:(i+2)*K]
		x := p.x[i*K : (i+1)*K]
		for k, d := range p.x[(i+1)*K : (i+2)*K] {
			p.inc[k], p.now[k] = d-x[k], p.x0[k]+x[k]
		}
		v := p.v[i*n : (i+1)*n]
		du.Mean(p.rate, float64(i)*p.m.Step, float64(i+1)*p.m.Step)
		p.inputDirection(v)
		p.incrementJVP(next, v, p.slope[i*L:(i+1)*L], here, p.rate, p.now, p.means[i*P:(i+1)*P], p.inc, p.motionAt(i))
		for k, d := range here {
			next[k] += d
		}
	}
}

// InputJVPAt writes the derivative of the displacement along the direction of the last
// InputJVP to dst (K): exactly, and 0 for an input after t.
func (p *Rollout) InputJVPAt(dst []float64, t float64) {
	K := p.k
	n, s := p.inside(t)
	here := p.jvp[n*K : (n+1)*K]
	copy(dst, here)
	if s < tiny {
		return
	}
	start := float64(n) * p.m.Step
	p.du.Mean(p.rate, start, t)
	for k, d := range p.x[n*K : (n+1)*K] {
		p.now[k] = p.x0[k] + d
	}
	p.inputDirection(p.va)
	p.incrementJVP(p.ta, p.va, p.sa, here, p.rate, p.now, p.mean, p.da, nil)
	for k, d := range here {
		p.now[k] += p.da[k]
		p.dnow[k] = d + p.ta[k]
	}
	p.inputDirection(p.vb)
	p.incrementJVP(p.tb, p.vb, p.sb, p.dnow, p.rate, p.now, p.mean, p.db, nil)
	for k := range dst {
		dst[k] += s*p.ta[k] + 0.5*s*(s-1)*(p.tb[k]-p.ta[k])
	}
}
