package ood

import "math"

// RMSDisplacement scales intervals by the running RMS displacement of a prediction over
// the typical one of the training data: errors grow with the displacement. They are small
// at rest and large in a swing over the top.
type RMSDisplacement struct {
	Typical  []float64 // K×Q, state units: displacements at the knots; 0 = the channel is left out; none = not measured
	Min      float64   // lower bound of the ratio
	Max      float64   // upper bound
	Exponent []float64 // per readout: motion exponent of a ratio below 1, half of it above
}

// Factor returns the factor of the intervals of a readout at a ratio of running RMS
// displacements. Above 1 the exponent is halved: held-out folds lack the largest
// displacements, so that their errors overstate those of the whole model.
func (m *RMSDisplacement) Factor(ratio float64, readout int) float64 {
	if readout >= len(m.Exponent) || m.Exponent[readout] == 0 {
		return 1
	}
	exponent := m.Exponent[readout]
	if ratio > 1 {
		exponent /= 2
	}
	return math.Pow(math.Min(math.Max(ratio, m.Min), m.Max), exponent)
}

// RunningRMS is the running RMS displacement of one prediction: the root mean square of
// displacement over typical displacement, over channels and times up to τ.
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

// Knot adds the displacements (K, state units) at knot q. Knots are added in their
// order.
func (c *RunningRMS) Knot(q int, displacement []float64) {
	c.squares[q] = c.square(displacement, c.knots[q])
	c.integral[q] = c.until(q-1, c.knots[q], c.squares[q])
}

// Ratio returns the ratio until τ, given the displacements (K) at τ; 1 where all
// channels are left out.
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

// until returns the integral up to τ, after knot q (−1 = none), given the square at τ.
// Before the first knot that is not at 0 the square is constant.
func (c *RunningRMS) until(q int, tau, square float64) float64 {
	if q < 0 || c.knots[q] <= 0 {
		return square * tau
	}
	return c.integral[q] + 0.5*(c.squares[q]+square)*(tau-c.knots[q])
}

// square returns the mean over channels of (displacement/typical)² at τ.
func (c *RunningRMS) square(displacement []float64, tau float64) float64 {
	Q := len(c.knots)
	sum, n := 0.0, 0.0
	for k, d := range displacement {
		if typical := c.typical(c.m.Typical[k*Q:(k+1)*Q], tau); typical > 0 {
			sum += d * d / (typical * typical)
			n++
		}
	}
	if n == 0 {
		return 1
	}
	return sum / n
}

// typical returns the typical displacement of a channel at τ: linear between the knots,
// from 0 at 0 to the first, constant after the last.
func (c *RunningRMS) typical(at []float64, tau float64) float64 { return typicalAt(at, c.knots, tau) }

// At returns the typical displacement of channel k at τ, for knots τ (Q, ascending).
func (m *RMSDisplacement) At(knots []float64, k int, tau float64) float64 {
	Q := len(knots)
	return typicalAt(m.Typical[k*Q:(k+1)*Q], knots, tau)
}

func typicalAt(at, knots []float64, tau float64) float64 {
	from, value := 0.0, 0.0
	for q, knot := range knots {
		if knot > 0 && tau <= knot {
			return value + (at[q]-value)*(tau-from)/(knot-from)
		}
		if knot > 0 {
			from, value = knot, at[q]
		}
	}
	return value
}
