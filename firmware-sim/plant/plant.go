// Package plant holds known systems as differential equations dx/dt = f(x, u; p)
// with their derivatives: the simulated firmware integrates them, the paper's
// experiments learn them, and parametric dynamics fit their parameters.
//
// A plant is a value. The right-hand side F and its adjoint VJP are plain
// functions, so that code that does not import this package can use them. All plants are autonomous: time enters only through the inputs.
//
// One plant per file. The four systems of "Distributional Gradient Matching for
// Learning Uncertain Neural Dynamics Models" (Treven et al., 2021) have the
// paper's parameters, noise and initial conditions; where the paper's text is
// wrong or silent, the plant's own comment gives the choice.
package plant

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Param is a physical constant of a plant.
type Param struct {
	Name  string
	Unit  string
	Value float64 // default
}

// Plant describes one system. K states, P inputs, Q parameters, D disturbances.
type Plant struct {
	Name     string
	Text     string            // one line of description
	States   []channel.Channel // K
	Inputs   []channel.Channel // P
	Params   []Param           // Q
	Noise    []float64         // K, default standard deviation of the sensors
	Duration float64           // s, default length of a recording
	X0       []float64         // K, default initial condition
	Low      []float64         // K, further initial conditions are drawn
	High     []float64         // K, uniformly between Low and High
	U0       []float64         // P, inputs where nothing commands them

	Commands   float64   // (optional) how often it is commanded, Hz; 0 = about 200
	InputNoise []float64 // (optional) P, standard deviation of white noise, new with every command, that is added to the inputs

	Kinematics channel.Kinematics // (optional) of a rigid body, as its logs declare it

	// F sets dst (K) to dx/dt at state x (K), inputs u (P), parameters p (Q).
	F func(dst, x, u, p []float64)

	// VJP adds gᵀ ∂f/∂x to dx (K), gᵀ ∂f/∂u to du (P) and gᵀ ∂f/∂p to dp (Q)
	// for an adjoint g (K). Each of dx, du, dp may be nil: not wanted.
	VJP func(dx, du, dp, x, u, p, g []float64)

	Mass string // (optional) the parameter that a payload adds to; "" = nothing can be carried

	// Disturbances names what wind does to the plant (D), with units; empty
	// without wind. Push adds its effect d (D) to dst (K) = dx/dt.
	Disturbances []Param // Value is not used
	Push         func(dst, x, d, p []float64)
}

// Channels returns the states, then the inputs.
func (p *Plant) Channels() []channel.Channel {
	return slices.Concat(p.States, p.Inputs)
}

// Values returns a fresh slice (Q) of the default parameters.
func (p *Plant) Values() []float64 {
	out := make([]float64, len(p.Params))
	for i, q := range p.Params {
		out[i] = q.Value
	}
	return out
}

// state describes a state channel.
func state(name, unit, frame string) channel.Channel {
	return channel.Channel{Name: name, Unit: unit, Role: channel.State, Frame: frame}
}

// input describes an input channel.
func input(name, unit string) channel.Channel {
	return channel.Channel{Name: name, Unit: unit, Role: channel.Input}
}

// angle describes a state channel with the period of a full turn.
func angle(name string) channel.Channel {
	c := state(name, "rad", "")
	c.Period = channel.Angle
	return c
}

// position describes a state channel that the dynamics do not read.
func position(name, frame string) channel.Channel {
	c := state(name, "m", frame)
	c.Invariant = true
	return c
}

// derivative names the state channel that is c's time derivative.
func derivative(c channel.Channel, of string) channel.Channel {
	c.Derivative = of
	return c
}

// withNoise writes the noise into the states' descriptions.
func withNoise(p Plant) Plant {
	for i := range p.States {
		p.States[i].Noise = p.Noise[i]
	}
	return p
}
