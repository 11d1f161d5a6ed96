package nets

import (
	"errors"
	"math"
)

var errCondition = errors.New("the posterior cannot be conditioned: its matrix is not positive definite")

// likelihoodWeight returns c for a likelihood of n rows: κ · samples/n, at most κ.
func (set *Conditioning) likelihoodWeight(d Data, n int) float64 {
	return set.Temperature * math.Min(1, float64(d.Samples)/float64(n))
}

// fewRows is how many rows near a knot are too few to estimate its noise from.
const fewRows = 10

// moveNoise moves log σ of each knot by the residuals of the rows near it: squares is the sum
// of weight·(e² + v)/σ² over them, near that of the weights. A knot with hardly any, as
// the first ones are where the time from one sample to the next is long, takes the
// noise of the nearest later one with rows, else of the earlier: training has left it
// where it began, and from the first one the sensor's noise is read.
func moveNoise(logSigma, squares, near []float64) {
	known := func(q int) bool { return near[q] >= fewRows && squares[q] > 0 }
	for q := range logSigma {
		if known(q) {
			logSigma[q] += 0.5 * math.Log(squares[q]/near[q])
		}
	}
	for q := range logSigma {
		from := q
		for from < len(logSigma) && !known(from) {
			from++
		}
		if from == len(logSigma) {
			for from = q; from >= 0 && !known(from); {
				from--
			}
		}
		if from >= 0 {
			logSigma[q] = logSigma[from]
		}
	}
}
