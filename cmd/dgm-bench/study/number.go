package study

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"
)

// Mean returns the mean, NaN of nothing.
func Mean(v []float64) float64 { return stat.Mean(v, nil) }

// Quantile returns the quantile p of numbers, interpolated linearly between the nearest
// two; NaN of nothing.
func Quantile(v []float64, p float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	at := p * float64(len(v)-1)
	i, j := int(math.Floor(at)), int(math.Ceil(at))
	return v[i] + (at-float64(i))*(v[j]-v[i])
}

// Median returns the median, NaN of nothing.
func Median(v []float64) float64 { return Quantile(v, 0.5) }

// Spread formats mean and standard deviation, the number alone of one, NaN of none.
func Spread(v []float64) string {
	if len(v) < 2 {
		return Fixed(Mean(v), 2)
	}
	return fmt.Sprintf("%.2f ± %.2f", Mean(v), stat.StdDev(v, nil))
}

// Fixed formats a number with so many decimals; NaN is "NaN".
func Fixed(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }

// Short rounds numbers to so many significant digits, to keep files small.
func Short(digits int, v ...float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i], _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	}
	return out
}
