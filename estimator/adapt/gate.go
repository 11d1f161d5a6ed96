package adapt

import "math"

// An expert is a prediction of one series: a channel in a bucket.
const (
	unadapted = iota
	half      // half of what θ adds
	adapted   // all of it
	shifted   // all of it, and the slow offset of the series
	experts
)

// gate is how much each expert of a series counts: fixed share (Herbster & Warmuth 1998) of
// log scores that are tempered, because errors of overlapping windows are alike.
const (
	gateShare  = 0.003
	gateTemper = 0.5
	gateWorst  = 25. // z² counts up to this
	gateLonger = 0.5 // what a score counts for the longer buckets of its channel
)

// gatePrior is the share of each expert at the start, to which fixed share returns.
var gatePrior = [experts]float64{0.9, 0.02, 0.04, 0.04}

// scoreOf returns the log score of an error with a variance, but for constants.
func scoreOf(e, variance float64) float64 {
	return 0.5*math.Min(e*e/variance, gateWorst) + 0.5*math.Log(variance)
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
		w[i] = (1-gateShare)*w[i]/sum + gateShare*gatePrior[i]
	}
}

// mix returns mean and variance of the experts of a series: each has a shift of the mean and
// what its variance adds.
func mix(w []float64, delta, offset, variance float64) (mean, added float64) {
	shifts := [experts]float64{0, 0.5 * delta, delta, delta + offset}
	for i, s := range shifts {
		mean += w[i] * s
	}
	for i, s := range shifts {
		added += w[i] * (s - mean) * (s - mean)
	}
	return mean, added + (1-w[unadapted])*variance
}
