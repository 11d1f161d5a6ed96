package ridge

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// leastShare of a candidate in the mean; one with less has none.
const leastShare = 1e-3

// share returns the shares of the candidates in the mean for channel k, as weights of models
// (pseudo Bayesian model averaging, Yao et al. 2018), and the least score of any.
func (c *Config) share(scores [][][]float64, k int) (shares []float64, least float64) {
	means := make([]float64, len(scores))
	for i, folds := range scores {
		for _, s := range folds {
			means[i] += s[k]
		}
		means[i] /= float64(len(folds))
	}
	best := floats.MinIdx(means)
	least, shares = means[best], make([]float64, len(scores))
	if c.Sharpness == 0 {
		shares[best] = 1
		return shares, least
	}
	for i, s := range means {
		shares[i] = math.Exp(c.Sharpness / 2 * (least - s))
	}
	for from := 0; from < len(shares); from += len(penalties) {
		settle(shares[from:from+len(penalties)], scores[from:], k)
	}
	total := floats.Sum(shares)
	for i := range shares {
		if shares[i] < leastShare*total {
			shares[i] = 0
		}
	}
	floats.Scale(1/floats.Sum(shares), shares)
	return shares, least
}

// How much more a larger penalty may err than a smaller one to have its share: in the mean over folds, and in any of them.
const moreInMean, moreInFold = 0.0025, 0.05

// settle gives the shares of penalties of the same columns, ascending, to the largest that errs about as little. Where folds see no difference,
// small penalties leave weights to the noise that only the next manoeuvre excites.
func settle(shares []float64, scores [][][]float64, k int) {
	for i := range shares {
		for j := len(shares) - 1; j > i; j-- {
			if alike(scores[i], scores[j], k) {
				shares[i], shares[j] = 0, shares[i]+shares[j]
				break
			}
		}
	}
}

// alike reports whether the larger of two penalties errs about as little for channel k, by the scores of folds.
func alike(smaller, larger [][]float64, k int) bool {
	mean := 0.0
	for f, s := range larger {
		more := (s[k] - smaller[f][k]) / 2
		if more > moreInFold {
			return false
		}
		mean += more / float64(len(larger))
	}
	return mean <= moreInMean
}
