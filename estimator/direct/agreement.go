package direct

import "math"

// A map that reads much history predicts well as long as the motion goes on as in the training data, and errs on others: what follows from the past
// there is how the robot was commanded. Maps that read less err less. So a level with two others of its readout that read less, a and b, is bounded by
// what these predict, channel by channel and time by time:
//
//	m = c − d + d/(1 + (d/(5 s))²)
//
// c is its own displacement, d the signed distance of c from the interval between a and b, and s (Level.Apart) the root mean
// square of d on flights that were held out. Within the interval m is c. Far beyond it m is the nearer of a and b.

// Agreed is how far a level may lie beyond what others predict, in multiples of what is usual.
const Agreed = 5

// LeastApart bounds s, over the time, from below: single precision has the inverse of its square.
const LeastApart = 1e-12

// agreement is what becomes of a displacement c.
type agreement struct {
	value   float64 // m
	bound   float64 // the nearer end of the interval
	beyond  float64 // d
	own     float64 // ∂m/∂c; the others' share is 1 − own
	nearest int     // the other that has it: 0 = a, 1 = b
	byApart float64 // ∂m/∂s
}

// agree returns that of c, a and b, with s > 0.
func agree(c, a, b, s float64) agreement {
	out := agreement{value: c, own: 1}
	low, high := math.Min(a, b), math.Max(a, b)
	bound := low
	switch {
	case c < low:
	case c > high:
		bound = high
	default:
		return out
	}
	if bound == b {
		out.nearest = 1
	}
	out.bound, out.beyond = bound, c-bound
	q := out.beyond / (Agreed * s)
	q *= q
	if math.IsInf(q, 0) {
		out.value, out.own = bound, 0
		return out
	}
	share := 1 / (1 + q)
	out.value = bound + out.beyond*share
	out.own = (1 - q) * share * share
	out.byApart = 2 * out.beyond * q * share * share / s
	return out
}

// moved returns d (c − m): small where c is hardly beyond, d² where it is far.
func (a *agreement) moved() float64 {
	if a.beyond == 0 {
		return 0
	}
	return a.beyond * (a.beyond - (a.value - a.bound))
}
