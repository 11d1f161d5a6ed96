package priordynamics

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/motion"
)

// Rollout rolls a model out from one start state after the other. It takes all its
// memory in New and is not safe for concurrent use.
//
// Between node n and time t inside its step, with ū the mean of the input since
// the node, the state follows the parabola through the node and the next two that
// ū would lead to:
//
//	Δ0 = Δ(x_n, ū)   Δ1 = Δ(x_n + Δ0, ū)   x(t) = x_n + σ Δ0 + ½ σ(σ−1) (Δ1 − Δ0)
//
// σ = t/Step − n, Δ the increment of a step: Wᵀψ, net and kinematic relations. So it
// passes through the nodes, and depends on no input after t.
//
// JVPAt and the Jacobian of a BatchedRollout follow the parabola through the derivatives by x0 of
// the node and the next two: exactly, where the input does not change in these two steps.
// They may read an input up to two steps after t.
type Rollout struct {
	m     *Model
	k     int
	nodes int
	last  int // node that is known
	u     channel.Signal
	du    channel.Signal // direction of the last InputJVP
	x0    []float64      // K
	x     []float64      // nodes+3 × K, displacement from x0; the last two are set by extend
	means []float64      // nodes+2 × P, mean inputs of the steps
	v     []float64      // nodes+2 × (L+P), the same
	slope []float64      // nodes+2 × (L+P), set by differentiable
	jvp   []float64      // nodes+3 × K, derivative of x along the direction dx0
	dx0   []float64      // K, a direction of x0
	ready bool           // whether differentiable was called since the last Run

	mean, rate []float64 // P
	now, dnow  []float64 // K
	inc        []float64 // K
	va, vb     []float64 // L+P
	sa, sb     []float64 // L+P
	dv, normal []float64 // L+P
	psi        []float64 // N
	net        *netWork
	motion     *motion.Work
	batch      *motion.Batch // of a BatchedRollout; else nil
	places     []float64     // nodes+2 × K, where it evaluates
	matrices   []float64     // nodes+2 × (K+P)×K: derivatives of the equation of motion, see motionAt; set by differentiable
	da, db     []float64     // K: Δ0, Δ1
	ta, tb     []float64     // K: their tangents
}

// New takes the memory for rollouts of k states up to a horizon, s.
func New(m *Model, k int, horizon float64) *Rollout {
	n := max(1, int(horizon/m.Step+1e-9))
	L, P := m.Lift.Dim(), len(m.UMean)
	p := &Rollout{m: m, k: k, nodes: n, x: make([]float64, (n+3)*k), jvp: make([]float64, (n+3)*k), v: make([]float64, (n+2)*(L+P)), slope: make([]float64, (n+2)*(L+P)), psi: make([]float64, m.Terms()), net: newNetWork(m), motion: motion.NewWork(&m.Motion, k, P, m.Step)}
	for _, b := range []*[]float64{&p.x0, &p.dx0, &p.now, &p.dnow, &p.inc, &p.da, &p.db, &p.ta, &p.tb} {
		*b = make([]float64, k)
	}
	for _, b := range []*[]float64{&p.va, &p.vb, &p.sa, &p.sb, &p.dv, &p.normal} {
		*b = make([]float64, L+P)
	}
	if p.motion != nil {
		p.matrices = make([]float64, (n+2)*(k+P)*k)
	}
	p.mean, p.rate, p.means = make([]float64, P), make([]float64, P), make([]float64, (n+2)*P)
	return p
}

// Model returns what is rolled out. It must not be changed.
func (p *Rollout) Model() *Model { return p.m }

// Run begins to roll the model out from x0 (K) under the input u (nil without inputs),
// which must stay valid until the next Run: as far as the times that are asked for.
func (p *Rollout) Run(x0 []float64, u channel.Signal) {
	copy(p.x0, x0)
	p.u, p.ready, p.last = u, false, 0
	clear(p.x[:p.k])
}

// reach rolls out up to a node.
func (p *Rollout) reach(node int) {
	for ; p.last < node; p.last++ {
		if len(p.mean) > 0 {
			p.u.Mean(p.mean, float64(p.last)*p.m.Step, float64(p.last+1)*p.m.Step)
		}
		p.advance(p.last)
	}
}

// advance sets the state of the node after node i under the mean input p.mean, and the
// coordinates of node i.
func (p *Rollout) advance(i int) {
	here, next := p.x[i*p.k:(i+1)*p.k], p.x[(i+1)*p.k:(i+2)*p.k]
	copy(p.means[i*len(p.mean):], p.mean)
	p.increment(next, p.v[i*len(p.va):(i+1)*len(p.va)], nil, here)
	for k, d := range here {
		next[k] += d
	}
}

// differentiable prepares the derivatives by x0 of the last Run: two steps more, under the
// mean input of the last one, and the derivatives of all coordinates.
func (p *Rollout) differentiable() {
	if p.ready {
		return
	}
	p.ready = true
	n, L := p.nodes, len(p.sa)
	p.reach(n)
	if len(p.mean) > 0 {
		p.u.Mean(p.mean, float64(n-1)*p.m.Step, float64(n)*p.m.Step)
	}
	p.advance(n)
	p.advance(n + 1)
	for i := range n + 2 {
		for k, d := range p.x[i*p.k : (i+1)*p.k] {
			p.now[k] = p.x0[k] + d
		}
		u := p.means[i*len(p.mean) : (i+1)*len(p.mean)]
		p.m.Coordinates(p.va, p.slope[i*L:(i+1)*L], p.now, u)
		if p.batch != nil {
			copy(p.places[i*p.k:], p.now)
		} else if p.motion != nil {
			g := p.motionAt(i)
			clear(g)
			p.motion.Jacobian(g, p.now, u)
		}
	}
	if p.batch != nil {
		p.batch.Jacobians(p.matrices, p.places, p.means, n+2)
	}
}

// motionAt returns the derivatives of the increment of the equation of motion at node i by states and inputs, by c at c·K …; nil
// without one.
func (p *Rollout) motionAt(i int) []float64 {
	n := len(p.matrices) / (p.nodes + 2)
	return p.matrices[i*n : (i+1)*n]
}

// increment writes that of a step at displacement d under the mean input p.mean to dst
// (K), and leaves the coordinates and, unless nil, their derivatives in v and slope.
func (p *Rollout) increment(dst, v, slope, d []float64) {
	for k, x := range p.x0 {
		p.now[k] = x + d[k]
	}
	p.m.Coordinates(v, slope, p.now, p.mean)
	p.m.Monomials(p.psi, v)
	p.m.apply(dst, p.psi)
	p.net.add(dst, v)
	p.m.Chain.Add(dst, p.now, p.mean, p.m.Step)
	p.motion.Add(dst, p.now, p.mean)
	p.m.Body.Add(dst, p.now, p.m.Step)
}

// At writes the displacement x(t) − x0 of the last Run to dst (K) and, unless
// nil, its time derivative per second to ddst (K).
func (p *Rollout) At(dst, ddst []float64, t float64) {
	if n, s := p.node(t); s < tiny && ddst == nil {
		p.reach(n)
		copy(dst, p.x[n*p.k:(n+1)*p.k])
		return
	}
	n, s := p.inside(t)
	here := p.x[n*p.k : (n+1)*p.k]
	for k, d := range here {
		b := 0.5 * (p.db[k] - p.da[k])
		dst[k] = d + s*p.da[k] + s*(s-1)*b
		if ddst != nil {
			ddst[k] = (p.da[k] + (2*s-1)*b) / p.m.Step
		}
	}
	if ddst == nil || len(p.mean) == 0 || s < tiny {
		return
	}
	// ū moves with t: dū/dt = (u(t) − ū)/(t − t_n).
	p.u.At(p.rate, t)
	for c := range p.rate {
		p.rate[c] = (p.rate[c] - p.mean[c]) / (s * p.m.Step)
	}
	if !slices.ContainsFunc(p.rate, func(r float64) bool { return r != 0 }) {
		return
	}
	p.inputDirection(p.sa)
	clear(p.dnow)
	for k, d := range here {
		p.now[k] = p.x0[k] + d
	}
	p.incrementJVP(p.ta, p.va, p.sa, p.dnow, p.rate, p.now, p.mean, p.da, nil)
	for k := range p.now {
		p.now[k] += p.da[k]
	}
	p.inputDirection(p.sb)
	p.incrementJVP(p.tb, p.vb, p.sb, p.ta, p.rate, p.now, p.mean, p.db, nil)
	for k := range ddst {
		ddst[k] += s*p.ta[k] + 0.5*s*(s-1)*(p.tb[k]-p.ta[k])
	}
}

// inputDirection sets the inputs' part of dv from rate and the slope of Coordinates.
func (p *Rollout) inputDirection(slope []float64) {
	L := len(slope) - len(p.rate)
	for c, d := range p.rate {
		p.dv[L+c] = slope[L+c] * d
	}
}

// tiny is the fraction of a step within which a time counts as that of a node.
const tiny = 1e-9

// node returns the node before t, and the elapsed fraction of the step after it.
func (p *Rollout) node(t float64) (n int, s float64) {
	n = max(0, min(int(t/p.m.Step+tiny), p.nodes))
	return n, max(0, t/p.m.Step-float64(n))
}

// inside computes Δ0 and Δ1 of the step around t.
func (p *Rollout) inside(t float64) (n int, s float64) {
	m, K := p.m, p.k
	n, s = p.node(t)
	p.reach(n)
	if len(p.mean) > 0 {
		if a := float64(n) * m.Step; s < tiny {
			p.u.At(p.mean, a)
		} else {
			p.u.Mean(p.mean, a, t)
		}
	}
	here := p.x[n*K : (n+1)*K]
	p.increment(p.da, p.va, p.sa, here)
	for k, d := range here {
		p.tb[k] = d + p.da[k]
	}
	p.increment(p.db, p.vb, p.sb, p.tb)
	return n, s
}

// JVP takes the derivative of the last Run along the direction dx (K) of x0.
func (p *Rollout) JVP(dx []float64) {
	K, n, L, P := p.k, len(p.va), len(p.sa), len(p.mean)
	p.differentiable()
	copy(p.dx0, dx)
	clear(p.jvp[:K])
	for i := range p.nodes + 2 {
		here, next := p.jvp[i*K:(i+1)*K], p.jvp[(i+1)*K:(i+2)*K]
		x := p.x[i*K : (i+1)*K]
		for k, d := range p.x[(i+1)*K : (i+2)*K] {
			p.inc[k] = d - x[k]
		}
		p.stateJVP(next, p.v[i*n:(i+1)*n], p.slope[i*L:(i+1)*L], here, x, p.means[i*P:(i+1)*P], p.inc, p.motionAt(i))
		for k, d := range here {
			next[k] += d
		}
	}
}

// stateJVP writes the tangent of an increment inc (K) at displacement x (K) under the mean
// input u (P) to dst (K), along the derivative d (K) of the displacement. motion are the derivatives of motionAt.
func (p *Rollout) stateJVP(dst, v, slope, d, x, u, inc, motion []float64) {
	clear(p.dv)
	for k := range p.now {
		p.now[k], p.dnow[k] = p.x0[k]+x[k], p.dx0[k]+d[k]
	}
	p.incrementJVP(dst, v, slope, p.dnow, nil, p.now, u, inc, motion)
}

// incrementJVP writes the tangent of an increment inc (K) at state x (K) under the mean input
// u (P) to dst (K), along the directions dx (K) of the state and du (P; nil = none) of the
// input, which is in dv, too. motion are the derivatives of motionAt; nil = they are not known.
func (p *Rollout) incrementJVP(dst, v, slope, dx, du, x, u, inc, motion []float64) {
	for l, of := range p.m.Lift.Of {
		p.dv[l] = slope[l] * dx[of]
	}
	p.m.Ellipsoid.tangent(p.dv, v, p.normal)
	p.m.JVP(p.psi, v, p.dv)
	p.m.apply(dst, p.psi)
	p.net.addJVP(dst, v, p.dv)
	p.m.Chain.JVP(dst, dx, du, x, u, p.m.Step)
	if len(motion) == 0 {
		p.motion.JVP(dst, dx, du, x, u)
	} else {
		addColumns(dst, dx, motion)
		addColumns(dst, du, motion[len(dst)*len(dst):])
	}
	p.m.Body.JVP(dst, dx, x, inc, p.m.Step)
}

// addColumns adds the columns of a matrix (column c at c·K …) times numbers to dst (K).
func addColumns(dst, by, columns []float64) {
	for c, d := range by {
		if d != 0 {
			addScaled(dst, d, columns[c*len(dst):(c+1)*len(dst)])
		}
	}
}

// JVPAt writes the derivative of the displacement along the direction of the
// last JVP to dst (K). The derivative of the start itself, dx, is not in it.
func (p *Rollout) JVPAt(dst []float64, t float64) {
	n, weights := p.parabola(t)
	clear(dst)
	for i, w := range weights {
		for k, d := range p.jvp[(n+i)*p.k : (n+i+1)*p.k] {
			dst[k] += w * d
		}
	}
}

// ExactJVPAt is JVPAt without the parabola of the nodes: the derivative of At, which depends on
// no input after t.
func (p *Rollout) ExactJVPAt(dst []float64, t float64) {
	n, s := p.inside(t)
	here := p.jvp[n*p.k : (n+1)*p.k]
	copy(dst, here)
	if s < tiny {
		return
	}
	for k, d := range p.x[n*p.k : (n+1)*p.k] {
		p.now[k], p.dnow[k] = p.x0[k]+d, p.dx0[k]+here[k]
	}
	clear(p.dv)
	p.incrementJVP(p.ta, p.va, p.sa, p.dnow, nil, p.now, p.mean, p.da, nil)
	for k, d := range p.ta {
		p.now[k] += p.da[k]
		p.dnow[k] += d
	}
	clear(p.dv)
	p.incrementJVP(p.tb, p.vb, p.sb, p.dnow, nil, p.now, p.mean, p.db, nil)
	for k := range dst {
		dst[k] += s*p.ta[k] + 0.5*s*(s-1)*(p.tb[k]-p.ta[k])
	}
}

// parabola returns the node before t, and the weights at t of it and the next two.
func (p *Rollout) parabola(t float64) (n int, weights [3]float64) {
	n, s := p.node(t)
	return n, [3]float64{1 - s + 0.5*s*(s-1), s - s*(s-1), 0.5 * s * (s - 1)}
}

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
		p.inputDirection(p.slope[i*L : (i+1)*L])
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
	p.inputDirection(p.sa)
	p.incrementJVP(p.ta, p.va, p.sa, here, p.rate, p.now, p.mean, p.da, nil)
	for k, d := range here {
		p.now[k] += p.da[k]
		p.dnow[k] = d + p.ta[k]
	}
	p.inputDirection(p.sb)
	p.incrementJVP(p.tb, p.vb, p.sb, p.dnow, p.rate, p.now, p.mean, p.db, nil)
	for k := range dst {
		dst[k] += s*p.ta[k] + 0.5*s*(s-1)*(p.tb[k]-p.ta[k])
	}
}
