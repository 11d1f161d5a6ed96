package drive

import (
	"math"

	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// Pilot flies the quadrotor between random waypoints: a target moves towards the
// waypoint at the speed of the leg, the position loop asks for an acceleration,
// the acceleration gives thrust and attitude, the attitude loop gives torques,
// and the torques and the thrust give four forces.
//
// Its limits are those of a real drone: tilt commands up to 25 degrees, forces from zero
// to two and a half times hovering. There is no yaw torque, so the heading is not
// controlled.
type Pilot struct {
	src      seed.Source
	tick     float64
	m, g     float64
	ixx, iyy float64
	izz      float64
	dx, dy   float64

	left     int        // ticks until the next waypoint
	speed    float64    // m/s, of this leg
	waypoint [3]float64 // m
	target   [3]float64 // m, on its way to the waypoint
	shake    [3]Wander  // of the acceleration
}

// Limits and gains, SI units.
const (
	pilotNear, pilotLow, pilotHigh = 3.0, -1.5, 1.5 // waypoints: |x|, |y| and the range of z, m
	pilotSlow, pilotFast           = 0.5, 2.5       // speed of a leg, m/s
	pilotShort, pilotLong          = 1.5, 4.0       // time for a leg, s
	pilotShake                     = 0.5            // std of a random acceleration, m/s²
	pilotShakeBand                 = 1.5            // Hz

	pilotPos, pilotVel = 1.2, 2.5 // 1/s: position error to velocity, velocity error to acceleration
	pilotMaxVel        = 3.0      // m/s
	pilotMaxClimb      = 3.0      // m/s², either way
	pilotMaxTilt       = 0.466    // tangent of 25 degrees
	pilotStiff         = 70.0     // 1/s²: attitude error to angular acceleration
	pilotDamp          = 14.0     // 1/s: rate to angular acceleration
	pilotMaxForce      = 0.6      // N, of one rotor
)

// NewPilot returns the controller for ticks of tick seconds; it uses the
// default parameters of the plant, not its actual ones.
func NewPilot(p *plant.Plant, tick float64, src *seed.Source) *Pilot {
	v := p.Values()
	c := &Pilot{
		src: *src, tick: tick,
		m: v[0], ixx: v[1], iyy: v[2], izz: v[3], dx: v[4], dy: v[5], g: v[6],
	}
	for i := range c.shake {
		c.shake[i] = NewWander(pilotShakeBand, tick)
	}
	return c
}

// mission draws waypoints and moves the target towards the present one.
func (c *Pilot) mission() {
	if c.left == 0 {
		c.left = max(1, int(c.src.Uniform(pilotShort, pilotLong)/c.tick))
		c.speed = c.src.Uniform(pilotSlow, pilotFast)
		c.waypoint = [3]float64{
			c.src.Uniform(-pilotNear, pilotNear),
			c.src.Uniform(-pilotNear, pilotNear),
			c.src.Uniform(pilotLow, pilotHigh),
		}
	}
	c.left--
	var way [3]float64
	var far float64
	for i := range way {
		way[i] = c.waypoint[i] - c.target[i]
		far += way[i] * way[i]
	}
	far = math.Sqrt(far)
	step := math.Min(1, c.speed*c.tick/math.Max(far, 1e-9))
	for i := range way {
		c.target[i] += step * way[i]
	}
}

// Command sets u (4) to the forces, N, from x (12) as the plant orders it.
func (c *Pilot) Command(u, x []float64) {
	c.mission()
	sf, cf := math.Sincos(x[6])
	st, ct := math.Sincos(x[7])
	sp, cp := math.Sincos(x[8])
	vel := [3]float64{
		ct*cp*x[0] + (sf*st*cp-cf*sp)*x[1] + (sf*sp+cf*st*cp)*x[2],
		ct*sp*x[0] + (sf*st*sp+cf*cp)*x[1] + (cf*st*sp-sf*cp)*x[2],
		st*x[0] - sf*ct*x[1] - cf*ct*x[2],
	}
	var acc [3]float64
	for i := range acc {
		want := clamp(pilotPos*(c.target[i]-x[9+i]), -pilotMaxVel, pilotMaxVel)
		acc[i] = pilotVel*(want-vel[i]) + pilotShake*c.shake[i].Next(&c.src)
	}
	acc[2] = clamp(acc[2], -pilotMaxClimb, pilotMaxClimb)

	// The thrust points along (−cosφ sinθ, sinφ, cosφ cosθ) in a frame that
	// shares the body's heading.
	up := acc[2] + c.g
	ahead, aside := acc[0]*cp+acc[1]*sp, -acc[0]*sp+acc[1]*cp
	if tilt := math.Hypot(ahead, aside); tilt > pilotMaxTilt*up {
		ahead *= pilotMaxTilt * up / tilt
		aside *= pilotMaxTilt * up / tilt
	}
	thrust := c.m * math.Sqrt(ahead*ahead+aside*aside+up*up)
	phi := math.Asin(aside * c.m / thrust)
	theta := math.Atan2(-ahead, up)

	p, q, r := x[3], x[4], x[5]
	roll := c.ixx*(pilotStiff*(phi-x[6])-pilotDamp*p) - (c.iyy-c.izz)*q*r
	pitch := c.iyy*(pilotStiff*(theta-x[7])-pilotDamp*q) - (c.izz-c.ixx)*p*r
	lift, dl, dm := thrust/4, roll/(4*c.dy), pitch/(4*c.dx)
	u[0] = clamp(lift-dl+dm, 0, pilotMaxForce)
	u[1] = clamp(lift+dl-dm, 0, pilotMaxForce)
	u[2] = clamp(lift+dl+dm, 0, pilotMaxForce)
	u[3] = clamp(lift-dl-dm, 0, pilotMaxForce)
}

// CopyFrom copies the state of another Pilot.
func (c *Pilot) CopyFrom(other Driver) { *c = *other.(*Pilot) }
