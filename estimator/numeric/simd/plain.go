package simd

import "math"

func productGo(dst []float32, panels int, parts []Part) {
	for range panels {
		for lane := 0; lane < Width; lane += 2 {
			a := panelGo(parts, lane)
			for r := range Rows {
				dst[r*Width+lane], dst[r*Width+lane+1] = a[r], a[Rows+r]
			}
		}
		dst = dst[Rows*Width:]
		for i := range parts {
			parts[i].next()
		}
	}
}

func squaresGo(dst []float32, panels int, parts []Part) {
	for range panels {
		for lane := 0; lane < Width; lane += 2 {
			a := panelGo(parts, lane)
			dst[lane] += a[0]*a[0] + a[1]*a[1] + a[2]*a[2] + a[3]*a[3]
			dst[lane+1] += a[4]*a[4] + a[5]*a[5] + a[6]*a[6] + a[7]*a[7]
		}
		for i := range parts {
			parts[i].next()
		}
	}
}

// panelGo returns four rows of two points of the sum of the parts: as many sums as the
// smallest processors have registers.
func panelGo(parts []Part, lane int) (a [2 * Rows]float32) {
	var a0, a1, a2, a3, b0, b1, b2, b3 float32
	for i := range parts {
		p := &parts[i]
		if p.k == 0 {
			continue
		}
		l, x := p.L[p.at:p.at+Rows*p.k], p.X[lane:]
		for c := 0; len(l) >= Rows; c += Width {
			v, w := x[c], x[c+1]
			a0 += l[0] * v
			b0 += l[0] * w
			a1 += l[1] * v
			b1 += l[1] * w
			a2 += l[2] * v
			b2 += l[2] * w
			a3 += l[3] * v
			b3 += l[3] * w
			l = l[Rows:]
		}
	}
	return [2 * Rows]float32{a0, a1, a2, a3, b0, b1, b2, b3}
}

func addScaledGo(dst, scale, src []float32) {
	for len(src) > 0 {
		for lane, v := range scale[:Width] {
			dst[lane] += v * src[lane]
		}
		dst, src = dst[Width:], src[Width:]
	}
}

func addTermsGo(dst, a, b []float64, terms []Term, sparse bool) {
	for i := range terms {
		t := &terms[i]
		u, w := (*[Width]float64)(a[t.A*Width:]), (*[Width]float64)(b[t.B*Width:])
		if sparse && *u == ([Width]float64{}) {
			continue
		}
		y := (*[Width]float64)(dst[t.Row*Width:])
		for j := range y {
			y[j] += float64(float64(t.S*u[j]) * w[j]) // conversions keep the products from being fused with the sum
		}
	}
}

func randomFeaturesGo(x, mean, omega, weights, z []float32, half, d int) {
	for j := range half {
		om := omega[j*d : (j+1)*d]
		wc, ws := weights[2*j], weights[2*j+1]
		for lane := range Width {
			var turns float32
			for i, o := range om {
				turns += o * z[i*Width+lane]
			}
			sin, cos := sincosHalf(turns)
			mean[lane] += wc*cos + ws*sin
			if x != nil {
				x[j*Width+lane], x[(half+j)*Width+lane] = cos, sin
			}
		}
	}
}

// sincosHalf returns sine and cosine of θ half turns.
func sincosHalf(theta float32) (sin, cos float32) {
	const shift = 3 << 51 // makes the unit the last bit of a float64
	shifted := float64(theta) + shift
	f := theta - float32(shifted-shift) // exact
	g := f * f
	sin = f * ((((sin4*g+sin3)*g+sin2)*g+sin1)*g + sin0)
	cos = ((((cos5*g+cos4)*g+cos3)*g+cos2)*g+cos1)*g + cos0
	// An odd number of half turns changes both signs.
	sign := uint32(math.Float64bits(shifted)) << 31
	return math.Float32frombits(math.Float32bits(sin) ^ sign), math.Float32frombits(math.Float32bits(cos) ^ sign)
}

// sin πf = f·(sin₀ + sin₁f² + …) and cos πf = cos₀ + cos₁f² + … for |f| ≤ ½, by
// Chebyshev interpolation: true to 1.4·10⁻⁸ and 2·10⁻¹⁰ before rounding.
const (
	sin0 = 3.14159264008
	sin1 = -5.16771007667
	sin2 = 2.55007738653
	sin3 = -0.598290411283
	sin4 = 0.077655912276
	cos0 = 1
	cos1 = -4.93480213693
	cos2 = 4.05870915476
	cos3 = -1.33521194939
	cos4 = 0.234937068595
	cos5 = -0.0243959320976
)

func clampGo(dst, x, low, high []float32) {
	for i := range dst {
		dst[i] = min(max(x[i], low[i]), high[i])
	}
}

func logisticGo(x []float32, rate, gain, shift float32) {
	for i, v := range x {
		y := max(min(-rate*v, expMost), -expMost) // NaN stays so
		const round = 3 << 22                     // makes the unit the last bit
		n := float32(y*log2e+round) - round
		r := float32(y-n*ln2High) - n*ln2Low
		e := (((((exp6*r+exp5)*r+exp4)*r+exp3)*r+exp2)*r+exp1)*r + exp0
		e *= math.Float32frombits(uint32(int32(n)+127) << 23)
		x[i] = gain/(1+e) + shift
	}
}

// e^r = exp₀ + exp₁r + … for |r| ≤ ½ log 2, by Chebyshev interpolation: true to
// 2·10⁻⁹ before rounding. log 2 is split so that a multiple of its first part is
// exact. Beyond ±expMost the logistic function is 0 or 1 in single precision.
const (
	exp0    = 1
	exp1    = 1.00000003772
	exp2    = 0.500000004712
	exp3    = 0.166664155147
	exp4    = 0.0416663528968
	exp5    = 0.00837512639815
	exp6    = 0.0013941108434
	log2e   = 1.4426950408889634
	ln2High = 0.693359375
	ln2Low  = -2.12194440e-4
	expMost = 80
)
