package ood

import "math"

// RMSDisplacement measures how much the robot is predicted to move, over how much it usually
// does: what a model gets wrong grows with what moves. At rest hardly anything can
// be wrong, in a swing over the top a lot.
type RMSDisplacement struct {
	Typical  []float64 // K×Q, state units: usual displacements at the knots; 0 = does not count; none = not measured
	Min      float64   // the ratio counts from here …
	Max      float64   // … to here
	Exponent []float64 // per readout: that of the ratio, with which intervals shrink below 1, half of it above
}

// Factor returns how much wider intervals of a readout are than those of usual
// motion. Beyond it the power is halved: what moves most is what folds know least
// when it is held out from them, and they overstate how wrong the whole is there.
func (m *RMSDisplacement) Factor(ratio float64, readout int) float64 {
	if readout >= len(m.Exponent) || m.Exponent[readout] == 0 {
		return 1
	}
	power := m.Exponent[readout]
	if ratio > 1 {
		power /= 2
	}
	return math.Pow(math.Min(math.Max(ratio, m.Min), m.Max), power)
}

// RunningRMS is the motion of one prediction. Until the time τ it is the root mean
// square of displacement over usual displacement, over channels and times up to τ:
// nothing that comes after τ counts.
type RunningRMS struct {
	m        *RMSDisplacement
	knots    []float64 // Q, ascending
	squares  []float64 // Q, mean over channels at the knots
	integral []float64 // Q, of them over τ from 0 on, by trapezoids
}

// NewRunningRMS takes the memory, for knots τ (Q, ascending).
func NewRunningRMS(m *RMSDisplacement, knots []float64) RunningRMS {
	return RunningRMS{m, knots, make([]float64, len(knots)), make([]float64, len(knots))}
}

// Knot takes the displacements (K, state units) at knot q. The knots come in their
// order.
func (c *RunningRMS) Knot(q int, displacement []float64) {
	c.squares[q] = c.square(displacement, c.knots[q])
	c.integral[q] = c.until(q-1, c.knots[q], c.squares[q])
}

// Ratio returns the motion until τ, at which the displacements (K) are given; 1
// where no channel counts.
func (c *RunningRMS) Ratio(tau float64, displacement []float64) float64 {
	q := len(c.knots) - 1
	for q >= 0 && c.knots[q] > tau {
		q--
	}
	square := c.square(displacement, tau)
	if tau <= 0 {
		return math.Sqrt(square)
	}
	return math.Sqrt(c.until(q, tau, square) / tau)
}

// until returns the integral up to τ, behind knot q (−1 = none), where the square is
// given. In front of the first knot that is not at 0 it is what it is there.
func (c *RunningRMS) until(q int, tau, square float64) float64 {
	if q < 0 || c.knots[q] <= 0 {
		return square * tau
	}
	return c.integral[q] + 0.5*(c.squares[q]+square)*(tau-c.knots[q])
}

// square returns the mean over channels of (displacement/usual)² at τ.
func (c *RunningRMS) square(displacement []float64, tau float64) float64 {
	Q := len(c.knots)
	sum, n := 0.0, 0.0
	for k, d := range displacement {
		if usual := c.usual(c.m.Typical[k*Q:(k+1)*Q], tau); usual > 0 {
			sum += d * d / (usual * usual)
			n++
		}
	}
	if n == 0 {
		return 1
	}
	return sum / n
}

// usual returns what a channel usually moves until τ: linear between the knots, from
// 0 at 0 to the first, constant behind the last.
func (c *RunningRMS) usual(at []float64, tau float64) float64 {
	from, value := 0.0, 0.0
	for q, knot := range c.knots {
		if knot > 0 && tau <= knot {
			return value + (at[q]-value)*(tau-from)/(knot-from)
		}
		if knot > 0 {
			from, value = knot, at[q]
		}
	}
	return value
}
