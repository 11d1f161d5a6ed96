package estimator

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// PriorDynamicsSpec says what the part of the prior mean is made of that no net makes.
type PriorDynamicsSpec struct {
	Model        *priordynamics.Model // a difference equation, rolled out; nil or of degree 0 = none
	Secondary    *priordynamics.Model // a second one, blended in; nil or of degree 0 = none
	LinearWeight []float64            // K×Q: the companion's share at the knots, linear in √τ between; none = no companion
	Knots        []float64            // Q, τ of the knots, ascending
	Velocity     bool                 // without a prior: v0·t where a channel's derivative is measured
	Horizon      float64              // H, s
}

// PriorDynamics is that part of the mean, as a displacement from x0 in state units. Trainer
// and predictor use this one.
type PriorDynamics struct {
	roll, companion *priordynamics.Rollout // nil = none
	spec            PriorDynamicsSpec
	velocity        []int // K, place of the derivative's channel, or −1
	x0              []float64
	dx              []float64
	other, dother   []float64 // K, the companion's
	share, dshare   []float64 // Q, weights of the knots and their slopes by τ
}

// NewPriorDynamics takes the memory.
func NewPriorDynamics(states []channel.Channel, spec PriorDynamicsSpec) *PriorDynamics {
	K, Q := len(states), len(spec.Knots)
	b := &PriorDynamics{spec: spec, x0: make([]float64, K), dx: make([]float64, K)}
	velocity := spec.Velocity
	if spec.Model != nil && spec.Model.Degree > 0 {
		b.roll = priordynamics.New(spec.Model, K, spec.Horizon)
		velocity = false
		if spec.Secondary != nil && spec.Secondary.Degree > 0 && len(spec.LinearWeight) == K*Q {
			b.companion = priordynamics.New(spec.Secondary, K, spec.Horizon)
			b.other, b.dother = make([]float64, K), make([]float64, K)
			b.share, b.dshare = make([]float64, Q), make([]float64, Q)
		}
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

// PriorDynamicsOf returns the base of a model.
func PriorDynamicsOf(m *model.Model) *PriorDynamics {
	return NewPriorDynamics(m.Channels[:m.K], PriorDynamicsSpec{
		Model: &m.PriorDynamics, Secondary: &m.Secondary, LinearWeight: m.LinearWeight, Knots: m.NoiseKnots, Velocity: m.Velocity, Horizon: m.Horizon,
	})
}

// Start sets the start state (K) and the input over the horizon (nil without
// inputs).
func (b *PriorDynamics) Start(x0 []float64, u feature.Signal) {
	copy(b.x0, x0)
	if b.roll != nil {
		b.roll.Run(x0, u)
	}
	if b.companion != nil {
		b.companion.Run(x0, u)
	}
}

// At writes the displacement at time t to dst (K) and its derivative per second
// to ddst (K).
func (b *PriorDynamics) At(dst, ddst []float64, t float64) {
	if b.roll == nil {
		for k, v := range b.velocity {
			dst[k], ddst[k] = 0, 0
			if v >= 0 {
				dst[k], ddst[k] = b.x0[v]*t, b.x0[v]
			}
		}
		return
	}
	b.roll.At(dst, ddst, t)
	if b.companion == nil {
		return
	}
	b.companion.At(b.other, b.dother, t)
	Q := len(b.share)
	tau := t / b.spec.Horizon
	KnotWeights(b.share, b.spec.Knots, tau)
	noiseSlopes(b.dshare, b.spec.Knots, tau)
	for k := range dst {
		blend := b.spec.LinearWeight[k*Q : (k+1)*Q]
		w, dw := dot(b.share, blend), dot(b.dshare, blend)/b.spec.Horizon
		d := b.other[k] - dst[k]
		dst[k] += w * d
		ddst[k] += w*(b.dother[k]-ddst[k]) + dw*d
	}
}

// JVP prepares the derivative by state c of the start.
func (b *PriorDynamics) JVP(c int) {
	clear(b.dx)
	b.dx[c] = 1
	if b.roll != nil {
		b.roll.JVP(b.dx)
	}
	if b.companion != nil {
		b.companion.JVP(b.dx)
	}
}

// JVPAt writes the derivative of the displacement at time t to dst (K).
func (b *PriorDynamics) JVPAt(dst []float64, t float64) {
	if b.roll == nil {
		for k, v := range b.velocity {
			dst[k] = 0
			if v >= 0 {
				dst[k] = b.dx[v] * t
			}
		}
		return
	}
	b.roll.JVPAt(dst, t)
	if b.companion == nil {
		return
	}
	b.companion.JVPAt(b.other, t)
	Q := len(b.share)
	KnotWeights(b.share, b.spec.Knots, t/b.spec.Horizon)
	for k := range dst {
		dst[k] += dot(b.share, b.spec.LinearWeight[k*Q:(k+1)*Q]) * (b.other[k] - dst[k])
	}
}

// noiseSlopes writes the derivatives of NoiseWeights by τ to dst. At τ = 0, where
// √τ has none, they are 0: all that they multiply vanishes there faster.
func noiseSlopes(dst, knots []float64, tau float64) {
	clear(dst)
	last := len(knots) - 1
	if last == 0 || tau <= math.Max(knots[0], 1e-12) || tau >= knots[last] {
		return
	}
	j := 0
	for tau > knots[j+1] {
		j++
	}
	slope := 0.5 / (math.Sqrt(tau) * (math.Sqrt(knots[j+1]) - math.Sqrt(knots[j])))
	dst[j], dst[j+1] = -slope, slope
}
