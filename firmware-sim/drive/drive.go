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

// Torque is the programme of the pendulum's motor: a smooth random torque plus
// random steps, within what the motor can give. It reads no state, so its plan
// is exact.
type Torque struct {
	src    seed.Source
	smooth Wander
	steps  Steps
}

// Torques in N·m. The pendulum's weight at its arm is 2.45 N·m: it swings widely
// and sometimes over the top.
const (
	torqueSmooth = 0.42 // standard deviation of the smooth part
	torqueBand   = 0.8  // Hz; the pendulum swings with 0.7 Hz
	torqueStep   = 0.7  // largest step from zero
	torqueMax    = 1.6  // the motor's limit
	torqueHold   = 0.8  // s, shortest time between two steps
	torqueLonger = 3.00 // s, longest
)

// NewTorque returns the programme for ticks of tick seconds.
func NewTorque(tick float64, src *seed.Source) *Torque {
	return &Torque{src: *src, smooth: NewWander(torqueBand, tick), steps: NewSteps(torqueHold, torqueLonger, tick)}
}

// Command sets u[0] to the torque, N·m.
func (m *Torque) Command(u, _ []float64) {
	v := torqueSmooth*m.smooth.Next(&m.src) + torqueStep*m.steps.Next(&m.src)
	u[0] = clamp(v, -torqueMax, torqueMax)
}

// CopyFrom copies the state of another Torque.
func (m *Torque) CopyFrom(other Driver) { *m = *other.(*Torque) }
