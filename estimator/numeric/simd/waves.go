package simd

import "math"

// Waves evaluates random features of one channel: with θ = omega·z in half turns,
//
//	x = [cos πθ; sin πθ]      mean += weights[·][0] cos πθ + weights[·][1] sin πθ
//
// z is d rows of Width, omega F/2×d, weights F/2×2, x F rows, mean one. A nil x
// leaves the features out. They are true to about 2·10⁻⁷ beside what the rounding
// of θ makes of them.
func (u Unit) Waves(x, mean, omega, weights, z []float32, d int) {
	half := len(weights) / 2
	if len(weights)%2 != 0 || d < 1 || len(omega) != half*d || len(z) < d*Width || len(mean) < Width || (x != nil && len(x) < 2*half*Width) {
		panic(badLength)
	}
	if half > 0 {
		u.waves(x, mean, omega, weights, z, half, d)
	}
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

// wavesGo is Waves in Go.
func wavesGo(x, mean, omega, weights, z []float32, half, d int) {
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
