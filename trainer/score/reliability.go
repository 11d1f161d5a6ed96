package score

import "math"

// Reliability returns, for each nominal level in (0, 1), the share of points
// that lay inside the central interval of that level: the diagram's y to its x.
// pit holds PIT values.
func Reliability(pit, levels []float64) []float64 {
	out := make([]float64, len(levels))
	for i, level := range levels {
		inside := 0
		for _, p := range pit {
			inside += count(math.Abs(2*p-1) <= level)
		}
		out[i] = float64(inside) / float64(len(pit))
	}
	return out
}

// Histogram returns the share of PIT values in each of bins equal parts of
// [0, 1]; all are 1/bins where the predicted distributions are right. A hump in
// the middle means intervals too wide, walls at the ends too narrow.
func Histogram(pit []float64, bins int) []float64 {
	out := make([]float64, bins)
	for _, p := range pit {
		out[min(int(p*float64(bins)), bins-1)] += 1 / float64(len(pit))
	}
	return out
}
