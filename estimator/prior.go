package estimator

import (
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// PriorDynamicsSpec describes the part of the prior mean that no net makes.
type PriorDynamicsSpec struct {
	Model        *priordynamics.Model // rolled out from the start state; nil or of degree 0 = none
	Secondary    *priordynamics.Model // secondary linear model; nil or of degree 0 = none
	LinearWeight []float64            // K×Q: weight of the secondary model at the knots, linear in √τ between; none = no secondary model
	Knots        []float64            // Q, τ of the knots, ascending
	Velocity     bool                 // without prior dynamics: v0·t where a channel's derivative is measured
	Horizon      float64              // H, s
}

// PriorDynamics evaluates the part of the prior mean that its spec describes, as a
// displacement from the start state x0 in state units. Trainer and predictor share it.
type PriorDynamics struct {
	rollout, secondary *priordynamics.Rollout // nil = none
	spec               PriorDynamicsSpec
	velocity           []int     // K, place of the derivative's channel, or −1
	x0, dx             []float64 // K: start state, direction of JVP
	other, dother      []float64 // K, of the secondary model
	weight, dweight    []float64 // Q, weights of the knots and their derivatives by τ
}

// NewPriorDynamics allocates the prior dynamics of a spec for K state channels.
func NewPriorDynamics(states []channel.Channel, spec PriorDynamicsSpec) *PriorDynamics {
	K, Q := len(states), len(spec.Knots)
	b := &PriorDynamics{spec: spec, x0: make([]float64, K), dx: make([]float64, K)}
	velocity := spec.Velocity
	if spec.Model != nil && spec.Model.Degree > 0 {
		b.rollout = priordynamics.New(spec.Model, K, spec.Horizon)
		velocity = false
		if spec.Secondary != nil && spec.Secondary.Degree > 0 && len(spec.LinearWeight) == K*Q {
			b.secondary = priordynamics.New(spec.Secondary, K, spec.Horizon)
			b.other, b.dother = make([]float64, K), make([]float64, K)
			b.weight, b.dweight = make([]float64, Q), make([]float64, Q)
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

// PriorDynamicsOf returns the prior dynamics of a model.
func PriorDynamicsOf(m *model.Model) *PriorDynamics {
	return NewPriorDynamics(m.Channels[:m.K], PriorDynamicsSpec{
		Model: &m.PriorDynamics, Secondary: &m.Secondary, LinearWeight: m.LinearWeight, Knots: m.NoiseKnots, Velocity: m.Velocity, Horizon: m.Horizon,
	})
}

// Start sets the start state (K) and the input over the horizon (nil without
// inputs).
func (b *PriorDynamics) Start(x0 []float64, u channel.Signal) {
	copy(b.x0, x0)
	for _, r := range [...]*priordynamics.Rollout{b.rollout, b.secondary} {
		if r != nil {
			r.Run(x0, u)
		}
	}
}

// At writes the displacement from x0 of the last Start at t seconds after it to dst
// (K, state units) and its derivative by time to ddst (K, state units per second).
func (b *PriorDynamics) At(dst, ddst []float64, t float64) {
	if b.rollout == nil {
		for k, v := range b.velocity {
			dst[k], ddst[k] = 0, 0
			if v >= 0 {
				dst[k], ddst[k] = b.x0[v]*t, b.x0[v]
			}
		}
		return
	}
	b.rollout.At(dst, ddst, t)
	if b.secondary == nil {
		return
	}
	b.secondary.At(b.other, b.dother, t)
	Q, tau := len(b.weight), t/b.spec.Horizon
	KnotWeights(b.weight, b.spec.Knots, tau)
	knotDerivatives(b.dweight, b.spec.Knots, tau)
	for k := range dst {
		weight := b.spec.LinearWeight[k*Q : (k+1)*Q]
		w, dw := dot(b.weight, weight), dot(b.dweight, weight)/b.spec.Horizon
		d := b.other[k] - dst[k]
		dst[k] += w * d
		ddst[k] += w*(b.dother[k]-ddst[k]) + dw*d
	}
}

// JVP computes the tangent of the last Start along component c of its start state x0:
// the Jacobian of the displacement times the unit vector of c. JVPAt evaluates it.
func (b *PriorDynamics) JVP(c int) {
	clear(b.dx)
	b.dx[c] = 1
	for _, r := range [...]*priordynamics.Rollout{b.rollout, b.secondary} {
		if r != nil {
			r.JVP(b.dx)
		}
	}
}

// JVPAt writes ∂displacement(t)/∂x0[c], for the c of the last JVP and t seconds after
// the start, to dst (K, state units per unit of x0[c]).
func (b *PriorDynamics) JVPAt(dst []float64, t float64) {
	if b.rollout == nil {
		for k, v := range b.velocity {
			dst[k] = 0
			if v >= 0 {
				dst[k] = b.dx[v] * t
			}
		}
		return
	}
	b.rollout.JVPAt(dst, t)
	if b.secondary == nil {
		return
	}
	b.secondary.JVPAt(b.other, t)
	Q := len(b.weight)
	KnotWeights(b.weight, b.spec.Knots, t/b.spec.Horizon)
	for k := range dst {
		dst[k] += dot(b.weight, b.spec.LinearWeight[k*Q:(k+1)*Q]) * (b.other[k] - dst[k])
	}
}
