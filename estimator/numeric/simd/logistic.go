package simd

// Logistic replaces every number x, of which there must be a multiple of Width, by
// gain/(1 + exp(−rate·x)) + shift: error about 10⁻⁷ of the gain. NaN stays NaN.
func (u Unit) Logistic(x []float32, rate, gain, shift float32) {
	if len(x)%Width != 0 {
		panic(badLength)
	}
	if len(x) > 0 {
		u.logistic(x, rate, gain, shift)
	}
}
