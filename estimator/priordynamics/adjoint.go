package priordynamics

import "github.com/tphakala/simd/f64"

// InputAdjoint takes the gradient by the mean input (P) from one time to another, or by the
// input at that time where both are the same.
type InputAdjoint func(bar []float64, from, to float64)

// Adjoint is the memory for gradients of what a Rollout leads to.
type Adjoint struct {
	p                   *Rollout
	nodes               []float64 // nodes+1 × K, by the states at the nodes
	first, second       []float64 // K, by Δ0 and Δ1
	here, input         []float64 // K, P: by state and input of an increment
	psibar, vbar, slope []float64 // N, L+P, L
	chain               []float64 // (K+P)×K, Jacobian of a chain
}

// NewAdjoint takes the memory for gradients of p.
func NewAdjoint(p *Rollout) *Adjoint {
	K, P := p.k, len(p.mean)
	a := &Adjoint{p: p, nodes: make([]float64, (p.nodes+1)*K), psibar: make([]float64, len(p.psi)), vbar: make([]float64, len(p.va)), slope: make([]float64, len(p.sa)), input: make([]float64, P)}
	for _, b := range []*[]float64{&a.first, &a.second, &a.here} {
		*b = make([]float64, K)
	}
	if !p.m.Chain.Empty() {
		a.chain = make([]float64, (K+P)*K)
	}
	return a
}

// Run adds the gradient of Σ bars·displacement of the last Run of the roll-out, at times, by
// the start state to xbar (K), and passes that by its input to input: exactly. Row i of bars
// (T×K) is of time i, and all are multiplied by factor.
func (a *Adjoint) Run(xbar, times, bars []float64, factor float64, input InputAdjoint) {
	p, K := a.p, a.p.k
	clear(a.nodes)
	for i, t := range times {
		row := bars[i*K : (i+1)*K]
		n, s := p.inside(t)
		node := a.nodes[n*K : (n+1)*K]
		for k, b := range row {
			node[k] += factor * b
			xbar[k] -= factor * b // the displacement's own start, which the states have
		}
		if s >= tiny {
			a.between(node, row, factor*s, factor*0.5*s*(s-1), float64(n)*p.m.Step, t, input)
		}
	}
	for n := p.nodes - 1; n >= 0; n-- {
		here, next := a.nodes[n*K:(n+1)*K], a.nodes[(n+1)*K:(n+2)*K]
		copy(a.first, next)
		for k, d := range p.x[n*K : (n+1)*K] {
			p.now[k], p.inc[k] = p.x0[k]+d, p.x[(n+1)*K+k]-d
		}
		P := len(p.mean)
		copy(p.mean, p.means[n*P:(n+1)*P])
		a.increment(here, a.first, p.inc)
		f64.Add(here, here, next)
		if P > 0 {
			input(a.input, float64(n)*p.m.Step, float64(n+1)*p.m.Step)
		}
	}
	f64.Add(xbar, xbar, a.nodes[:K])
}

// between adds to node (K) what a time t after the node at start contributes, at which the
// adjoints are row times s of Δ0 and times c of Δ1 − Δ0. It follows inside.
func (a *Adjoint) between(node, row []float64, s, c, start, t float64, input InputAdjoint) {
	p, K := a.p, a.p.k
	n, _ := p.node(t)
	for k, b := range row {
		a.first[k], a.second[k] = (s-c)*b, c*b
		p.now[k] = p.x0[k] + p.x[n*K+k] + p.da[k]
	}
	clear(a.here)
	a.increment(a.here, a.second, p.db)
	if len(p.mean) > 0 {
		input(a.input, start, t)
	}
	for k, b := range a.here {
		node[k] += b
		a.first[k] += b
		p.now[k] = p.x0[k] + p.x[n*K+k]
	}
	a.increment(node, a.first, p.da)
	if len(p.mean) > 0 {
		input(a.input, start, t)
	}
}

// increment adds the adjoint of the state of the roll-out's now (K) for that of its increment
// inc (K) under the roll-out's mean input to xbar (K), and sets input. It overwrites dbar.
func (a *Adjoint) increment(xbar, dbar, inc []float64) {
	p, m, K := a.p, a.p.m, a.p.k
	clear(a.input)
	if !m.Body.Empty() {
		m.Body.Adjoint(xbar, dbar, p.now, inc, m.Step)
	}
	if !m.Chain.Empty() {
		clear(a.chain)
		m.Chain.Jacobian(a.chain, p.now, p.mean, m.Step)
		for k := range K {
			xbar[k] += dot(a.chain[k*K:(k+1)*K], dbar)
		}
		for c := range a.input {
			a.input[c] = dot(a.chain[(K+c)*K:(K+c+1)*K], dbar)
		}
	}
	m.Coordinates(p.vb, a.slope, p.now, p.mean)
	for j := range a.psibar {
		a.psibar[j] = dot(m.Weights[j*K:(j+1)*K], dbar)
	}
	clear(a.vbar)
	m.Adjoint(a.vbar, p.vb, a.psibar)
	p.net.addAdjoint(a.vbar, p.vb, dbar)
	for l, of := range m.Lift.Of {
		xbar[of] += a.vbar[l] * a.slope[l]
	}
	L := len(a.slope)
	for c, std := range m.UStd {
		if v := p.vb[L+c]; v < m.Bound[L+c] && v > -m.Bound[L+c] {
			a.input[c] += a.vbar[L+c] / std
		}
	}
}

func dot(a, b []float64) float64 { return f64.DotProduct(a, b[:len(a)]) }

// BatchedAdjoint is the memory for gradients of a BatchedRollout.
type BatchedAdjoint struct {
	f        *BatchedRollout
	nodes    []float64 // nodes+1 × K, by the states at the nodes
	one, two []float64 // K: by the next two states
	input    []float64 // P
}

// NewBatchedAdjoint takes the memory for gradients of f.
func NewBatchedAdjoint(f *BatchedRollout) *BatchedAdjoint {
	K := f.p.k
	return &BatchedAdjoint{f: f, nodes: make([]float64, (f.p.nodes+1)*K), one: make([]float64, K), two: make([]float64, K), input: make([]float64, len(f.p.mean))}
}

// Run adds the gradient of Σ bars·displacement of the last Run and Evaluate by the start
// state to xbar (K), and passes that by its input to input: the product with the derivatives
// of Jacobian and InputAt. Row i of bars (N×K) is of time i, and all are multiplied by factor.
func (a *BatchedAdjoint) Run(xbar, bars []float64, factor float64, input InputAdjoint) {
	f, p, K := a.f, a.f.p, a.f.p.k
	f.setIncrements()
	clear(a.nodes)
	one, two := a.one, a.two
	for i, t := range f.times {
		row := bars[i*K : (i+1)*K]
		n, w := p.parabola(t)
		node := a.nodes[n*K : (n+1)*K]
		for k, b := range row {
			b *= factor
			node[k] += w[0] * b
			one[k], two[k] = w[1]*b, w[2]*b
			xbar[k] -= b // the displacement's own start, which the states have
		}
		if w[1] == 0 && w[2] == 0 {
			continue
		}
		clear(a.input)
		f.stepAdjoint(one, a.input, n+1, two)
		f.stepAdjoint(node, a.input, n, one)
		if len(a.input) == 0 {
			continue
		}
		if start := float64(n) * p.m.Step; t-start > tiny*p.m.Step {
			input(a.input, start, t)
		}
	}
	for n := p.nodes - 1; n >= 0; n-- {
		clear(a.input)
		f.stepAdjoint(a.nodes[n*K:(n+1)*K], a.input, n, a.nodes[(n+1)*K:(n+2)*K])
		if len(a.input) > 0 {
			input(a.input, float64(n)*p.m.Step, float64(n+1)*p.m.Step)
		}
	}
	f64.Add(xbar, xbar, a.nodes[:K])
}

// stepAdjoint adds the adjoints of state (K) and mean input (P) of the step from node n for
// that of the state after it, next (K).
func (f *BatchedRollout) stepAdjoint(here, input []float64, n int, next []float64) {
	K, P := f.p.k, len(f.p.mean)
	g := f.nodes.g[n*K*(K+P) : (n+1)*K*(K+P)]
	for c := range here {
		here[c] += next[c] + dot(g[c*K:(c+1)*K], next)
	}
	for c := range input {
		input[c] += dot(g[(K+c)*K:(K+c+1)*K], next)
	}
}
