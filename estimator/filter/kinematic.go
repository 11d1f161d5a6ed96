package filter

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// Chain is a position without a measured rate: a wandering acceleration, integrated twice.
type Chain struct {
	Position, Rate int     // places of the channels
	Q              float64 // intensity of the white noise that drives the acceleration, unit²/s⁵
	Offset         float64 // of the rate's sensor from the slope of the position
}

// Kinematic is the process of positions without known dynamics: each chain is an integrated Wiener process
// (Särkkä & Solin 2019, Applied Stochastic Differential Equations, chapter 6.3), other channels are random
// walks.
type Kinematic struct {
	K      int // channels
	Chains []Chain
	Free   []float64 // K, variance that a step adds to a channel of no chain, unit²
}

// Dim returns K and an acceleration for each chain.
func (m *Kinematic) Dim() int { return m.K + len(m.Chains) }

// Step implements Process. It reads no input.
func (m *Kinematic) Step(next, f, q, x, _ []float64, dt float64) {
	n := m.Dim()
	copy(next, x)
	clear(f)
	for i := range n {
		f[i*n+i] = 1
	}
	for k, v := range m.Free {
		q[k*n+k] += v
	}
	half := dt * dt / 2
	for i := range m.Chains {
		c := &m.Chains[i]
		p, v, a := c.Position, c.Rate, m.K+i
		next[p] += dt*(x[v]-c.Offset) + half*x[a]
		next[v] += dt * x[a]
		f[p*n+v], f[p*n+a], f[v*n+a] = dt, half, dt
		t2, t3 := dt*dt, dt*dt*dt // Q ∫ G(s) G(s)ᵀ ds with G(s) = (s²/2, s, 1)
		for _, e := range [...]struct {
			i, j int
			v    float64
		}{{p, p, t3 * t2 / 20}, {p, v, t2 * t2 / 8}, {p, a, t3 / 6}, {v, v, t3 / 3}, {v, a, half}, {a, a, dt}} {
			q[e.i*n+e.j] += c.Q * e.v
			if e.i != e.j {
				q[e.j*n+e.i] += c.Q * e.v
			}
		}
	}
}

// Of returns the filter with the parameters of a model, for its states (K). nil and no error without parameters. The error
// is that of New.
func Of(spec *model.Filter, states []channel.Channel, inputs int) (*Filter, error) {
	if spec == nil {
		return nil, nil
	}
	c := Config{Start: spec.Start, MaxGap: spec.Gap, Adapts: true, Settled: make([]float64, len(states)), Sensors: make([]bool, len(states))}
	add, chains := make([]float64, len(states)), make([]Chain, 0, len(spec.Chains))
	for k, s := range states {
		c.Sensors[k] = !s.Estimated
		add[k] = free * spec.Start[k]
		c.Channels = append(c.Channels, Channel{Period: s.Period, R: spec.R[k], Free: true})
	}
	for _, k := range spec.Changing {
		c.Channels[k].Changes = true
	}
	for _, ch := range spec.Chains {
		add[ch.Position], add[ch.Rate] = 0, 0
		c.Channels[ch.Position].Free, c.Channels[ch.Rate].Free = false, false
		chains = append(chains, Chain{ch.Position, ch.Rate, ch.Q, ch.Offset})
		c.Settled[ch.Rate] = ch.Settled
	}
	if c.Process = (&Kinematic{K: len(states), Chains: chains, Free: add}); spec.Equation.Degree > 0 {
		l := NewLearned(&spec.Equation, len(states), inputs)
		l.Chains, l.Free = chains, add
		c.Process = l
	}
	if a := channel.NamedAttitude(states); a != nil {
		c.Attitude = &Attitude{Roll: a[0], Pitch: a[1], Yaw: a[2]}
		for i, ch := range chains {
			if ch.Position != a[1] {
				continue
			}
			c.Attitude.Follows = append(c.Attitude.Follows, ch.Rate)
			if c.Process.Dim() > len(states) { // its acceleration
				c.Attitude.Follows = append(c.Attitude.Follows, len(states)+i)
			}
		}
	}
	return New(c, inputs)
}

// free is what a step adds to a channel that no chain moves, as a part of its variance at the start: so much that its
// estimate is the measurement.
const free = 1
