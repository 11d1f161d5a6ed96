// Package disturb holds disturbances of a plant: wind, payload and wear, which no input,
// controller or model contains.
package disturb

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// Gusts describes wind as a Gaussian process with zero mean, independent in each
// of a plant's disturbances, in their units.
type Gusts struct {
	Std  float64 // standard deviation; 0 = calm
	Time float64 // (optional) correlation time, s; defaults to 1
	Onset
}

// Payload is additional mass of a robot. Controllers do not model it.
type Payload struct {
	Mass float64 // over the robot's own; 0 = none
	Onset
}

// Wear is a loss of actuator effect, as of a chipped propeller or a hot motor. Logs and
// plans hold the command, of which only a part acts.
type Wear struct {
	Loss   float64 // fraction of the command without effect; 0 = none, 1 = all
	Inputs []int   // (optional) which; defaults to all
	Onset
}

// Apply subtracts the loss at time t, s, from acting (P).
func (w *Wear) Apply(acting []float64, t float64) {
	keep := 1 - w.Loss*w.Share(t)
	for i := range acting {
		if w.Inputs == nil || slices.Contains(w.Inputs, i) {
			acting[i] *= keep
		}
	}
}

// Onset is the time profile of a disturbance. The zero value is present in full from the
// start.
type Onset struct {
	At   float64 // (optional) s of log time
	Over float64 // (optional) s of a linear rise; defaults to a step
}

// Share returns the present fraction at time t, s: 0 to 1.
func (o Onset) Share(t float64) float64 {
	switch {
	case t < o.At:
		return 0
	case t < o.At+o.Over:
		return (t - o.At) / o.Over
	}
	return 1
}

// Wind is an Ornstein-Uhlenbeck process sampled at equal steps, exact at any
// step: d' = a d + √(1 − a²) σ n with a = exp(−step/Time), started in its
// stationary distribution.
type Wind struct {
	src        *seed.Source
	keep, kick float64
	now        []float64
}

// NewWind starts wind of dim components that changes every step seconds.
func NewWind(g Gusts, dim int, step float64, src *seed.Source) *Wind {
	if g.Time <= 0 {
		g.Time = 1
	}
	a := math.Exp(-step / g.Time)
	w := &Wind{src: src, keep: a, kick: g.Std * math.Sqrt(-math.Expm1(-2*step/g.Time)), now: make([]float64, dim)}
	for i := range w.now {
		w.now[i] = g.Std * src.Normal()
	}
	return w
}

// Now returns the wind of the current step. The slice changes with Next.
func (w *Wind) Now() []float64 { return w.now }

// Next moves on by one step.
func (w *Wind) Next() {
	for i := range w.now {
		w.now[i] = w.keep*w.now[i] + w.kick*w.src.Normal()
	}
}
