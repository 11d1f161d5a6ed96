package ode

import "math"

// Constants of the PI step-size controller for a pair whose error estimate is
// of order 5: Hairer, Nørsett & Wanner, "Solving Ordinary Differential
// Equations II", section IV.2, with their choice for DOPRI5.
const (
	safety = 0.9
	beta   = 0.04
	alpha  = 0.2 - 0.75*beta
	shrink = 0.2 // a step is at most this much shorter than the one before
	extend = 10  // and at most this much longer
)

// acceptFactor is the growth of the step after an error e (≤ 1) that followed
// the error last.
func acceptFactor(e, last float64) float64 {
	return clamp(safety*math.Pow(math.Max(e, 1e-10), -alpha)*math.Pow(last, beta), shrink, extend)
}

// rejectFactor is the shrinkage of the step after an error e that was too
// large or not a number.
func rejectFactor(e float64) float64 {
	if math.IsNaN(e) || math.IsInf(e, 0) {
		return shrink / 2
	}
	return clamp(safety*math.Pow(e, -alpha), shrink, 1)
}

// nextStep returns the step to try after one of length step with error e, h having been
// proposed. A step cut short to land on a time carries little information about longer
// ones, and after a rejection the step does not grow.
func nextStep(h, step, e, last float64, rejected, lands bool) float64 {
	grow := acceptFactor(e, last)
	if rejected {
		grow = math.Min(grow, 1)
	}
	if lands && step < h {
		return math.Max(h, step*grow)
	}
	return step * grow
}

// firstStep guesses a first step from the size of x, its derivative in d.fx
// and an estimate of the second derivative: Hairer, Nørsett & Wanner,
// section II.4, "Starting step size".
func (d *Dopri5) firstStep(f Func, t, dir, span float64) float64 {
	scale := func(k int) float64 { return d.cfg.ATol + d.cfg.RTol*math.Abs(d.x[k]) }
	var d0, d1, d2 float64
	for k := range d.x {
		a, b := d.x[k]/scale(k), d.fx[k]/scale(k)
		d0 += a * a
		d1 += b * b
	}
	n := float64(d.k)
	d0, d1 = math.Sqrt(d0/n), math.Sqrt(d1/n)
	h := 1e-6
	if d0 > 1e-5 && d1 > 1e-5 && !math.IsInf(d1, 0) {
		h = 0.01 * d0 / d1
	}
	h = math.Min(h, span)
	for k := range d.tmp {
		d.tmp[k] = d.x[k] + dir*h*d.fx[k]
	}
	f(d.y, t+dir*h, d.tmp)
	for k := range d.y {
		a := (d.y[k] - d.fx[k]) / scale(k)
		d2 += a * a
	}
	d2 = math.Sqrt(d2/n) / h
	curve := math.Max(d1, d2)
	if !(curve < math.Inf(1)) { // Inf or NaN: keep the small step
		return h
	}
	h1 := math.Max(1e-6, h*1e-3)
	if curve > 1e-15 {
		h1 = math.Pow(0.01/curve, 0.2)
	}
	return math.Min(math.Min(100*h, h1), span)
}

func clamp(v, low, high float64) float64 { return math.Max(low, math.Min(high, v)) }
