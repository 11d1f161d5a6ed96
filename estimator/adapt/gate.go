package adapt

import "math"

// An expert is a prediction of one series: a channel in a bucket.
const (
	unadapted      = iota
	shifted        // and the regression of its errors
	half           // and half of what θ adds
	adapted        // and all of it
	adaptedShifted // and the regression of the errors that this leaves
	experts
)

// gate is how much each expert of a series counts: fixed share (Herbster & Warmuth 1998) of
// log scores.
const (
	gateShare  = 0.007
	gateTail   = 5.    // degrees of freedom of Student's distribution
	gateWorst  = 1e30  // z² counts up to this
	gateLeast  = 1e-12 // weight
	gateLonger = 0.5   // what a score counts for the next longer bucket of its channel, and again for that after it
)

// gatePrior is the share of each expert at the start, to which fixed share returns.
var gatePrior = [experts]float64{0.8, 0.12, 0.03, 0.015, 0.035}

// scoreOf returns the score of an error with a variance, but for constants: that of Student's
// distribution. Far errors differ still, but by the logarithm: after a change all are far, in
// gusts too.
func scoreOf(e, variance float64) float64 {
	return 0.5*(gateTail+1)*math.Log1p(math.Min(e*e/(gateTail*variance), gateWorst)) + 0.5*math.Log(variance)
}

// share gives the experts of a series their fixed share of its weights back, so that they
// compete again.
func share(w []float64) {
	for i := range w {
		w[i] = (1-gateShare)*w[i] + gateShare*gatePrior[i]
	}
}

// updateWeights updates the weights of a series (experts) by the scores of its experts.
func updateWeights(w []float64, scores *[experts]float64, temper float64) {
	least := math.Inf(1)
	for _, s := range scores {
		least = math.Min(least, s)
	}
	sum := 0.0
	for i := range w {
		w[i] *= math.Exp(-temper * (scores[i] - least))
		sum += w[i]
	}
	for i := range w {
		w[i] = math.Max(w[i]/sum, gateLeast)
	}
}

// mixture is that of the experts of a series, as a function of what θ adds to the mean, δ:
// Σ w μ = slope δ + shift, Σ w μ² = curve δ² + 2 cross δ + square.
type mixture struct {
	slope, shift, curve, cross, square float64
	variance                           float64 // of what θ adds
}

func mixtureOf(w []float64, own, rest, variance float64) mixture {
	a, b := w[shifted]*own, w[adaptedShifted]*rest
	whole := w[adapted] + w[adaptedShifted]
	return mixture{slope: 0.5*w[half] + whole, shift: a + b, curve: 0.25*w[half] + whole, cross: b, square: a*own + b*rest, variance: variance}
}

// less returns the mixture less another.
func (m *mixture) less(o *mixture) mixture {
	return mixture{m.slope - o.slope, m.shift - o.shift, m.curve - o.curve, m.cross - o.cross, m.square - o.square, m.variance - o.variance}
}
