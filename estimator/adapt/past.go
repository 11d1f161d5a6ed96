package adapt

import (
	"math"

	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/direct"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// past is what θ changes in the direct maps of a stack. The history that they read is that of
// the changed robot, so that they follow the change in part. What they would have read of the
// unchanged one, on its way to the same state, is rolled out against time: less
//
//	Δ(−s; θ) = roll-out(θ)(−s) − roll-out(0)(−s)
//
// in which a direct map is linear: its matrices by the nodes of that roll-out depend on the
// model alone.
type past struct {
	m       *model.Model
	rollout *priordynamics.Adapted // nil = no direct map reads history
	reach   float64                // s, of the history
	inputs  pastInputs
	levels  []pastLevel
	knots   []float64 // Q
	read    []bool    // of levels: by the last start
	other   momentOfMaps
}

// pastLevel is one level of a direct map with history.
type pastLevel struct {
	component *model.Component
	level     *direct.Level
	times     []float64 // n, s
	matrices  []float64 // n×K×(nodes·K): of g by the nodes
	g         []float64 // n×K, of the last start
	weights   []float64 // K×Q, of the last start
	byKnot    []float64 // Q×K, the same
}

// newPast takes all memory. The maps are evaluated at times, s; nil = at those of the levels,
// between which they are linear.
func newPast(m *model.Model, e *priordynamics.Model, a priordynamics.Adaptation, times []float64) *past {
	rows, K := m.History.Rows(), m.K
	p := &past{m: m, knots: make([]float64, len(m.NoiseKnots))}
	if rows == 0 {
		return p
	}
	p.reach = m.History.Edges[rows-1]
	p.inputs = pastInputs{spec: m.History, width: K + m.P, p: m.P}
	rollout := priordynamics.NewAdapted(e, K, a, -p.reach)
	for i := range m.Stack {
		c := &m.Stack[i]
		if c.Kind != model.Direct {
			continue
		}
		for j := range c.Direct.Levels {
			l := &c.Direct.Levels[j]
			if l.Rows == 0 {
				continue
			}
			at := times
			if at == nil {
				at = l.Times
			}
			p.rollout = rollout
			p.levels = append(p.levels, pastLevel{component: c, level: l, times: at, matrices: matrices(m, c, l, rollout, at), g: make([]float64, len(at)*K), byKnot: make([]float64, len(m.NoiseKnots)*K)})
		}
	}
	if p.rollout != nil {
		p.leave()
	}
	p.read, p.other = make([]bool, len(p.levels)), p.newMoment()
	return p
}

// leave leaves out the nodes that no map reads.
func (p *past) leave() {
	last, K := 0, p.m.K
	for i := range p.levels {
		for j, w := range p.levels[i].matrices {
			if node := j / K % p.rollout.Nodes(); w != 0 {
				last = max(last, node)
			}
		}
	}
	p.rollout.Leave(last)
}

// matrices returns those of g of a level at times by the nodes of a roll-out: the weights of the
// rows' states times the means of the nodes' parabolas over the rows, by Simpson's rule.
func matrices(m *model.Model, c *model.Component, l *direct.Level, rollout *priordynamics.Adapted, times []float64) []float64 {
	K, n := m.K, rollout.Nodes()
	share := make([]float64, l.Rows*n) // of the nodes in the rows
	from := 0.
	for r := range l.Rows {
		to := m.History.Edges[r]
		for _, point := range [...]struct{ s, w float64 }{{from, 1. / 6}, {(from + to) / 2, 4. / 6}, {to, 1. / 6}} {
			node, parabola := rollout.Parabola(point.s)
			for i, w := range parabola {
				share[r*n+node+i] += point.w * w
			}
		}
		from = to
	}
	out := make([]float64, len(times)*K*n*K)
	for i, t := range times {
		for k := range K {
			row := out[(i*K+k)*n*K : (i*K+k+1)*n*K]
			for r := range l.Rows {
				for j, w := range c.Direct.PastWeights(l, k, r, t) {
					for node := range n {
						row[node*K+j] += share[r*n+node] * w
					}
				}
			}
		}
	}
	return out
}

// start rolls out against time from x0 (K) after rows of history, for a prediction under a
// condition.
func (p *past) start(x0, rows []float64, condition model.Condition, theta []float64, differentiate bool) {
	K, any := p.m.K, false
	for i := range p.levels {
		l := &p.levels[i]
		w, _ := model.ForCondition(l.component.Weights, condition)
		best := l.component.Direct.Level(int(condition.Readout()), len(rows)/(K+p.m.P))
		p.read[i] = w != nil && condition < model.Readouts && best == l.level
		l.weights, any = w, any || p.read[i]
	}
	if !any {
		return
	}
	p.inputs.rows = rows
	p.rollout.Run(x0, &p.inputs, theta, p.reach, differentiate)
	moved := p.rollout.Moved()
	for i := range p.levels {
		l := &p.levels[i]
		if !p.read[i] {
			continue
		}
		for j := range l.g {
			l.g[j] = f64.DotProduct(moved, l.matrices[j*len(moved):(j+1)*len(moved)])
		}
		for j, w := range l.weights {
			l.byKnot[j%len(p.knots)*K+j/len(p.knots)] = w
		}
	}
}

// momentOfMaps is where a time is between the knots and in the levels. It depends on nothing but the time.
type momentOfMaps struct {
	t          float64      // s after a start; NaN = none yet
	knot, next int          // at most these weights are not zero
	a, b       float64      // the weights, times t
	in         []levelPlace // of levels
}

// levelPlace is the place before a time in a level and the share of the next one.
type levelPlace struct {
	at    int
	share float64
}

// newMoment takes the memory of a moment of no time.
func (p *past) newMoment() momentOfMaps {
	return momentOfMaps{t: math.NaN(), in: make([]levelPlace, len(p.levels))}
}

// place sets a moment to t seconds after a start.
func (p *past) place(dst *momentOfMaps, t float64) {
	dst.t = t
	if len(p.levels) == 0 {
		return
	}
	model.KnotWeights(p.knots, p.m.NoiseKnots, t/p.m.Horizon)
	q := 0
	for p.knots[q] == 0 {
		q++
	}
	dst.knot, dst.next = q, min(q+1, len(p.knots)-1)
	dst.a, dst.b = p.knots[q]*t, 0
	if dst.next > q {
		dst.b = p.knots[dst.next] * t
	}
	for i := range dst.in {
		dst.in[i].at, dst.in[i].share = p.levels[i].level.Between(t)
	}
}

// subtract takes what θ has changed in the history's part of the displacement at a moment
// after the last start from delta (K).
func (p *past) subtract(delta []float64, m *momentOfMaps) {
	K := len(delta)
	for i := range p.levels {
		l := &p.levels[i]
		if !p.read[i] {
			continue
		}
		at, share, a, b := m.in[i].at, m.in[i].share, m.a, m.b
		wa, wb := l.byKnot[m.knot*K:][:K], l.byKnot[m.next*K:][:K]
		g0, g1 := l.g[at*K:][:K], l.g[min(at+1, len(l.times)-1)*K:][:K]
		for k := range delta {
			delta[k] -= (a*wa[k] + b*wb[k]) * (g0[k] + share*(g1[k]-g0[k]))
		}
	}
}

// subtractRate takes the derivative by time of what subtract takes from ddelta (K), by a
// difference; work (K) is for work.
func (p *past) subtractRate(ddelta, work []float64, t float64) {
	step := 1e-3 * p.m.Horizon
	clear(work)
	p.place(&p.other, t+step)
	p.subtract(work, &p.other)
	for k, v := range work {
		ddelta[k] += v / step
	}
	clear(work)
	p.place(&p.other, t)
	p.subtract(work, &p.other)
	for k, v := range work {
		ddelta[k] -= v / step
	}
}

// parts writes what subtract takes at the wanted (n) times of the maps, and its sensitivities, to
// delta (n×K) and sensitivity (n×K×q), after a start that differentiates; zero at the others.
func (p *past) parts(delta, sensitivity []float64, wanted []bool) {
	clear(delta)
	clear(sensitivity)
	K, Q := p.m.K, len(p.knots)
	for i := range p.levels {
		l := &p.levels[i]
		if !p.read[i] {
			continue
		}
		q := len(sensitivity) / len(delta)
		width := len(l.matrices) / len(l.g)
		for j, t := range l.times {
			if !wanted[j] {
				continue
			}
			model.KnotWeights(p.knots, p.m.NoiseKnots, t/p.m.Horizon)
			for k := range K {
				at := j*K + k
				scale := t * dot(p.knots, l.weights[k*Q:(k+1)*Q])
				delta[at] += scale * l.g[at]
				p.rollout.AddSensitivities(sensitivity[at*q:(at+1)*q], scale, l.matrices[at*width:(at+1)*width])
			}
		}
	}
}

// pastInputs are the mean inputs of the rows of history, at times before the start.
type pastInputs struct {
	spec     history.Spec
	rows     []float64 // rows×(K+P)
	width, p int
}

// At writes the input s seconds before the start to dst (P).
func (u *pastInputs) At(dst []float64, s float64) {
	r := 0
	for r < len(u.spec.Edges)-1 && u.spec.Edges[r] < s {
		r++
	}
	copy(dst, u.rows[(r+1)*u.width-u.p:(r+1)*u.width])
}

// Mean writes the mean input from a to b seconds before the start to dst (P).
func (u *pastInputs) Mean(dst []float64, a, b float64) {
	clear(dst)
	from := a
	for r, edge := range u.spec.Edges {
		to := min(edge, b)
		if r == len(u.spec.Edges)-1 {
			to = b
		}
		if to <= from {
			continue
		}
		for p, v := range u.rows[(r+1)*u.width-u.p : (r+1)*u.width] {
			dst[p] += v * (to - from) / (b - a)
		}
		from = to
	}
}
