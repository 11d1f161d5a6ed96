package sensor

import "github.com/dgm-robotics/dgm/firmware-sim/seed"

// spiked adds or subtracts a fixed size at single values.
type spiked struct {
	p, size  float64
	unit     []float64 // K
	channels []int
	src      *seed.Source
}

func (s *spiked) apply(r *reading) {
	for _, i := range s.channels {
		// Both are always drawn: a spike must not shift the ones after it.
		hit, up := s.src.Uniform(0, 1) < s.p, s.src.Uniform(0, 1) < 0.5
		switch {
		case hit && up:
			r.x[i] += s.size * s.unit[i]
		case hit:
			r.x[i] -= s.size * s.unit[i]
		}
	}
}
