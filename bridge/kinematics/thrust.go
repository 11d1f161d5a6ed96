package kinematics

import (
	"fmt"
	"math"
	"slices"
	"strings"

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
	row      [8]float64 // pairs of the velocity and what the tilt gives of its rate of change: of x and y, and of x and y crossed
}

// newThrust returns a comparison for a body with velocity and attitude, nil for others.
func newThrust(body priordynamics.Body) *thrust {
	if len(body.Velocity) == 0 || len(body.Attitude) == 0 {
		return nil
	}
	var pairs []channel.Channel
	for i := range 4 {
		of := fmt.Sprintf("lean %d", i)
		pairs = append(pairs, channel.Channel{Name: fmt.Sprintf("velocity %d", i), Derivative: of}, channel.Channel{Name: of, Derivative: of})
	}
	return &thrust{body: body, detector: derivative.New(pairs)}
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
	h.row = [8]float64{v[0], lean[0], v[1], lean[1], v[0], lean[1], v[1], lean[0]}
	h.detector.Add(t, h.row[:])
}

// sign returns 1 where a body accelerates to where it leans, −1 where it accelerates against it; 0 = two pairs of samples, from a
// number on, do not show it.
func (h *thrust) sign(from int) float64 {
	sign := 0.0
	for i := from; i < from+2; i++ {
		slope, corr, ok := h.detector.Slope(2*i, 2*i+1)
		s := math.Copysign(1, slope)
		if !ok || math.Abs(corr) < thrustSure || math.Abs(slope) < thrustMin || math.Abs(slope) > thrustMax || i > from && s != sign {
			return 0
		}
		sign = s
	}
	return sign
}

// axes returns in which axes the attitude and the velocity of a body are that flies; "" = the samples do not show it.
func (h *thrust) axes() (attitude, velocity string) {
	crossed := false
	sign := h.sign(0)
	if sign == 0 {
		sign, crossed = h.sign(2), true
	}
	switch {
	case sign == 0:
		return "", ""
	case sign > 0:
		attitude = string(frames.ENU + "-" + frames.FLU)
	default:
		attitude = string(frames.NED + "-" + frames.FRD)
	}
	velocity, _, _ = strings.Cut(attitude, "-")
	if crossed { // north and east
		velocity = opposite(velocity)
	}
	return attitude, velocity
}

// opposite returns the other one of two conventions of axes. Other words of a map for axes, as world, mean neither.
func opposite(axes string) string {
	return strings.NewReplacer("enu", "ned", "ned", "enu", "flu", "frd", "frd", "flu").Replace(axes)
}

// Leaning returns which states of a declaration are in other axes than they are said to be, by the acceleration of a body that flies, and
// what to do; "" = none are, or the samples do not show it.
func (c *Checker) Leaning(states []channel.Channel) (reason, remedy string) {
	if c.thrust == nil {
		return "", ""
	}
	attitude, velocity := c.thrust.axes()
	var what, mend []string
	compare := func(names []string, at int, found string) {
		if written := states[at].Frame; found != "" && written == opposite(found) {
			of := strings.Join(names, ", ")
			what, mend = append(what, fmt.Sprintf("%s are in axes %s, not %s", of, found, written)), append(mend, fmt.Sprintf("axes = %q for %s", found, of))
		}
	}
	compare(c.declared.Attitude, c.body.Attitude[0], attitude)
	if !c.body.InBody {
		compare(append(slices.Clone(c.declared.Position), c.declared.Velocity...), c.body.Velocity[0], velocity)
	}
	if len(what) == 0 {
		return "", ""
	}
	return strings.Join(what, ", and "), fmt.Sprintf("write %s, and frames = %q at the top, in a copy of the map (--print-map)", strings.Join(mend, ", and "), attitude)
}
