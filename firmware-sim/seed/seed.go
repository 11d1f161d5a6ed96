// Package seed derives a stream for every random part of a simulation from one seed, so
// that a fault or a noise level does not change the other random numbers, and the same
// seed gives the same bytes.
package seed

import "math/rand/v2"

// Purpose is the use of a stream.
type Purpose uint64

// The purposes. Their numbers are part of what a seed means: never reuse one.
const (
	Start   Purpose = 1 // initial conditions
	Drive   Purpose = 2 // inputs, waypoints
	Belief  Purpose = 3 // a controller's error of its state
	Wind    Purpose = 4
	Noise   Purpose = 5
	Spike   Purpose = 6
	Dropout Purpose = 7
	Jitter  Purpose = 8
	Input   Purpose = 9 // noise that is added to commands
)

// Source is a stream. A copy of its value continues identically.
type Source struct{ pcg rand.PCG }

// New returns the stream for one purpose in one segment; n distinguishes
// streams of the same purpose. Segment and n are below 2^24.
func New(seed uint64, p Purpose, segment, n int) *Source {
	return &Source{*rand.NewPCG(seed, uint64(p)<<48|uint64(segment)<<24|uint64(n))}
}

// Normal returns a standard normal number.
func (s *Source) Normal() float64 { return rand.New(&s.pcg).NormFloat64() }

// Uniform returns a number in [low, high).
func (s *Source) Uniform(low, high float64) float64 {
	return low + (high-low)*rand.New(&s.pcg).Float64()
}
