package inspect

import "math"

// Steps of time are counted in bins whose width is 1/200 of their value, from
// 1 ns up to 292 years, so that a median costs bounded memory and is known to
// half a percent; the mean within its bin is exact where all steps in it are
// equal.
const (
	binsPerFold = 200 // per factor e
	bins        = 44 * binsPerFold
)

type steps struct {
	count [bins]int
	sum   [bins]float64 // ns
	n     int
	max   int64 // ns
}

// add counts a step > 0, ns.
func (s *steps) add(ns int64) {
	b := min(int(binsPerFold*math.Log(float64(ns))), bins-1)
	s.count[b]++
	s.sum[b] += float64(ns)
	s.n++
	s.max = max(s.max, ns)
}

// median returns the median step, ns, or 0 where there is none.
func (s *steps) median() float64 {
	below := 0
	for b, n := range s.count {
		if below += n; 2*below > s.n {
			return s.sum[b] / float64(n)
		}
	}
	return 0
}

// above counts the steps clearly longer than ns.
func (s *steps) above(ns float64) int {
	if ns <= 0 {
		return 0
	}
	n := 0
	for b := int(binsPerFold*math.Log(ns)) + 1; b < bins; b++ {
		n += s.count[b]
	}
	return n
}

// within returns the sum of the steps that are not clearly longer than ns, ns.
func (s *steps) within(ns float64) (sum float64) {
	if ns <= 0 || s.n == 0 {
		return 0
	}
	for _, v := range s.sum[:min(int(binsPerFold*math.Log(max(ns, 1)))+1, bins)] {
		sum += v
	}
	return sum
}

func (s *steps) merge(other *steps) {
	for b := range other.count {
		s.count[b] += other.count[b]
		s.sum[b] += other.sum[b]
	}
	s.n += other.n
	s.max = max(s.max, other.max)
}
