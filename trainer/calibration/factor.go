package calibration

import (
	"math"
	"slices"
)

// MaxScaleFactor is the largest scale factor, its inverse the smallest. A model that
// needs more is wrong, not narrow, and the report shows it.
const MaxScaleFactor = 3

// scaleFactors returns the factor of every horizon and channel (T × K). A channel's own
// errors count half, those of all channels together the other half; more where the folds
// distinguish the channels (ownShare). The folds count the same: one that is unlike the
// others must not dominate the factor. Where the folds would
// narrow, they do so only as far as they agree: the mean of their logarithms plus half of
// its standard error, at most to 1.
func scaleFactors(K int, folds []*heldErrors, on bool) [][]float64 {
	out := make([][]float64, len(folds[0].times))
	for i := range out {
		out[i] = slices.Repeat([]float64{1}, K)
		if !on {
			continue
		}
		own, pooled := make([][]float64, K), make([]float64, len(folds))
		for f, fold := range folds {
			var all []float64
			for k := range K {
				var z []float64
				fold.each(K, i, k, func(w *heldWindow, e *heldError) { z = append(z, e.z/w.factor[i]) })
				own[k] = append(own[k], math.Log(bounded(quantile95(z))))
				all = append(all, z...)
			}
			pooled[f] = math.Log(bounded(quantile95(all)))
		}
		v := make([]float64, len(folds))
		for k, share := range ownShare(own, pooled) {
			for f := range folds {
				v[f] = share*own[k][f] + (1-share)*pooled[f]
			}
			mean, standardError := Mean(v)
			if mean < 0 {
				mean = math.Min(0, mean+0.5*standardError)
			}
			out[i][k] = math.Exp(mean)
		}
	}
	return out
}

func bounded(f float64) float64 {
	return math.Min(math.Max(f, 1.0/MaxScaleFactor), MaxScaleFactor)
}

// ownShare returns how much each channel's own log factor counts (K, 0.5…1) beside that
// of all, from those of the folds (K × folds, folds). It is that of the best linear
// estimate of a channel's factor when channels differ by τ² and a channel's mean over
// folds errs by se²: τ²/(τ² + se²). With much data a channel's own factor counts alone.
func ownShare(own [][]float64, pooled []float64) []float64 {
	centre, _ := Mean(pooled)
	spread, errs := 0.0, make([]float64, len(own))
	for k, v := range own {
		mean, standardError := Mean(v)
		errs[k] = standardError * standardError
		spread += ((mean-centre)*(mean-centre) - errs[k]) / float64(len(own))
	}
	out := slices.Repeat([]float64{0.5}, len(own))
	if spread > 0 {
		for k, e := range errs {
			out[k] = math.Max(0.5, spread/(spread+e))
		}
	}
	return out
}

// interpolate returns channel k of the table at time t, linear in √t and constant
// beyond the ends.
func interpolate(times []float64, table [][]float64, k int, t float64) float64 {
	last := len(times) - 1
	if t <= times[0] {
		return table[0][k]
	}
	for i := range last {
		if t <= times[i+1] {
			a, b := math.Sqrt(times[i]), math.Sqrt(times[i+1])
			w := (math.Sqrt(t) - a) / (b - a)
			return (1-w)*table[i][k] + w*table[i+1][k]
		}
	}
	return table[last][k]
}
