package simd

// RandomFeatures evaluates random Fourier features of one channel: with θ = omega·z in half turns,
//
//	x = [cos πθ; sin πθ]      mean += weights[·][0] cos πθ + weights[·][1] sin πθ
//
// z is d rows of Width, omega F/2×d, weights F/2×2, x F rows, mean one. A nil x
// omits the features. Their error is about 2·10⁻⁷, besides that of rounding θ.
func (u Unit) RandomFeatures(x, mean, omega, weights, z []float32, d int) {
	half := len(weights) / 2
	if len(weights)%2 != 0 || d < 1 || len(omega) != half*d || len(z) < d*Width || len(mean) < Width || (x != nil && len(x) < 2*half*Width) {
		panic(badLength)
	}
	if half > 0 {
		u.randomFeatures(x, mean, omega, weights, z, half, d)
	}
}
