package drive

import "github.com/dgm-robotics/dgm/firmware-sim/seed"

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
