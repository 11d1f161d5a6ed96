package latency

import "math"

// integrate writes the integral of the delayed input from at[0] to each time of at, which ascend, to out (len(at)). u is held
// from each time of t to the next, and was u[0] for ever before.
func integrate(out, t, u, at []float64, dead, lag float64) {
	now := math.Min(t[0], at[0])
	v, ud := u[0], u[0] // the actuator, and what it follows
	next := 1           // sample that arrives next
	sum := 0.0
	advance := func(to float64) {
		h := to - now
		now = to
		if lag <= 0 {
			sum, v = sum+ud*h, ud
			return
		}
		rest := -math.Expm1(-h / lag) // share of the way that the actuator goes
		sum += ud*h + (v-ud)*lag*rest
		v += (ud - v) * rest
	}
	for i, a := range at {
		for ; next < len(t) && t[next]+dead <= a; next++ {
			if b := t[next] + dead; b > now {
				advance(b)
			}
			ud = u[next]
		}
		advance(a)
		if i == 0 {
			sum = 0
		}
		out[i] = sum
	}
}

// behind makes an integral of input j with a lag one of the same with a second lag behind it: in partial fractions,
//
//	1/((1+τs)(1+σs)) = (τ/(1+τs) − σ/(1+σs)) / (τ−σ)
func (s *stretch) behind(integral []float64, j int, dead, lag, second float64) {
	if math.Abs(lag-second) < apartLags {
		second = lag + apartLags
	}
	other := make([]float64, len(integral))
	integrate(other, s.t, s.u[j], s.at, dead, second)
	for i, v := range other {
		integral[i] = (lag*integral[i] - second*v) / (lag - second)
	}
}

// apartLags is the least difference of two lags, s: of equal ones there are no partial fractions.
const apartLags = 2e-4
