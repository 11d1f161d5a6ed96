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

// mixture is that of the experts of a series, as a function of what θ adds to the mean, δ:
// Σ w μ = slope δ + shift, Σ w μ² = curve δ² + 2 shift δ + square.
type mixture struct {
	slope, shift, curve, square float64
	share                       float64 // of the experts that adapt
	variance                    float64 // of what θ adds
}

func mixtureOf(w []float64, offset, variance float64) mixture {
	return mixture{
		slope: 0.5*w[half] + w[adapted] + w[shifted], shift: w[shifted] * offset,
		curve: 0.25*w[half] + w[adapted] + w[shifted], square: w[shifted] * offset * offset,
		share: w[half] + w[adapted] + w[shifted], variance: variance,
	}
}
