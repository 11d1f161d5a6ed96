package simd

import "math"

// Logistic replaces every number x, of which there must be a multiple of Width, by
// gain/(1 + exp(−rate·x)) + shift: true to about 10⁻⁷ of the gain. What is not a
// number stays so.
func (u Unit) Logistic(x []float32, rate, gain, shift float32) {
	if len(x)%Width != 0 {
		panic(badLength)
	}
	if len(x) > 0 {
		u.logistic(x, rate, gain, shift)
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

// logisticGo is Logistic in Go.
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
