package dynamics

// PartOfStep returns the weights of the first and second increment a part σ of a step later.
func PartOfStep(s float64) (first, second float64) {
	curve := 0.5 * s * (s - 1)
	return s - curve, curve
}
