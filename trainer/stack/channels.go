package stack

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// manoeuvre is the variance of the log error of a candidate for one channel that another manoeuvre adds to what folds of the same manoeuvres show.
const manoeuvre = 0.1

// channelErrors returns the errors (K, J, T) of each candidate alone for each channel: those over all channels (pooled, J×T), and as much of the
// channel's difference from them as the next flight has, which differs from the folds as these do from each other (an empirical Bayes estimate;
// only differences between candidates count). cells are the log errors by candidate, and by fold, horizon and channel.
func channelErrors(cells, pooled [][]float64, K, folds int) [][][]float64 {
	J, T := len(cells), len(pooled[0])
	out := make([][][]float64, K)
	for k := range out {
		for j := range J {
			out[k] = append(out[k], slices.Clone(pooled[j]))
		}
	}
	for t := range T {
		own := make([][][]float64, K) // of each channel and candidate the differences in the folds
		for k := range K {
			own[k] = differences(cells, pooled, t, k, K, folds)
		}
		for j := range J {
			for k, d := range shrunk(own, j) {
				out[k][j][t] += d
			}
		}
	}
	return out
}

// differences returns by how much the log errors (J×folds) of a channel at a horizon differ from the pooled ones and from their mean over candidates;
// folds in which nothing moves have none.
func differences(cells, pooled [][]float64, t, k, K, folds int) [][]float64 {
	J, T := len(cells), len(pooled[0])
	out := make([][]float64, J)
	for f := range folds {
		at, mean := f*T*K+t*K+k, 0.0
		for j := range J {
			mean += (cells[j][at] - pooled[j][t]) / float64(J)
		}
		for j := range J {
			if !math.IsNaN(mean) {
				out[j] = append(out[j], cells[j][at]-pooled[j][t]-mean)
			}
		}
	}
	return out
}

// shrunk returns how much of its mean difference each channel (K) keeps for candidate j: all of it where channels differ more than folds do.
func shrunk(own [][][]float64, j int) []float64 {
	means, spreads := make([]float64, len(own)), make([]float64, len(own))
	square, n := 0.0, 0
	for k := range own {
		if len(own[k][j]) < 2 {
			spreads[k] = math.Inf(1)
			continue
		}
		means[k], spreads[k] = stat.MeanVariance(own[k][j], nil)
		square += means[k]*means[k] - spreads[k]/float64(len(own[k][j]))
		n++
	}
	square /= float64(max(n, 1))
	for k := range means {
		if n < 2 || square <= 0 {
			means[k] = 0
		}
		means[k] *= square / (square + spreads[k] + manoeuvre)
	}
	return means
}
