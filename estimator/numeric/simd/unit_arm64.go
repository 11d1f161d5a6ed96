package simd

import "github.com/tphakala/simd/cpu"

// vector returns the units of this processor besides Plain.
func vector() []Unit {
	if cpu.ARM64.NEON {
		return []Unit{NEON}
	}
	return nil
}

func (u Unit) product(dst []float32, panels int, parts []Part) {
	if u == Plain {
		productGo(dst, panels, parts)
		return
	}
	productNEON(&dst[0], panels, &parts[0], len(parts))
}

func (u Unit) addScaled(dst, scale, src []float32) {
	if u == Plain {
		addScaledGo(dst, scale, src)
		return
	}
	addScaledNEON(&dst[0], &scale[0], &src[0], len(src)/Width)
}

func (u Unit) addTerms(dst, a, b []float64, terms []Term, sparse bool) {
	addTermsGo(dst, a, b, terms, sparse)
}

func (u Unit) squares(dst []float32, panels int, parts []Part) {
	if u == Plain {
		squaresGo(dst, panels, parts)
		return
	}
	squaresNEON(&dst[0], panels, &parts[0], len(parts))
}

func (u Unit) randomFeatures(x, mean, omega, weights, z []float32, half, d int) {
	if u == Plain {
		randomFeaturesGo(x, mean, omega, weights, z, half, d)
		return
	}
	var features *float32
	if x != nil {
		features = &x[0]
	}
	rffNEON(features, &mean[0], &omega[0], &weights[0], &z[0], half, d, &sincosTable)
}

func (u Unit) cosines([]float32, []float32, []float32, []float32, int, int) bool { return false }

func (u Unit) logistic(x []float32, rate, gain, shift float32) {
	if u == Plain {
		logisticGo(x, rate, gain, shift)
		return
	}
	logisticNEON(&x[0], len(x), rate, gain, shift, &expTable)
}

func (u Unit) clamp(dst, x, low, high []float32) {
	if u == Plain {
		clampGo(dst, x, low, high)
		return
	}
	clampNEON(&dst[0], &x[0], &low[0], &high[0], len(dst)/Width)
}

//go:noescape
func productNEON(dst *float32, panels int, parts *Part, n int)

//go:noescape
func addScaledNEON(dst, scale, src *float32, rows int)

//go:noescape
func squaresNEON(dst *float32, panels int, parts *Part, n int)

//go:noescape
func rffNEON(x, mean, omega, weights, z *float32, half, d int, table *table)

//go:noescape
func logisticNEON(x *float32, n int, rate, gain, shift float32, table *table)

//go:noescape
func clampNEON(dst, x, low, high *float32, rows int)
