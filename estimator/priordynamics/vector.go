package priordynamics

func addScaled(dst []float64, s float64, v []float64) {
	for i, x := range v {
		dst[i] += s * x
	}
}

// dot is the product of two vectors of one length.
func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
