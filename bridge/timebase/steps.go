package timebase

import "slices"

// Steps keeps some of the steps between times, spread over a log, for their median.
type Steps struct {
	n     int
	every int
	kept  []int64
	total int64
}

// keptSteps is how many steps are kept.
const keptSteps = 64

// Add adds a step.
func (s *Steps) Add(d int64) {
	s.every = max(1, s.every)
	s.total += d
	if s.n%s.every == 0 {
		if len(s.kept) == keptSteps {
			for i := range keptSteps / 2 {
				s.kept[i] = s.kept[2*i]
			}
			s.kept, s.every = s.kept[:keptSteps/2], 2*s.every
		}
		s.kept = append(s.kept, d)
	}
	s.n++
}

// Median returns the median step, 0 where there is none.
func (s *Steps) Median() int64 {
	if len(s.kept) == 0 {
		return 0
	}
	k := slices.Clone(s.kept)
	slices.Sort(k)
	return k[len(k)/2]
}

// Mean returns the mean step, 0 where there is none.
func (s *Steps) Mean() int64 {
	if s.n == 0 {
		return 0
	}
	return s.total / int64(s.n)
}
