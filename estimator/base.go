package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/rollout"
)

// Base is the part of the prior mean that no net makes, as a displacement from
// x0 in state units: a difference equation rolled out, or v0·t where there is
// none and a channel's derivative is measured, or nothing. Trainer and predictor
// use this one.
type Base struct {
	roll     *rollout.Predictor
	velocity []int // K, place of the derivative's channel, or −1
	x0       []float64
	dx       []float64
}

// NewBase takes the memory. prior may be nil or of degree 0.
func NewBase(states []channel.Channel, prior *rollout.Model, velocity bool, horizon float64) *Base {
	b := &Base{x0: make([]float64, len(states)), dx: make([]float64, len(states))}
	if prior != nil && prior.Degree > 0 {
		b.roll = rollout.New(prior, len(states), horizon)
		velocity = false
	}
	for _, c := range states {
		v := -1
		if velocity && c.Derivative != "" {
			v = channel.Index(states, c.Derivative)
		}
		b.velocity = append(b.velocity, v)
	}
	return b
}

func newBase(m *model.Model) *Base {
	return NewBase(m.Channels[:m.K], &m.Prior, m.Velocity, m.Horizon)
}

// Start sets the start state (K) and the input over the horizon (nil without
// inputs).
func (b *Base) Start(x0 []float64, u feature.Signal) {
	copy(b.x0, x0)
	if b.roll != nil {
		b.roll.Roll(x0, u)
	}
}

// At writes the displacement at time t to dst (K) and its derivative per second
// to ddst (K).
func (b *Base) At(dst, ddst []float64, t float64) {
	if b.roll != nil {
		b.roll.At(dst, ddst, t)
		return
	}
	for k, v := range b.velocity {
		dst[k], ddst[k] = 0, 0
		if v >= 0 {
			dst[k], ddst[k] = b.x0[v]*t, b.x0[v]
		}
	}
}

// Along prepares the derivative by state c of the start.
func (b *Base) Along(c int) {
	clear(b.dx)
	b.dx[c] = 1
	if b.roll != nil {
		b.roll.Turn(b.dx)
	}
}

// AlongAt writes the derivative of the displacement at time t to dst (K).
func (b *Base) AlongAt(dst []float64, t float64) {
	if b.roll != nil {
		b.roll.TurnAt(dst, t)
		return
	}
	for k, v := range b.velocity {
		dst[k] = 0
		if v >= 0 {
			dst[k] = b.dx[v] * t
		}
	}
}
