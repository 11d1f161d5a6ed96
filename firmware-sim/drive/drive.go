// Package drive commands the inputs of a plant, as the program of a motor or the
// controller of a drone does: one value each control tick, held until the next.
//
// The future of a driver is determined, random parts included: a copy commands the same
// inputs as the original. A rollout of a copy together with the plant gives the plan of
// a robot, its future inputs. For a motor that follows a torque programme the plan is
// exact; under feedback it is the prediction without disturbances.
package drive

import (
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// Driver commands P inputs.
type Driver interface {
	// Command sets u (P) for the tick that begins, from the driver's
	// estimate x (K) of the state, and advances by one tick.
	Command(u, x []float64)

	// CopyFrom copies the state and random streams of another driver of
	// the same plant and tick.
	CopyFrom(other Driver)
}

// For returns the driver of a plant that ticks every tick seconds, and whether
// it reads the state. Other plants have constant inputs.
func For(p *plant.Plant, tick float64, src *seed.Source) (d Driver, feedback bool) {
	switch p.Name {
	case "pendulum":
		return NewTorque(tick, src), false
	case "cartpole":
		return NewBalance(p, tick, src), true
	case "quadrotor":
		return NewPilot(p, tick, src), true
	case "planar-quadrotor":
		return NewExplorer(p, tick, src), true
	}
	return &Constant{U: p.U0}, false
}

// Constant commands constant inputs.
type Constant struct{ U []float64 }

// Command sets u to the constant inputs.
func (c *Constant) Command(u, _ []float64) { copy(u, c.U) }

// CopyFrom does nothing: a Constant has no state.
func (c *Constant) CopyFrom(Driver) {}
