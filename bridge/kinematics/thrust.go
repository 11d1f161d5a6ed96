package kinematics

import (
	"math"

	"github.com/dgm-robotics/dgm/bridge/derivative"
	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

const (
	gravity = 9.81 // m/s²

	// The thrust of a body that hovers is its weight in the mean; where it climbs or sinks, drag and thrust differ.
	thrustMin, thrustMax = 0.5, 2
	thrustSure           = 0.8 // correlation
)

// thrust compares the horizontal acceleration of a body that flies with its tilt: rotors, and wings in a turn, push along
// the body's own z, so that the specific force f R e₃ has the direction in which the body leans. All kinematic relations
// hold in ned and frd as they do in enu and flu, but in these R e₃ points down, and the acceleration is against it.
type thrust struct {
	body     priordynamics.Body
	detector *derivative.Detector
	row      [4]float64 // of x and y: the velocity, and what the tilt gives of its rate of change
}

// newThrust returns a comparison for a body with velocity and attitude, nil for others.
func newThrust(body priordynamics.Body) *thrust {
	if len(body.Velocity) == 0 || len(body.Attitude) == 0 {
		return nil
	}
	return &thrust{body: body, detector: derivative.New([]channel.Channel{{Name: "vx", Derivative: "ax"}, {Name: "ax", Derivative: "ax"}, {Name: "vy", Derivative: "ay"}, {Name: "ay", Derivative: "ay"}})}
}

func (h *thrust) add(t int64, x []float64) {
	b := &h.body
	of := func(at []int, sign []float64, scale float64) (v [3]float64) {
		for i, k := range at {
			v[i] = sign[i] * scale * x[k]
		}
		return v
	}
	v, q := of(b.Velocity, b.Sign[3:], 1), frames.FromEuler(of(b.Attitude, b.Sign[6:], b.Omega))
	if b.InBody {
		v = q.Rotate(v)
	}
	lean := q.Rotate([3]float64{0, 0, gravity})
	h.row = [4]float64{v[0], lean[0], v[1], lean[1]}
	h.detector.Add(t, h.row[:])
}

// sign returns 1 where a body accelerates to where it leans, −1 where it accelerates against it; 0 = it is not known.
func (h *thrust) sign() float64 {
	sign := 0.0
	for i := range 2 {
		slope, corr, ok := h.detector.Slope(2*i, 2*i+1)
		s := math.Copysign(1, slope)
		if !ok || math.Abs(corr) < thrustSure || math.Abs(slope) < thrustMin || math.Abs(slope) > thrustMax || i > 0 && s != sign {
			return 0
		}
		sign = s
	}
	return sign
}

// Axes returns the axes that the states of a body that flies have by its acceleration where it leans; "" = the samples do not show it.
func (c *Checker) Axes() string {
	if c.thrust == nil {
		return ""
	}
	switch c.thrust.sign() {
	case 1:
		return string(frames.ENU + "-" + frames.FLU)
	case -1:
		return string(frames.NED + "-" + frames.FRD)
	}
	return ""
}

// Written returns the axes of the attitude as the states have them; "" without an attitude.
func (c *Checker) Written(states []channel.Channel) string {
	if len(c.body.Attitude) == 0 {
		return ""
	}
	return states[c.body.Attitude[0]].Frame
}
