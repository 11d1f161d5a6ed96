package actuator

import (
	"fmt"
	"math"
	"slices"
)

// Response is when an input acts: a dead time, then a first-order lag, s.
type Response struct{ Dead, Lag float64 }

// Longest is the longest dead time, and the longest lag, s.
const Longest = 60.0

// Check returns what is wrong with a response, or nil.
func (r Response) Check() error {
	if !(r.Dead >= 0 && r.Dead <= Longest && r.Lag >= 0 && r.Lag <= Longest) {
		return fmt.Errorf("a dead time of %v s and a lag of %v s are not within 0 to %v s", r.Dead, r.Lag, Longest)
	}
	return nil
}

// settled is how many lags after the dead time a step is complete, but for 2 %.
const settled = 4

// Reach returns how long before now commands are that still act, s.
func (r Response) Reach() float64 { return r.Dead + settled*r.Lag }

// Reach returns the longest of some responses, s.
func Reach(all []Response) (s float64) {
	for _, r := range all {
		s = math.Max(s, r.Reach())
	}
	return s
}

// Acts reports whether any of some responses differs from its command.
func Acts(all []Response) bool {
	return slices.ContainsFunc(all, func(r Response) bool { return r != Response{} })
}

// Left returns what is left after dt, s, of the distance of an output from its command.
func (r Response) Left(dt float64) float64 {
	if r.Lag == 0 {
		return 0
	}
	return math.Exp(-math.Max(dt, 0) / r.Lag)
}

// follow returns the output of which so much of the distance v − u is left; without a distance it is u to the last bit.
func follow(v, u, left float64) float64 { return u + (v-u)*left }

// Follow returns the output dt seconds after it was v, while the command u acts.
func (r Response) Follow(v, u, dt float64) float64 { return follow(v, u, r.Left(dt)) }

// Mean returns the mean output over a time, s, by the integral of the command over that time a dead time before, and by the outputs
// at its two ends.
func (r Response) Mean(commands, from, to, time float64) float64 {
	return (commands - r.Lag*(to-from)) / time
}

// step returns the output t seconds after a step of the command from 0 to 1.
func (r Response) step(t float64) float64 {
	switch {
	case !(t >= r.Dead):
		return 0
	case r.Lag == 0 || math.IsInf(t, 1):
		return 1
	}
	return -math.Expm1(-(t - r.Dead) / r.Lag)
}

// at returns the output at t of a command that is 1 from one time to another and else 0, either of which may be infinite.
func (r Response) at(from, to, t float64) float64 { return r.step(t-from) - r.step(t-to) }

// Share returns the mean output from a to b, or with a = b the output then, of a command that is 1 from one time to another and else
// 0: how much of a mean is due to a row of a plan. from may be −∞, to +∞.
func (r Response) Share(from, to, a, b float64) float64 {
	if b <= a {
		return r.at(from, to, a)
	}
	held := math.Max(0, math.Min(b-r.Dead, to)-math.Max(a-r.Dead, from))
	return r.Mean(held, r.at(from, to, a), r.at(from, to, b), b-a)
}
