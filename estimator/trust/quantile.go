package trust

import (
	"math"
	"slices"
)

// ring are the last scores, as many as there are places, in order of time and in order of size.
type ring struct {
	order, sorted []float32
	next          *int // place of the oldest
}

// reset makes them those of a distribution with the given quantiles, in an order in which the
// oldest are a fair sample.
func (r ring) reset(quantile func(p float64) float64) {
	n := len(r.order)
	for i := range n {
		v := float32(quantile((float64(i) + 0.5) / float64(n)))
		r.sorted[i] = v
		r.order[i*97%n] = v // n is a power of two, which has no factor in common with 97
	}
	*r.next = 0
}

// normal is the quantile of |error| over the half width of a 95 % interval, of a normal
// distribution with the right spread.
func normal(p float64) float64 { return math.Sqrt2 * math.Erfinv(p) / width }

// add replaces the oldest score. v must be finite.
func (r ring) add(v float32) {
	old := r.order[*r.next]
	r.order[*r.next] = v
	*r.next = (*r.next + 1) % len(r.order)
	from, _ := slices.BinarySearch(r.sorted, old)
	to, _ := slices.BinarySearch(r.sorted, v)
	if to > from {
		copy(r.sorted[from:to-1], r.sorted[from+1:to])
		r.sorted[to-1] = v
		return
	}
	copy(r.sorted[to+1:from+1], r.sorted[to:from])
	r.sorted[to] = v
}

// above returns the score that a share alpha of the scores is above: between them
// in proportion, and beyond the largest up to twice that.
func (r ring) above(alpha float64) float64 {
	n := len(r.sorted)
	rank := (1 - alpha) * float64(n+1) // 1 … n within the scores
	largest := float64(r.sorted[n-1])
	switch {
	case rank >= float64(n):
		return largest * min(1+rank-float64(n), 2)
	case rank <= 1:
		return float64(r.sorted[0])
	}
	i := int(rank)
	a, b := float64(r.sorted[i-1]), float64(r.sorted[i])
	return a + (rank-float64(i))*(b-a)
}

// rms returns the root mean square of the scores.
func (r ring) rms() float64 {
	sum := 0.0
	for _, v := range r.sorted {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(r.sorted)))
}

// append appends the scores from the oldest on to v.
func (r ring) append(v []float64) []float64 {
	for j := range r.order {
		v = append(v, float64(r.order[(*r.next+j)%len(r.order)]))
	}
	return v
}

// set sets what append wrote; ok is false where a score is none.
func (r ring) set(v []float64) (ok bool) {
	for j, x := range v {
		if !(x >= 0 && x <= 1e6) {
			return false
		}
		r.order[j] = float32(x)
	}
	*r.next = 0
	copy(r.sorted, r.order)
	slices.Sort(r.sorted)
	return true
}

// scores are the last of one series.
type scores struct {
	order, sorted [recent]float32
	next          int
}

func (s *scores) ring() ring { return ring{s.order[:], s.sorted[:], &s.next} }
