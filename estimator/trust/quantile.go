package trust

import (
	"math"
	"slices"
)

// scores are the last scores of a series, in order of time and in order of size.
type scores struct {
	order  [recent]float32
	sorted [recent]float32
	next   int // place of the oldest
}

// reset makes them those of a normal distribution with the right spread, in an
// order in which the oldest are a fair sample.
func (s *scores) reset() {
	for i := range recent {
		p := (float64(i) + 0.5) / recent
		v := float32(math.Sqrt2 * math.Erfinv(p) / width)
		s.sorted[i] = v
		s.order[i*97%recent] = v // 97 and 256 have no common factor
	}
	s.next = 0
}

// add replaces the oldest score. v must be finite.
func (s *scores) add(v float32) {
	old := s.order[s.next]
	s.order[s.next] = v
	s.next = (s.next + 1) % recent
	from, _ := slices.BinarySearch(s.sorted[:], old)
	to, _ := slices.BinarySearch(s.sorted[:], v)
	if to > from {
		copy(s.sorted[from:to-1], s.sorted[from+1:to])
		s.sorted[to-1] = v
		return
	}
	copy(s.sorted[to+1:from+1], s.sorted[to:from])
	s.sorted[to] = v
}

// above returns the score that a share alpha of the scores is above: between them
// in proportion, and beyond the largest up to twice that.
func (s *scores) above(alpha float64) float64 {
	rank := (1 - alpha) * (recent + 1) // 1 … recent within the scores
	largest := float64(s.sorted[recent-1])
	switch {
	case rank >= recent:
		return largest * min(1+rank-recent, 2)
	case rank <= 1:
		return float64(s.sorted[0])
	}
	i := int(rank)
	a, b := float64(s.sorted[i-1]), float64(s.sorted[i])
	return a + (rank-float64(i))*(b-a)
}
