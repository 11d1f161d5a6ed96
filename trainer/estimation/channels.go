package estimation

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// suffix names the rate of a position.
const suffix = "_rate"

// units of positions: a state in another one, or in none, has no rate that a robot moves by.
var units = []string{"m", "mm", "cm", "km", "rad", "deg", "°"}

// Positions returns the states that are positions and have no rate: an angle or a length, which neither is another state's
// rate nor has one, by itself or by the kinematics.
func Positions(states []channel.Channel, kinematics *channel.Kinematics) (out []int) {
	moved := map[string]bool{}
	for _, name := range slices.Concat(kinematics.Position, kinematics.Velocity, kinematics.Attitude, kinematics.Rates) {
		plain, _ := channel.Signed(name)
		moved[plain] = true
	}
	for _, c := range states {
		if c.Derivative != "" {
			moved[c.Name], moved[c.Derivative] = true, true
		}
	}
	for k, c := range states {
		if !moved[c.Name] && (c.Period > 0 || slices.Contains(units, channel.CanonicalUnit(c.Unit))) {
			out = append(out, k)
		}
	}
	return out
}

// WithRates returns the states and, behind them, the rate of each position; derivatives name them.
func WithRates(states []channel.Channel, positions []int) []channel.Channel {
	out := slices.Clone(states)
	for _, k := range positions {
		c := &out[k]
		rate := channel.Channel{Name: c.Name + suffix, Role: channel.State, Invariant: false, Frame: c.Frame, Estimated: true}
		for channel.Index(out, rate.Name) >= 0 {
			rate.Name += "_"
		}
		if c.Unit != "" {
			rate.Unit = channel.CanonicalUnit(c.Unit + "/s")
		}
		c.Derivative = rate.Name
		out = append(out, rate)
	}
	return out
}
