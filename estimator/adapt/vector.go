package adapt

import (
	"math"
	"slices"
)

func finite(v []float64) bool {
	return !slices.ContainsFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}

// dot adds four sums side by side: one would wait for each addition.
func dot(a, b []float64) float64 {
	var s0, s1, s2, s3 float64
	i := 0
	for b = b[:len(a)]; i+4 <= len(a); i += 4 {
		x, y := (*[4]float64)(a[i:]), (*[4]float64)(b[i:])
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + (s2 + s3)
}
