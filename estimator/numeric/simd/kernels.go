package simd

import "math"

// Product writes the sum of the parts to dst: Rows rows of Width for each panel.
// Parts are left as they were.
func (u Unit) Product(dst []float32, panels int, parts []Part) {
	begin(panels, parts)
	if len(dst) < panels*Rows*Width {
		panic(badLength)
	}
	if panels > 0 {
		u.product(dst, panels, parts)
	}
}

// SumSquares adds to dst (Width) the squares of all rows of the sum of the parts.
func (u Unit) SumSquares(dst []float32, panels int, parts []Part) {
	begin(panels, parts)
	if len(dst) < Width {
		panic(badLength)
	}
	if panels > 0 {
		u.squares(dst, panels, parts)
	}
}

// AddScaled adds the rows of src, each times scale (Width) point by point, to those of dst.
func (u Unit) AddScaled(dst, scale, src []float32) {
	if len(dst) != len(src) || len(src)%Width != 0 || len(scale) < Width {
		panic(badLength)
	}
	if len(src) > 0 {
		u.addScaled(dst, scale, src)
	}
}

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

// RandomMeans is RandomFeatures without the features. Where the unit has a kernel for it, a
// feature is one cosine: cosines holds what Cosines makes of the weights.
func (u Unit) RandomMeans(mean, omega, weights, cosines, z []float32, d int) {
	half := len(weights) / 2
	if len(cosines) != len(weights) || d < 1 || len(omega) != half*d || len(z) < d*Width || len(mean) < Width {
		panic(badLength)
	}
	if half > 0 && !u.cosines(mean, omega, cosines, z, half, d) {
		u.RandomFeatures(nil, mean, omega, weights, z, d)
	}
}

// Cosines returns phase and amplitude, F/2×2, of features with weights of a cosine and a sine:
//
//	weights[·][0] cos πθ + weights[·][1] sin πθ = amplitude cos π(θ + phase)
func Cosines(weights []float32) []float32 {
	out := make([]float32, len(weights))
	for i := 0; i < len(out); i += 2 {
		cos, sin := float64(weights[i]), float64(weights[i+1])
		out[i], out[i+1] = Single(-math.Atan2(sin, cos)/math.Pi), Single(math.Hypot(cos, sin))
	}
	return out
}

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

// Clamp writes min(max(x, low), high), number by number, to dst. NaN stays NaN.
func (u Unit) Clamp(dst, x, low, high []float32) {
	if n := len(dst); n%Width != 0 || len(x) < n || len(low) < n || len(high) < n {
		panic(badLength)
	}
	if len(dst) > 0 {
		u.clamp(dst, x, low, high)
	}
}
