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

// reset makes them those of a distribution with the given quantiles, in an order in which the
// oldest are a fair sample.
func (s *scores) reset(quantile func(p float64) float64) {
	for i := range recent {
		v := float32(quantile((float64(i) + 0.5) / recent))
		s.sorted[i] = v
		s.order[i*97%recent] = v // 97 and 256 have no common factor
	}
	s.next = 0
}

// normal is the quantile of |error| over the half width of a 95 % interval, of a normal
// distribution with the right spread.
func normal(p float64) float64 { return math.Sqrt2 * math.Erfinv(p) / width }

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
