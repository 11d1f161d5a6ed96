package simd

import "github.com/tphakala/simd/cpu"

// vector returns the units of this processor besides Plain.
func vector() []Unit {
	var units []Unit
	if cpu.X86.AVX2 && cpu.X86.FMA {
		if cpu.X86.AVX512F && cpu.X86.AVX512VL {
			units = append(units, AVX512)
		}
		units = append(units, AVX2)
	}
	return units
}

func (u Unit) product(dst []float32, panels int, parts []Part) {
	switch u {
	case Plain:
		productGo(dst, panels, parts)
	case AVX512:
		productAVX512(&dst[0], panels, &parts[0], len(parts))
	default:
		productAVX2(&dst[0], panels, &parts[0], len(parts))
	}
}

func (u Unit) addScaled(dst, scale, src []float32) {
	if u == Plain {
		addScaledGo(dst, scale, src)
		return
	}
	addScaledAVX2(&dst[0], &scale[0], &src[0], len(src)/Width)
}

func (u Unit) addTerms(dst, a, b []float64, terms []Term, sparse bool) {
	switch u {
	case Plain:
		addTermsGo(dst, a, b, terms, sparse)
	case AVX512:
		addTermsAVX512(&dst[0], &a[0], &b[0], &terms[0], len(terms), sparse)
	default:
		addTermsAVX2(&dst[0], &a[0], &b[0], &terms[0], len(terms), sparse)
	}
}

func (u Unit) squares(dst []float32, panels int, parts []Part) {
	switch u {
	case Plain:
		squaresGo(dst, panels, parts)
	case AVX512:
		squaresAVX512(&dst[0], panels, &parts[0], len(parts))
	default:
		squaresAVX2(&dst[0], panels, &parts[0], len(parts))
	}
}

func (u Unit) randomFeatures(x, mean, omega, weights, z []float32, half, d int) {
	var features *float32
	if x != nil {
		features = &x[0]
	}
	switch u {
	case Plain:
		randomFeaturesGo(x, mean, omega, weights, z, half, d)
	case AVX512:
		rffAVX512(features, &mean[0], &omega[0], &weights[0], &z[0], half, d, &sincosTable)
	default:
		rffAVX2(features, &mean[0], &omega[0], &weights[0], &z[0], half, d, &sincosTable)
	}
}

func (u Unit) cosines(mean, omega, cosines, z []float32, half, d int) bool {
	if u != AVX512 {
		return false
	}
	cosinesAVX512(&mean[0], &omega[0], &cosines[0], &z[0], half, d, &sincosTable)
	return true
}

func (u Unit) logistic(x []float32, rate, gain, shift float32) {
	if u == Plain {
		logisticGo(x, rate, gain, shift)
		return
	}
	if u == AVX512 {
		logisticAVX512(&x[0], len(x), rate, gain, shift, &expTable)
		return
	}
	logisticAVX2(&x[0], len(x), rate, gain, shift, &expTable)
}

func (u Unit) clamp(dst, x, low, high []float32) {
	if u == Plain {
		clampGo(dst, x, low, high)
		return
	}
	clampAVX2(&dst[0], &x[0], &low[0], &high[0], len(dst)/Width)
}

//go:noescape
func productAVX2(dst *float32, panels int, parts *Part, n int)

//go:noescape
func productAVX512(dst *float32, panels int, parts *Part, n int)

//go:noescape
func addScaledAVX2(dst, scale, src *float32, rows int)

//go:noescape
func addTermsAVX2(dst, a, b *float64, terms *Term, n int, sparse bool)

//go:noescape
func addTermsAVX512(dst, a, b *float64, terms *Term, n int, sparse bool)

//go:noescape
func squaresAVX2(dst *float32, panels int, parts *Part, n int)

//go:noescape
func squaresAVX512(dst *float32, panels int, parts *Part, n int)

//go:noescape
func rffAVX2(x, mean, omega, weights, z *float32, half, d int, table *table)

//go:noescape
func rffAVX512(x, mean, omega, weights, z *float32, half, d int, table *table)

//go:noescape
func cosinesAVX512(mean, omega, cosines, z *float32, half, d int, table *table)

//go:noescape
func logisticAVX2(x *float32, n int, rate, gain, shift float32, table *table)

//go:noescape
func logisticAVX512(x *float32, n int, rate, gain, shift float32, table *table)

//go:noescape
func clampAVX2(dst, x, low, high *float32, rows int)
