package stack

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

const (
	exchanged = 400 // windows at most whose starts and inputs are exchanged

	// Times the largest displacement within the horizon that was measured: a servo that is far from its command is fast at once, two links 23 times
	// as fast as in their flights, as the equation of motion rightly says.
	divergent           = 20.0
	physicallyDivergent = 100.0
)

// stable returns the candidates whose roll-outs stay finite under inputs that did not follow their starts: each start of a window gets the
// inputs of another one. Flights of one pilot do not show such pairs, the next manoeuvre does, and a stiff equation that is right on all of them
// can diverge there by many powers of ten, in a few predictions that no fold has. The first candidate stays in any case. physical reports whether a physical one was left out.
func (t *Task) stable(flights []window.Flight, candidates []Candidate) (out []Candidate, physical bool) {
	times := t.times(flights)
	at := window.Thin(window.Cut(flights, t.Horizon, t.Horizon/10), exchanged)
	var starts [][]float64
	largest := make([]float64, len(t.States)) // within the horizon
	for w := range replay.Each(flights, at, times) {
		starts = append(starts, slices.Clone(w.X0))
		for i, y := range w.Measured {
			if !math.IsNaN(y) {
				k := i % len(t.States)
				largest[k] = math.Max(largest[k], math.Abs(y))
			}
		}
	}
	for j, c := range candidates {
		if j == 0 || c.Whole.Kind != model.Equation || !t.diverges(&c, flights, at, times, starts, largest) {
			out = append(out, c)
			continue
		}
		physical = physical || c.Physical
	}
	return slices.DeleteFunc(out, func(c Candidate) bool { return c.residuals() && named(out, c.Residuals) < 0 }), physical
}

// diverges reports whether a displacement of the candidate is out of proportion to the largest.
func (t *Task) diverges(c *Candidate, flights []window.Flight, at []window.Window, times []float64, starts [][]float64, largest []float64) bool {
	K, i, limit := len(t.States), 0, divergent
	if c.Physical {
		limit = physicallyDivergent
	}
	d := make([]float64, K)
	prior := estimator.NewPriorDynamics(t.States, t.Inputs, estimator.PriorDynamicsSpec{
		Stack: []model.Component{c.Whole}, History: t.History, Actuators: t.Actuators, Knots: t.Knots, Horizon: t.Horizon,
	})
	for w := range replay.Each(flights, at, times) {
		x0 := starts[(i+len(starts)/2)%len(starts)]
		i++
		past := w.History(t.History)
		if len(past) < t.History.Rows()*(K+t.Inputs) {
			past = nil
		}
		prior.Start(x0, w.Signal(model.Plan), model.Plan, past)
		for _, h := range times {
			prior.At(d, nil, h)
			for k, v := range d {
				if most := largest[k]; most > 0 && !(math.Abs(v) <= limit*most) {
					return true
				}
			}
		}
	}
	return false
}
