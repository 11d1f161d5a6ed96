package drive

import (
	"math"

	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// Explorer flies the planar quadrotor through as many of its motions as a short flight holds:
// a target jumps between random places, the position loop asks for an acceleration, to which
// a random part is added, and the acceleration gives thrust and pitch.
type Explorer struct {
	src              seed.Source
	b1, b2, g, pitch float64   // of the plant; pitch is the command for an angle of 1 rad
	goal             [2]Steps  // of x and z
	shake            [2]Wander // of the acceleration
}

// Limits and gains, SI units.
const (
	explorerX, explorerZ = 1.1, 0.6 // m, range of the targets around x = 0 and the middle of z
	explorerMiddle       = 1.0      // m
	explorerPos          = 2.2      // 1/s: position error to velocity
	explorerVel          = 4.0      // 1/s: velocity error to acceleration
	explorerFast         = 2.4      // m/s, largest velocity that is asked for
	explorerShake        = 2.5      // m/s², standard deviation of the random part
	explorerBand         = 1.5      // Hz
	explorerTilt         = 0.6      // tangent of the largest tilt
	explorerLift         = 5.0      // m/s², largest acceleration up or down
)

// NewExplorer returns the controller for ticks of tick seconds; it uses the default
// parameters of the plant, not its actual ones.
func NewExplorer(p *plant.Plant, tick float64, src *seed.Source) *Explorer {
	v := p.Values()
	e := &Explorer{src: *src, b1: v[0], b2: v[1], g: v[6], pitch: -v[2] / v[4]}
	for i := range e.goal {
		e.goal[i], e.shake[i] = NewSteps(0.7, 1.6, tick), NewWander(explorerBand, tick)
	}
	return e
}

// Command sets u (2) to thrust and pitch, from x (6) as the plant orders it.
func (e *Explorer) Command(u, x []float64) {
	goal := [2]float64{explorerX * e.goal[0].Next(&e.src), explorerMiddle + explorerZ*e.goal[1].Next(&e.src)}
	var acc [2]float64
	for i := range acc {
		want := clamp(explorerPos*(goal[i]-x[2*i]), -explorerFast, explorerFast)
		acc[i] = explorerVel*(want-x[2*i+1]) + explorerShake*e.shake[i].Next(&e.src)
	}
	up := e.g + clamp(acc[1], -explorerLift, explorerLift)
	ahead := clamp(acc[0], -explorerTilt*up, explorerTilt*up)
	u[0] = (math.Hypot(ahead, up) - e.b2) / e.b1
	u[1] = e.pitch * math.Atan2(ahead, up)
}

// CopyFrom copies the state of another Explorer.
func (e *Explorer) CopyFrom(other Driver) { *e = *other.(*Explorer) }
