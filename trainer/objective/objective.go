package objective

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/trainer/cores"
	"github.com/dgm-robotics/dgm/trainer/posterior"
)

// Spec is constant over all steps of one training.
type Spec struct {
	Lift          channel.Lift   // how the dynamics reads a state
	Scale         []float64      // K, state units for one output unit
	PriorDynamics *PriorDynamics // (optional) the vector field that the dynamics starts from
	DecayS        float64        // wd_S, on core and head
	DecayD        float64        // wd_D, on the dynamics
	Exact         bool           // the exact kernel instead of random features
}

// Parts are the terms of one evaluation.
type Parts struct {
	Total, Data    float64
	WMean, WStd    float64 // W = WMean + WStd
	DecayS, DecayD float64
}

// Objective evaluates L and its gradient. All memory is taken by New; an
// evaluation runs one goroutine a channel and gives the same bits whatever the
// number of processors; on one processor it allocates nothing.
type Objective struct {
	spec        Spec
	K, Q        int
	obs, sup    *feature.Eval
	obsB, supB  *posterior.Bar
	coreO, hO   *NetAdjoint
	coreS, hS   *NetAdjoint
	channels    []*channelWork
	dyn         *dynamics
	mean, dmean []float64 // Ns×K at the support points
	dvar        []float64
	each        struct{ condition, adjoint func(k int) } // of a channel; made once, for a step allocates nothing
	one         oneShared
}

type oneShared struct {
	p, g  *Params
	b     *Batch
	match bool
}

// channelWork is the memory of one channel.
type channelWork struct {
	kernel            posterior.Kernel
	r, prec           []float64 // n
	rbar, sbar        []float64 // n
	mean, dmean, dvar []float64 // Ns, the kernel's part
	a, b, g           []float64 // Ns, adjoints
	sigma             []float64 // Q, gradient
	amp               [2]float64
	fit               posterior.Fit
	data              float64
	ok                bool
}

// New takes the memory for batches of up to n observations and ns support points
// (0: the observations are the support).
func New(spec Spec, p *Params, n, ns int) *Objective {
	m := &p.Map
	o := &Objective{spec: spec, K: m.K, Q: len(p.LogSigma) / m.K}
	o.obs, o.obsB = feature.NewEval(m, n), posterior.NewBar(m, n)
	o.coreO, o.hO = NewNetAdjoint(&m.Core, n, true, false), NewNetAdjoint(&m.Head, n, true, true)
	o.sup, o.supB, o.coreS, o.hS = o.obs, o.obsB, o.coreO, o.hO
	rows := n
	if ns > 0 {
		rows = ns
		o.sup, o.supB = feature.NewEval(m, ns), posterior.NewBar(m, ns)
		o.coreS, o.hS = NewNetAdjoint(&m.Core, ns, true, false), NewNetAdjoint(&m.Head, ns, true, true)
	}
	for range m.K {
		c := &channelWork{
			r: make([]float64, n), prec: make([]float64, n), rbar: make([]float64, n), sbar: make([]float64, n),
			mean: make([]float64, rows), dmean: make([]float64, rows), dvar: make([]float64, rows),
			a: make([]float64, rows), b: make([]float64, rows), g: make([]float64, rows), sigma: make([]float64, o.Q),
		}
		if spec.Exact {
			c.kernel = posterior.NewExact(n, rows)
		} else {
			c.kernel = posterior.NewRFF(m, n, ns)
		}
		o.channels = append(o.channels, c)
	}
	o.dyn = newDynamics(&p.Dynamics, spec, m.K, rows)
	o.mean, o.dmean, o.dvar = make([]float64, rows*m.K), make([]float64, rows*m.K), make([]float64, rows*m.K)
	o.each.condition, o.each.adjoint = o.condition, o.channelAdjoint
	return o
}

// Evaluate returns the objective's parts and, unless grad is nil, writes the
// gradient. ok is false if a factorisation or a variance failed, or anything is
// not finite.
func (o *Objective) Evaluate(grad, p *Params, b *Batch) (parts Parts, ok bool) {
	m := &p.Map
	o.one = oneShared{p: p, g: grad, b: b, match: b.Match > 0}
	shared := b.Sup == b.Obs
	if shared != (o.sup == o.obs) {
		panic(supportMismatch)
	}
	m.Forward(o.obs, b.Obs, shared && o.one.match)
	if !shared && o.one.match {
		m.Forward(o.sup, b.Sup, true)
	}
	cores.Each(o.K, o.each.condition)
	ok = true
	for _, c := range o.channels {
		ok = ok && c.ok
		parts.Data += c.data
	}
	if !ok {
		return parts, false
	}
	if o.one.match {
		o.matching(&parts, p, b)
	}
	if grad != nil {
		clear(grad.Flat)
		o.adjoint(grad, p, b)
	}
	o.decay(&parts, grad, p)
	parts.Total = parts.Data + b.Match*(parts.WMean+parts.WStd) + parts.DecayS + parts.DecayD
	return parts, !math.IsNaN(parts.Total) && !math.IsInf(parts.Total, 0)
}

// condition fits the posterior of channel k and evaluates it at the support.
func (o *Objective) condition(k int) {
	c, p, b := o.channels[k], o.one.p, o.one.b
	n := b.Obs.N
	logs := b.Residuals(c.r[:n], c.prec[:n], &p.Map, o.obs, k, p.LogSigma[k*o.Q:(k+1)*o.Q], b.C)
	if c.fit, c.ok = c.kernel.Condition(&p.Map, o.obs, k, c.r, c.prec); !c.ok {
		return
	}
	c.data = 0.5 * (c.fit.Quad + c.fit.LogDet + b.C*logs)
	if !o.one.match {
		return
	}
	c.ok = c.kernel.At(o.sup, c.mean, c.dmean, c.dvar)
	for i := range b.Sup.N {
		mu, dmu := p.Map.Mu(o.sup, i, k)
		at := i*o.K + k
		o.mean[at] = b.SBase[at] + mu + c.mean[i]
		o.dmean[at] = b.SDBase[at] + dmu + c.dmean[i]
		o.dvar[at] = c.dvar[i]
	}
}

// Residuals writes what the prior mean leaves of channel k to r (n), and the precisions C/σ² to
// prec (n); both are 0 where nothing was measured. logSigma holds log σ at the noise knots. It
// returns the sum of log σ² over what was measured.
func (b *Batch) Residuals(r, prec []float64, m *feature.Map, eval *feature.Eval, k int, logSigma []float64, C float64) (logs float64) {
	K, Q := m.K, len(logSigma)
	for i := range r {
		y := b.Y[i*K+k]
		r[i], prec[i] = 0, 0
		if math.IsNaN(y) {
			continue
		}
		mu, _ := m.Mu(eval, i, k)
		r[i] = y - b.Base[i*K+k] - mu
		ls := 0.0
		for q, s := range logSigma {
			ls += b.Noise[i*Q+q] * s
		}
		prec[i] = C * math.Exp(-2*ls)
		logs += 2 * ls
	}
	return logs
}

// decay adds the weight decay, on weights and biases.
func (o *Objective) decay(parts *Parts, grad, p *Params) {
	for _, d := range [...]struct {
		group string
		wd    float64
		sum   *float64
	}{{"core", o.spec.DecayS, &parts.DecayS}, {"head", o.spec.DecayS, &parts.DecayS}, {"dynamics", o.spec.DecayD, &parts.DecayD}} {
		from, to := p.Range(d.group)
		for i := from; i < to; i++ {
			*d.sum += 0.5 * d.wd * p.Flat[i] * p.Flat[i]
			if grad != nil {
				grad.Flat[i] += d.wd * p.Flat[i]
			}
		}
	}
}

// SetDecay changes the weight decays, for schedules.
func (o *Objective) SetDecay(s, d float64) { o.spec.DecayS, o.spec.DecayD = s, d }

const supportMismatch = "objective: batch and memory disagree on whether the support points are the observations"

// Batch is the data of one step: n observations, and the support points at which
// derivatives are matched.
type Batch struct {
	Obs   *feature.Rows // n rows
	Y     []float64     // n×K targets in output units; NaN = not measured
	Base  []float64     // n×K, the part of the prior mean that is not learned
	Noise []float64     // n×Q, weights of the noise knots: log σ_i = Σ_q Noise_iq log σ_q
	C     float64       // c, the likelihood temperature times N/n

	Sup    *feature.Rows // support points; the same pointer as Obs where they are the observations
	SBase  []float64     // Ns×K, as Base
	SDBase []float64     // Ns×K, its derivative by standardised time
	Origin []float64     // Ns×K, state units
	U      []float64     // Ns×P, standardised input of the dynamics
	Match  float64       // weight of W; 0 leaves matching out
}

// NewBatch takes the memory for n observations and ns support points (0: the
// observations are the support).
func NewBatch(m *feature.Map, in *feature.Inputs, noiseKnots, n, ns int) *Batch {
	k, p := m.K, len(in.InputMean)
	b := &Batch{
		Obs: feature.NewRows(n, in, m.Basis), Y: make([]float64, n*k), Base: make([]float64, n*k),
		Noise: make([]float64, n*noiseKnots), C: 1,
	}
	b.Sup, b.SBase = b.Obs, b.Base
	if ns > 0 {
		b.Sup, b.SBase = feature.NewRows(ns, in, m.Basis), make([]float64, ns*k)
	} else {
		ns = n
	}
	b.SDBase, b.Origin, b.U = make([]float64, ns*k), make([]float64, ns*k), make([]float64, ns*p)
	return b
}
