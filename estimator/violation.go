package estimator

import (
	"math"
	"slices"
)

// Limits are half-spaces and boxes of the states. A state inside of one violates it.
type Limits struct {
	HalfSpaces []float64 // rows of K+1: a, b; violated where a·x > b
	Boxes      []float64 // rows of 2K: low, high; violated where low ≤ x ≤ high in all states, ±Inf is no bound
}

// Count returns the number of limits of K states.
func (l *Limits) Count(K int) int { return len(l.HalfSpaces)/(K+1) + len(l.Boxes)/(2*K) }

// violated reports whether a state is within a box (2K).
func violated(box, x []float64) bool {
	for k, v := range x {
		if v < box[k] || v > box[len(x)+k] {
			return false
		}
	}
	return true
}

// Check returns a *QuestionError, which names half_spaces or boxes, if the limits do not fit K states.
func (l *Limits) Check(K int) error {
	half, boxes := Rows{Name: "half_spaces"}, Rows{Name: "boxes"}
	if n := len(l.HalfSpaces); n%(K+1) != 0 {
		return half.wrong("has %d numbers, which is no whole number of rows of %d: a factor of each state, and the bound", n, K+1)
	}
	if n := len(l.Boxes); n%(2*K) != 0 {
		return boxes.wrong("has %d numbers, which is no whole number of rows of %d: the low, then the high bounds of the states", n, 2*K)
	}
	for i, v := range l.HalfSpaces {
		if !finite(v) {
			return half.wrong("number %d is %v", i, v)
		}
	}
	if i := slices.IndexFunc(l.Boxes, math.IsNaN); i >= 0 {
		return boxes.wrong("number %d is NaN; ±Inf is no bound", i)
	}
	return nil
}

// ViolationDraws is the default number of trajectories from which a probability is estimated.
const ViolationDraws = 1000

// Violation returns, after Start, the share of n drawn trajectories that violates one of the limits
// at one of the times, and writes the probability of each limit at each time to dst (Count×T): those of
// half-spaces by the Gaussian, those of boxes by the share of the draws.
func (s *Trajectories) Violation(dst []float64, l *Limits, n int, normal func() float64) (whole float64) {
	K, T := len(s.normal), len(s.g)/len(s.normal)
	if len(dst) != l.Count(K)*T {
		panic(wrongLength)
	}
	boxes := dst[len(l.HalfSpaces)/(K+1)*T:]
	for j := range len(dst) - len(boxes) {
		dst[j] = s.beyond(j%T, l.HalfSpaces[j/T*(K+1):(j/T+1)*(K+1)])
	}
	clear(boxes)
	if s.drawn == nil {
		s.drawn = make([]float64, T*K)
	}
	for range n {
		s.Draw(s.drawn, normal)
		if s.violates(boxes, l, 1/float64(n)) {
			whole += 1 / float64(n)
		}
	}
	return math.Min(whole, 1)
}

// beyond returns the probability that the state at time i is in a half-space (K+1). The
// variance of a·x is the sum of squares of its factors in Draw.
func (s *Trajectories) beyond(i int, halfSpace []float64) float64 {
	f, K := s.joint, len(s.normal)
	mean, variance := -halfSpace[K], 0.0
	for k, a := range halfSpace[:K] {
		mean += a * s.mean[i*K+k]
	}
	mixed := s.normal // the factors of g
	clear(mixed)
	for k, a := range halfSpace[:K] {
		j := i*K + k
		for c := range k + 1 {
			mixed[c] += a * s.std[j] * f.rest[j] * f.mix[j*K+c]
		}
	}
	for c := range K {
		factor, carried := 0.0, 0.0
		for k, m := range mixed {
			factor += m * f.process[k*K+c]
		}
		for k, a := range halfSpace[:K] {
			carried += a * s.std[i*K+k] * f.carried[c*len(f.rest)+i*K+k]
		}
		if variance += factor * factor; f.starts {
			variance += carried * carried
		}
	}
	switch {
	case variance > 0:
		return 0.5 * math.Erfc(-mean/math.Sqrt(2*variance))
	case mean > 0:
		return 1
	}
	return 0
}

// violates reports whether the drawn trajectory violates a limit, and adds share to each box at
// each time where it does.
func (s *Trajectories) violates(boxes []float64, l *Limits, share float64) (hit bool) {
	K, T := len(s.normal), len(s.g)/len(s.normal)
	for i := range T {
		x := s.drawn[i*K : (i+1)*K]
		for at := 0; at < len(l.HalfSpaces) && !hit; at += K + 1 {
			hit = dot(l.HalfSpaces[at:at+K], x) > l.HalfSpaces[at+K]
		}
		for b := range len(l.Boxes) / (2 * K) {
			if violated(l.Boxes[b*2*K:(b+1)*2*K], x) {
				boxes[b*T+i] = math.Min(1, boxes[b*T+i]+share)
				hit = true
			}
		}
	}
	return hit
}
