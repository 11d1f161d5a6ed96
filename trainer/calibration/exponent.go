package calibration

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/ood"
)

const (
	// maxExponent is the largest exponent that is tried; the steps are the grids of those
	// of distance and motion.
	maxExponent, distanceStep, motionStep = 1.5, 0.05, 0.25
	// beyond is how much farther than the distances of the folds the calibration model
	// holds, and maxDistanceFactor its largest factor by distance: beyond them there are no
	// data, and the prediction is flagged.
	beyond            = 3
	maxDistanceFactor = 10
	// agreement is how many standard errors the folds' gain by motion must be above 0,
	// of exponents that are tried in a row on four folds.
	agreement = 4
)

// reachOf returns the distance that half of the held-out windows stay within and
// that all but half a percent do.
func reachOf(K int, folds []*heldErrors) (near, far float64) {
	var d []float64
	for _, fold := range folds {
		fold.each(K, 0, 0, func(w *heldWindow, _ *heldError) { d = append(d, w.distance) })
	}
	if len(d) == 0 {
		return 0, 0
	}
	slices.Sort(d)
	return d[len(d)/2], d[min(len(d)*995/1000, len(d)-1)]
}

// typicalMotion returns the median motion over held-out windows and horizons.
func typicalMotion(K int, folds []*heldErrors) float64 {
	var all []float64
	for _, fold := range folds {
		for i := range fold.times {
			fold.each(K, i, 0, func(w *heldWindow, _ *heldError) { all = append(all, w.motion[i]) })
		}
	}
	slices.Sort(all)
	if len(all) > 0 && all[len(all)/2] > 0 {
		return all[len(all)/2]
	}
	return 1
}

// factors returns the factors of the intervals of a window at time i, by distance and
// motion with given exponents.
func (m *Model) factors(distanceExponent, motionExponent float64) func(w *heldWindow, i int) (distance, motion float64) {
	d := ood.Detector{Near: m.Near, Far: m.Far}
	r := ood.RMSDisplacement{Min: minMotion, Max: maxMotion, Exponent: []float64{motionExponent}}
	return func(w *heldWindow, i int) (distance, motion float64) {
		return d.DistanceFactor(w.distance, distanceExponent), r.Factor(w.motion[i]/m.TypicalMotion, 0)
	}
}

// setFactors sets the factors of all windows by distance and motion.
func (m *Model) setFactors(folds []*heldErrors) {
	factors := m.factors(m.DistanceExponent, m.MotionExponent)
	for _, fold := range folds {
		for j := range fold.windows {
			w := &fold.windows[j]
			for i := range w.factor {
				distance, motion := factors(w, i)
				w.factor[i] = distance * motion
			}
		}
	}
}

// windowError is the error of all channels of one window at one horizon, which share
// their factors.
type windowError struct {
	fold             int
	n, squares       float64 // channels, and the sum of their z², outliers capped
	distance, motion float64 // log factors with exponents of 1
}

// byWindow gathers the errors of every horizon.
func (m *Model) byWindow(K int, folds []*heldErrors) [][]windowError {
	factors := m.factors(1, 1)
	out := make([][]windowError, len(folds[0].times))
	for i := range out {
		for f, fold := range folds {
			for j := range fold.windows {
				w, c := &fold.windows[j], windowError{fold: f}
				for _, e := range w.errors[i*K : (i+1)*K] {
					if e.std > 0 {
						c.n++
						c.squares += math.Min(e.z*e.z, zCap)
					}
				}
				if c.n > 0 {
					distance, motion := factors(w, i)
					c.distance, c.motion = math.Log(distance), math.Log(motion)
					out[i] = append(out[i], c)
				}
			}
		}
	}
	return out
}

// exponents returns those of distance and motion with which the errors are likeliest,
// each horizon with a scale of its own. Motion counts only where the folds agree
// clearly: a robot that mostly rests shows little of how it errs when it moves.
func (m *Model) exponents(K int, folds []*heldErrors, on Switches) (distance, motion float64) {
	errors := m.byWindow(K, folds)
	reach := ood.Detector{Near: m.Near, Far: m.Far}
	best := func(motion float64) (exponent float64, scores []float64) {
		highest := math.Inf(-1)
		for a := 0.0; a == 0 || on.Distance && m.Near > 0 && a <= maxExponent+1e-9 && reach.DistanceFactor(m.Far, a) <= maxDistanceFactor; a += distanceStep {
			sum, s := scoreExponents(errors, len(folds), a, motion)
			if sum > highest {
				highest, exponent, scores = sum, a, s
			}
		}
		return exponent, scores
	}
	distance, without := best(0)
	if !on.Motion || len(folds) < 2 {
		return distance, 0
	}
	most := 0.0
	for b := motionStep; b <= maxExponent+1e-9; b += motionStep {
		a, scores := best(b)
		gain, standardError := PairedDifference(scores, without)
		if clear := gain - agreement*standardError; clear > most {
			most, distance, motion = clear, a, b
		}
	}
	return distance, motion
}

// scoreExponents returns the log likelihood of all windows and that of a point of each
// fold with two exponents, but for constants.
func scoreExponents(errors [][]windowError, folds int, a, b float64) (sum float64, each []float64) {
	each = make([]float64, folds)
	n := make([]float64, folds)
	for _, horizon := range errors {
		squares, count := 0.0, 0.0
		for _, c := range horizon {
			squares += c.squares * math.Exp(-2*(a*c.distance+b*c.motion))
			count += c.n
		}
		scale := math.Max(squares/count, 1e-300)
		for _, c := range horizon {
			log := a*c.distance + b*c.motion
			v := -c.n*(log+0.5*math.Log(scale)) - 0.5*c.squares*math.Exp(-2*log)/scale
			sum += v
			each[c.fold] += v
			n[c.fold] += c.n
		}
	}
	for f := range each {
		each[f] /= math.Max(n[f], 1)
	}
	return sum, each
}
