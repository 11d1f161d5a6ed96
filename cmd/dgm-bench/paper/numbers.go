package paper

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// values returns a number of each result.
func values[R any](all []*R, of func(*R) float64) []float64 {
	var out []float64
	for _, r := range all {
		out = append(out, of(r))
	}
	return out
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x / float64(len(v))
	}
	return s
}

// deviation returns the standard deviation of a sample; 0 of one number.
func deviation(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	m, s := mean(v), 0.0
	for _, x := range v {
		s += (x - m) * (x - m)
	}
	return math.Sqrt(s / float64(len(v)-1))
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// spread prints mean and standard deviation, where there are several numbers.
func spread(v []float64) string {
	if len(v) < 2 {
		return two(mean(v))
	}
	return fmt.Sprintf("%.2f ± %.2f", mean(v), deviation(v))
}

func two(v float64) string   { return strconv.FormatFloat(v, 'f', 2, 64) }
func whole(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

// short rounds numbers to so many digits, to keep files small.
func short(digits int, v ...float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i], _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	}
	return out
}

// finite returns the numbers that are.
func finite(v []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(v), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}
