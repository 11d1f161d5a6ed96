// Package drive commands the inputs of a plant, as the program of a motor or the
// controller of a drone does: one value each control tick, held until the next.
//
// A driver knows its own future, random parts included: a copy of it commands
// what the original will. Rolling a copy forward together with the plant gives
// the plan of a robot, the inputs it is going to use. For a motor that follows a
// torque programme the plan is exact; under feedback it is what will happen if
// nothing unforeseen does.
package drive

import (
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// Driver commands P inputs.
type Driver interface {
	// Command sets u (P) for the tick that begins, from what the driver
	// believes the state x (K) to be, and moves on by one tick.
	Command(u, x []float64)

	// CopyFrom gives this driver the present and the future of another of
	// the same plant and tick.
	CopyFrom(other Driver)
}

// For returns the driver of a plant that ticks every tick seconds, and whether
// it reads the state. Plants that nobody flies have constant inputs.
func For(p *plant.Plant, tick float64, src *seed.Source) (d Driver, feedback bool) {
	switch p.Name {
	case "pendulum":
		return NewTorque(tick, src), false
	case "cartpole":
		return NewBalance(p, tick, src), true
	case "quadrotor-flown":
		return NewPilot(p, tick, src), true
	}
	return &Constant{U: p.U0}, false
}

// Constant commands the same inputs for ever.
type Constant struct{ U []float64 }

// Command sets u to the constant inputs.
func (c *Constant) Command(u, _ []float64) { copy(u, c.U) }

// CopyFrom does nothing: constants have one future.
func (c *Constant) CopyFrom(Driver) {}
