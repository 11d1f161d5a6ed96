package adapt

import (
	"github.com/dgm-robotics/dgm/estimator"
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
// in which a direct map is linear.
type past struct {
	m       *model.Model
	rollout *priordynamics.Adapted // nil = no direct map reads history
	edges   []float64              // of the rows, s before the start
	inputs  pastInputs
	moved   []float64 // rows×K, Δ of the rows
	at      []float64 // K
	parts   []pastPart
	knots   []float64 // Q
	theta   []float64 // K×q, of At
	one     []float64 // rows×K
	many    []float64 // rows×K×q
}

// pastPart is one direct map of the stack.
type pastPart struct {
	component *model.Component
	level     *direct.Level // of the last start; nil = it reads no history
	weights   []float64     // K×Q
	g         []float64     // T×K, at the level's times
}

func newPast(m *model.Model, e *priordynamics.Model, a priordynamics.Adaptation) *past {
	rows, K := m.History.Rows(), m.K
	p := &past{m: m, at: make([]float64, K)}
	for i := range m.Stack {
		if c := &m.Stack[i]; c.Kind == model.Direct && rows > 0 {
			p.parts = append(p.parts, pastPart{component: c, g: make([]float64, direct.MaxTimes*K)})
		}
	}
	if len(p.parts) == 0 {
		return p
	}
	p.edges = append([]float64{0}, m.History.Edges...)
	p.rollout = priordynamics.NewAdapted(e, K, a, -p.edges[rows])
	p.inputs = pastInputs{spec: m.History, width: K + m.P, p: m.P}
	q := a.Parameters(e)
	p.moved, p.knots = make([]float64, rows*K), make([]float64, len(m.NoiseKnots))
	p.one, p.many = make([]float64, rows*K), make([]float64, rows*K*q)
	p.theta = make([]float64, K*q)
	return p
}

// start rolls out against time from a query, under the inputs of its history, for a
// prediction that was made from it.
func (p *past) start(q *estimator.Query, made *estimator.Prediction, theta []float64, differentiate bool) {
	rows, K := p.m.History.Rows(), p.m.K
	reads := false
	for i := range p.parts {
		part := &p.parts[i]
		part.level = nil
		w, _ := model.ForCondition(part.component.Weights, made.Readout.Condition(made.NoHistory))
		l := part.component.Direct.Level(int(made.Readout), len(q.History)/(K+p.m.P))
		if w != nil && !made.NoHistory && l != nil && l.Rows > 0 {
			part.level, part.weights, reads = l, w, true
		}
	}
	if !reads {
		return
	}
	p.inputs.rows = q.History
	p.rollout.Run(q.X0, &p.inputs, theta, p.edges[rows], differentiate)
	p.mean(p.moved, K, func(dst []float64, s float64) { p.rollout.At(dst, nil, s) }, p.at)
	for i := range p.parts {
		part := &p.parts[i]
		if part.level == nil {
			continue
		}
		for j := range part.level.Times {
			g := part.g[j*K : (j+1)*K]
			clear(g)
			part.component.Direct.PastAt(g, part.level, j, p.moved)
		}
	}
	if differentiate {
		p.mean(p.many, len(p.theta), p.rollout.SensitivityAt, p.theta)
	}
}

// mean writes the mean over every row of a function of n numbers to dst (rows×n), by
// Simpson's rule; at (n) is for work.
func (p *past) mean(dst []float64, n int, f func(dst []float64, s float64), at []float64) {
	for r := range len(dst) / n {
		row, a, b := dst[r*n:(r+1)*n], p.edges[r], p.edges[r+1]
		f(row, a)
		for _, point := range [...]struct{ s, w float64 }{{(a + b) / 2, 4}, {b, 1}} {
			f(at, point.s)
			for i, v := range at {
				row[i] += point.w * v
			}
		}
		for i := range row {
			row[i] /= 6
		}
	}
}

// subtract takes what θ has changed in the history's part of the displacement at t seconds
// after the last start from delta (K) and, unless nil, from its sensitivities (K×q).
func (p *past) subtract(delta, sensitivity []float64, t float64) {
	K := p.m.K
	for i := range p.parts {
		part := &p.parts[i]
		if part.level == nil {
			continue
		}
		estimator.KnotWeights(p.knots, p.m.NoiseKnots, t/p.m.Horizon)
		j, share := part.level.Between(t)
		next := min(j+1, len(part.level.Times)-1)
		for k := range delta {
			delta[k] -= p.weight(part, k) * t * (part.g[j*K+k] + share*(part.g[next*K+k]-part.g[j*K+k]))
		}
		if sensitivity == nil {
			continue
		}
		q := len(sensitivity) / K
		for c := range q {
			for r := range p.one {
				p.one[r] = p.many[r/K*K*q+r%K*q+c]
			}
			clear(p.at)
			part.component.Direct.PastAt(p.at, part.level, j, p.one)
			for k := range K {
				p.at[k] *= 1 - share
			}
			if share > 0 {
				clear(p.theta[:K])
				part.component.Direct.PastAt(p.theta[:K], part.level, next, p.one)
				for k, v := range p.theta[:K] {
					p.at[k] += share * v
				}
			}
			for k, v := range p.at {
				sensitivity[k*q+c] -= p.weight(part, k) * t * v
			}
		}
	}
}

// subtractRate takes the derivative by time of what subtract takes from ddelta (K), by a
// difference.
func (p *past) subtractRate(ddelta []float64, t float64) {
	step := 1e-3 * p.m.Horizon
	clear(p.at)
	p.subtract(p.at, nil, t+step)
	for k, v := range p.at {
		ddelta[k] += v / step
	}
	clear(p.at)
	p.subtract(p.at, nil, t)
	for k, v := range p.at {
		ddelta[k] -= v / step
	}
}

// weight returns that of a direct map for channel k at the time of the knots.
func (p *past) weight(part *pastPart, k int) float64 {
	Q := len(p.knots)
	return dot(p.knots, part.weights[k*Q:(k+1)*Q])
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
