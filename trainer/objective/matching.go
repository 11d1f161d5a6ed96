package objective

import (
	"math"

	"github.com/dgm-robotics/dgm/trainer/cores"
)

// matching evaluates W at the support points and leaves ∂(Match·W)/∂dmean,
// ∂/∂dvar in the channels and ∂/∂(f, s) in the dynamics. The 2-Wasserstein
// distance of two Gaussians with diagonal covariance is the sum of both terms.
func (o *Objective) matching(parts *Parts, p *Params, b *Batch) {
	Ns, K := b.Sup.N, o.K
	o.dyn.forward(&p.Dynamics, &o.spec.Lift, Ns, K, o.mean, b.Origin, o.spec.Scale, b.U)
	for i := range Ns {
		for k := range K {
			at := i*K + k
			f, sD, slope := o.dyn.output(i, k, K)
			dstd := math.Sqrt(o.dvar[at])
			em, es := o.dmean[at]-f, dstd-sD
			parts.WMean += em * em
			parts.WStd += es * es
			c := o.channels[k]
			c.b[i] = 2 * b.Match * em
			c.g[i] = b.Match * es / dstd // d√v = dv / 2√v
			o.dyn.fbar[i*2*K+k] = -2 * b.Match * em
			o.dyn.fbar[i*2*K+K+k] = -2 * b.Match * es * slope
		}
	}
}

// adjoint carries everything back to the parameters.
func (o *Objective) adjoint(grad, p *Params, b *Batch) {
	shared, match := o.sup == o.obs, o.one.match
	clear(o.obsB.Out)
	clear(o.obsB.DOut)
	if match {
		if !shared {
			clear(o.supB.Out)
			clear(o.supB.DOut)
		}
		// o.mean is no longer needed: it receives ∂L/∂mean from f's input.
		clear(o.mean[:b.Sup.N*o.K])
		o.dyn.adjoint(&p.Dynamics, &grad.Dynamics, &o.spec.Lift, b.Sup.N, o.K, o.mean)
	}
	cores.Each(o.K, o.each.adjoint)
	for k, c := range o.channels {
		grad.Map.LogAmp[2*k] += c.amp[0]
		grad.Map.LogAmp[2*k+1] += c.amp[1]
		copy(grad.LogSigma[k*o.Q:(k+1)*o.Q], c.sigma)
	}
	var dout, dx []float64 // of the tangent, where there is one to carry
	if match && shared {
		dout, dx = o.obsB.DOut, o.hO.DX
	}
	o.hO.Run(&p.Map.Head, &grad.Map.Head, o.obs.Head, o.obsB.Out, dout)
	o.coreO.Run(&p.Map.Core, &grad.Map.Core, o.obs.Core, o.hO.X, dx)
	if match && !shared {
		o.hS.Run(&p.Map.Head, &grad.Map.Head, o.sup.Head, o.supB.Out, o.supB.DOut)
		o.coreS.Run(&p.Map.Core, &grad.Map.Core, o.sup.Core, o.hS.X, o.hS.DX)
	}
}

// channelAdjoint carries channel k back to the head's outputs, its noise and its
// amplitudes.
func (o *Objective) channelAdjoint(k int) {
	c, p, b := o.channels[k], o.one.p, o.one.b
	K, O := o.K, p.Map.Head.Out()
	c.amp = [2]float64{}
	clear(c.sigma)
	var a, db, g []float64
	if o.one.match {
		a, db, g = c.a, c.b, c.g
		for i := range b.Sup.N {
			c.a[i] = o.mean[i*K+k]
			// mean and dmean hold the prior mean too: mu = γ net, dmu = γ̇ net + γ nėt
			gate, dgate := b.Sup.Gate[i], b.Sup.DGate[i]
			o.supB.Out[i*O+k] += gate*c.a[i] + dgate*c.b[i]
			o.supB.DOut[i*O+k] += gate * c.b[i]
		}
	}
	c.kernel.Adjoint(a, db, g, o.obsB, o.supB, c.rbar, c.sbar, c.amp[:])
	for i := range b.Obs.N {
		if c.prec[i] == 0 {
			continue
		}
		o.obsB.Out[i*O+k] -= b.Obs.Gate[i] * c.rbar[i]
		for q := range o.Q {
			c.sigma[q] += b.Noise[i*o.Q+q] * (b.C + c.sbar[i])
		}
	}
}
