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

// Settings of the ledger of a series, which bounds what the mixture can lose in the next seconds: log scores bound what is lost over a flight.
const (
	ledgerHorizons = 2.  // horizons, after which an entry counts 1/e
	ledgerPrior    = 4.  // squared moves, over the variance of a measurement, that a prior for the whole mixture counts as
	ledgerReach    = 1.5 // of the share that would have been best: with 2 the errors would have been those without adaptation
	ledgerCaution  = 1.4 // of the root mean square of what is left, over that of the moves
	ledgerLeft     = 4.  // squared error, over the variance of a measurement, that is left where the mixture explains the errors
	ledgerWorst    = 1e6 // what one error counts at most, over the variance of a measurement
)

// The sums of the ledger of a series: entries, and over the variance of a measurement squared errors without adaptation, products of
// these errors with what the mixture moves the mean by, and squared moves.
const (
	ledgerEntries = iota
	ledgerErrors
	ledgerProducts
	ledgerMoves
	ledgerSums
)

// trusted returns how much of the mixture of series i counts, 0 to 1. The regression of the errors of late on the moves, shrunk to 1, is the share that
// would have been best (the encompassing test of Harvey, Leybourne & Newbold 1998 is of its coefficient). Half as much again counts, because
// what is learned runs ahead of its errors, less what the regression leaves. Within ledgerLeft that costs nothing: the moves explain the errors. Beyond, the
// cause is none that adaptation has an amount for, and moves that were right for two seconds may be wrong in the next two.
func (s *State) trusted(i int) float64 {
	l := s.Ledger[i*ledgerSums : (i+1)*ledgerSums]
	moves := l[ledgerMoves] + ledgerPrior
	best := math.Max((l[ledgerProducts]+ledgerPrior)/moves, 0)
	left := l[ledgerErrors] + best*(best*l[ledgerMoves]-2*l[ledgerProducts]) - ledgerLeft*l[ledgerEntries]
	return math.Max(0, math.Min(ledgerReach*best-ledgerCaution*math.Sqrt(math.Max(left, 0)/moves), 1))
}

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

// moved returns what the mixture adds to the mean where θ adds δ.
func (m mixture) moved(delta float64) float64 { return m.slope*delta + m.shift }

// times returns the mixture with a share of its experts, the rest of which is without adaptation.
func (m mixture) times(share float64) mixture {
	return mixture{share * m.slope, share * m.shift, share * m.curve, share * m.cross, share * m.square, m.variance}
}

// less returns the mixture less another.
func (m *mixture) less(o *mixture) mixture {
	return mixture{m.slope - o.slope, m.shift - o.shift, m.curve - o.curve, m.cross - o.cross, m.square - o.square, m.variance - o.variance}
}
