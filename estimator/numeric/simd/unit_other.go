//go:build !amd64 && !arm64

package simd

func vector() []Unit { return nil }

func (u Unit) product(dst []float32, panels int, parts []Part) {
	productGo(dst, panels, parts)
}

func (u Unit) addScaled(dst, scale, src []float32) { addScaledGo(dst, scale, src) }

func (u Unit) addTerms(dst, a, b []float64, terms []Term, sparse bool) {
	addTermsGo(dst, a, b, terms, sparse)
}

func (u Unit) squares(dst []float32, panels int, parts []Part) {
	squaresGo(dst, panels, parts)
}

func (u Unit) randomFeatures(x, mean, omega, weights, z []float32, half, d int) {
	randomFeaturesGo(x, mean, omega, weights, z, half, d)
}

func (u Unit) cosines([]float32, []float32, []float32, []float32, int, int) bool { return false }

func (u Unit) logistic(x []float32, rate, gain, shift float32) { logisticGo(x, rate, gain, shift) }

func (u Unit) clamp(dst, x, low, high []float32) { clampGo(dst, x, low, high) }
