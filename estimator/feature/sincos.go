package feature

import "math"

// farthest is the largest angle that the vector unit reduces: beyond it the three
// parts of π/2 are too short.
const farthest = 1e5

// sincos sets sin and cos to those of theta (n each; they do not overlap), to within
// 2⁻⁵² of the exact value.
func sincos(sin, cos, theta []float64) {
	n := len(theta)
	sin, cos = sin[:n], cos[:n]
	if n < 4 || !vector || !near(theta) {
		for i, v := range theta {
			sin[i], cos[i] = math.Sincos(v)
		}
		return
	}
	sincosAVX2(&sin[0], &cos[0], &theta[0], n/4)
	if n%4 != 0 { // the last four once more, or in part
		sincosAVX2(&sin[n-4], &cos[n-4], &theta[n-4], 1)
	}
}

// near tells whether all angles are numbers within farthest.
func near(theta []float64) bool {
	for _, v := range theta {
		if !(math.Abs(v) <= farthest) {
			return false
		}
	}
	return true
}
