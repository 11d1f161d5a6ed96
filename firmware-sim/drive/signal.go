package drive

import (
	"math"

	"github.com/dgm-robotics/dgm/firmware-sim/seed"
)

// Wander is a smooth random signal of unit variance: white noise through two
// equal low-pass filters, so that it has a continuous slope and little power
// above its band. It starts at rest.
type Wander struct {
	keep, gain float64
	inner, out float64
}

// NewWander returns a signal with the band (−6 dB) in Hz, moved every tick
// seconds.
//
// The impulse response of two filters y' = a y + (1−a) x is (1−a)² (n+1) aⁿ;
// its energy is (1−a)⁴ (1+a²)/(1−a²)³, and gain normalises it.
func NewWander(band, tick float64) Wander {
	a := math.Exp(-2 * math.Pi * band * tick)
	r := 1 - a
	energy := r * r * r * r * (1 + a*a) / math.Pow(1-a*a, 3)
	return Wander{keep: a, gain: 1 / math.Sqrt(energy)}
}

// Next moves on by one tick and returns the new value.
func (w *Wander) Next(src *seed.Source) float64 {
	w.inner += (1 - w.keep) * (w.gain*src.Normal() - w.inner)
	w.out += (1 - w.keep) * (w.inner - w.out)
	return w.out
}

// Steps is a piecewise constant random signal, uniform in (−1, 1), that jumps
// after random times. It starts at zero.
type Steps struct {
	shortest, longest float64 // ticks
	left              int     // ticks until the next jump
	now               float64
}

// NewSteps returns a signal whose levels last between shortest and longest
// seconds, for ticks of tick seconds.
func NewSteps(shortest, longest, tick float64) Steps {
	return Steps{shortest: shortest / tick, longest: longest / tick, left: max(1, int(shortest/tick))}
}

// Next moves on by one tick and returns the new value.
func (s *Steps) Next(src *seed.Source) float64 {
	if s.left == 0 {
		s.now = src.Uniform(-1, 1)
		s.left = max(1, int(src.Uniform(s.shortest, s.longest)))
	}
	s.left--
	return s.now
}

func clamp(v, low, high float64) float64 { return max(low, min(high, v)) }
