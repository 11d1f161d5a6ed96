package estimation

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// suffix names the rate of a position.
const suffix = "_rate"

// lengths are the units of positions, beside those of angles: a state in another one has no rate that a robot moves by. One without a unit is a
// position if it moves as one (secondOrder).
var lengths = []string{"m", "mm", "cm", "km"}

// isPosition reports whether a state is an angle or a length by its period or unit.
func isPosition(c *channel.Channel) bool {
	return c.Period > 0 || channel.Turn(c.Unit) > 0 || slices.Contains(lengths, channel.CanonicalUnit(c.Unit))
}

// Positions returns the states of flights that are positions and have no rate: angles, lengths, and states without a unit that move as
// such (secondOrder), which neither are another state's rate nor have one, by the channels' derivatives, the kinematics or what they do.
func Positions(flights []window.Flight, states []channel.Channel, kinematics *channel.Kinematics) (out []int) {
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
		if moved[c.Name] || !isPosition(&c) && c.Unit != "" || hasRate(flights, states, k) {
			continue
		}
		if isPosition(&c) || !isRate(flights, states, k) && secondOrder(flights, states, k) {
			out = append(out, k)
		}
	}
	return out
}

// hasRate reports whether the slope of state k is another state, whatever the log declares.
func hasRate(flights []window.Flight, states []channel.Channel, k int) bool {
	for j := range states {
		// the channel of a rate has a name of its own, of which nothing is known
		if j != k && !isPosition(&states[j]) && follows(flights, k, j) {
			return true
		}
	}
	return false
}

// isRate reports whether state k is the slope of another one.
func isRate(flights []window.Flight, states []channel.Channel, k int) bool {
	for j := range states {
		if j != k && follows(flights, j, k) {
			return true
		}
	}
	return false
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

// alike is the correlation with the slope of a position from which on a state is its rate.
const alike = 0.8

// follows reports whether state j of flights goes with the slope of state k over ten samples.
func follows(flights []window.Flight, k, j int) bool {
	const reach = 5
	var sxx, sxy, syy float64
	for i := range flights {
		f := &flights[i]
		for at := reach; at+reach < f.N(); at += reach {
			slope := (f.X[(at+reach)*f.K+k] - f.X[(at-reach)*f.K+k]) / (f.T[at+reach] - f.T[at-reach])
			if v := f.X[at*f.K+j]; !math.IsNaN(slope) && !math.IsNaN(v) {
				sxx, sxy, syy = sxx+slope*slope, sxy+slope*v, syy+v*v
			}
		}
	}
	return math.Abs(sxy) > alike*math.Sqrt(sxx*syy)
}

// Pair is a position and its rate, states of a model.
type Pair struct{ Position, Rate int }

// Pairs returns the positions whose rate is a state, by the channels' derivatives: all, or those of estimated rates alone.
func Pairs(states []channel.Channel, measured bool) (out []Pair) {
	for k, c := range states {
		if i := channel.Index(states, c.Derivative); c.Derivative != "" && (measured || states[i].Estimated) {
			out = append(out, Pair{k, i})
		}
	}
	return out
}
