package estimator

import "math"

// Limits are half-spaces and boxes of the states that are violated within.
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

// ViolationOf writes the probability to be in a half-space (K+1) at each time to dst (T): that
// of a Gaussian with the mean and the covariance of the prediction, which has Correlation.
func (d *Prediction) ViolationOf(dst, halfSpace []float64) {
	T, K := len(d.Times), len(halfSpace)-1
	if len(dst) != T || len(d.Mean) != T*K || len(d.Correlation) != T*K*K {
		panic(wrongLength)
	}
	a := halfSpace[:K]
	for i := range dst {
		mean, variance := -halfSpace[K], 0.0
		for k, v := range a {
			mean += v * d.Mean[i*K+k]
			for l, w := range a {
				variance += v * w * d.Std[i*K+k] * d.Std[i*K+l] * d.Correlation[(i*K+k)*K+l]
			}
		}
		switch {
		case variance > 0:
			dst[i] = 0.5 * math.Erfc(-mean/math.Sqrt(2*variance))
		case mean > 0:
			dst[i] = 1
		default:
			dst[i] = 0
		}
	}
}

// Violation draws n trajectories, after Start, and returns the share that violates one of the
// limits at one of the times. boxes (boxes×T) takes that of each box at each time.
func (s *Trajectories) Violation(boxes []float64, l *Limits, n int, normal func() float64) (whole float64) {
	K, T := len(s.normal), len(s.g)/len(s.normal)
	if s.drawn == nil {
		s.drawn = make([]float64, T*K)
	}
	clear(boxes)
	for range n {
		s.Draw(s.drawn, normal)
		if s.violates(boxes, l, 1/float64(n)) {
			whole += 1 / float64(n)
		}
	}
	return math.Min(whole, 1)
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
