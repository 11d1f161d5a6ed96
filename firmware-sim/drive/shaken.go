package drive

import "github.com/dgm-robotics/dgm/firmware-sim/seed"

// Shaken adds a smooth random signal of its own to every input that another driver commands, so
// that what each input does can be learned from a recording: a controller moves them together.
type Shaken struct {
	inner Driver
	src   seed.Source
	shake []Wander  // P
	std   []float64 // P, in the units of the inputs
}

// shakenBand is that of the signals, Hz.
const shakenBand = 4

// NewShaken returns a driver for ticks of tick seconds; std (P) is the standard deviation of what
// is added.
func NewShaken(inner Driver, std []float64, tick float64, src *seed.Source) *Shaken {
	s := &Shaken{inner: inner, src: *src, std: std}
	for range std {
		s.shake = append(s.shake, NewWander(shakenBand, tick))
	}
	return s
}

// Command sets u to what the other driver commands and the random signals.
func (s *Shaken) Command(u, x []float64) {
	s.inner.Command(u, x)
	for i := range u {
		u[i] += s.std[i] * s.shake[i].Next(&s.src)
	}
}

// CopyFrom copies the state of another Shaken.
func (s *Shaken) CopyFrom(other Driver) {
	o := other.(*Shaken)
	s.inner.CopyFrom(o.inner)
	s.src = o.src
	copy(s.shake, o.shake)
}
