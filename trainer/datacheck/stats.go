package datacheck

import (
	"math"
	"slices"
)

// quantile returns the p-quantile of sorted values, 0 for none.
func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(p*float64(len(sorted)-1)+0.5)]
}

// sorted returns a sorted copy.
func sorted(v []float64) []float64 {
	w := slices.Clone(v)
	slices.Sort(w)
	return w
}

// sketched is how many values a quantile is taken from at most.
const sketched = 1 << 16

// sketch returns a sorted copy of the values, of long lists only of sketched ones
// spread over them evenly: enough for any quantile that decides something here.
func sketch(v []float64) []float64 {
	if len(v) <= sketched {
		return sorted(v)
	}
	w := make([]float64, sketched)
	for i := range w {
		w[i] = v[i*len(v)/sketched]
	}
	slices.Sort(w)
	return w
}

// median returns the median, 0 for none.
func median(v []float64) float64 { return quantile(sketch(v), 0.5) }

// values returns all values of all tracks.
func values(tracks []track) []float64 {
	var out []float64
	for _, tr := range tracks {
		out = append(out, tr.x...)
	}
	return out
}

// moves returns |x(t+lag) − x(t)| over all tracks, lag in s, by nearest sample.
func moves(tracks []track, lag float64) []float64 {
	var out []float64
	for _, tr := range tracks {
		j := 0
		for i := range tr.x {
			for j < len(tr.t) && tr.t[j] < tr.t[i]+lag {
				j++
			}
			if j == len(tr.t) {
				break
			}
			out = append(out, math.Abs(tr.x[j]-tr.x[i]))
		}
	}
	return out
}

// width returns the spread of the middle 80 % of the values: what the channel
// uses of its range when a tenth at either end may be garbage.
func width(sortedValues []float64) float64 {
	return quantile(sortedValues, 0.9) - quantile(sortedValues, 0.1)
}

// angularWidth is width for angles, which may be unwrapped over many turns.
func angularWidth(v []float64, period float64) float64 {
	sin, cos := 0.0, 0.0
	for _, x := range v {
		s, c := math.Sincos(2 * math.Pi * x / period)
		sin, cos = sin+s, cos+c
	}
	mean := math.Atan2(sin, cos) * period / (2 * math.Pi)
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = wrapped(x-mean, period)
	}
	slices.Sort(w)
	return width(w)
}

// resolution estimates the step of a coarse sensor: the usual gap between its
// distinct values if values recur, else 0.
func resolution(sortedValues []float64) float64 {
	var gaps []float64
	distinct := 1
	for i := 1; i < len(sortedValues); i++ {
		if d := sortedValues[i] - sortedValues[i-1]; d > 0 {
			distinct++
			gaps = append(gaps, d)
		}
	}
	if len(gaps) == 0 || 10*distinct > 9*len(sortedValues) {
		return 0
	}
	slices.Sort(gaps)
	return quantile(gaps, 0.5)
}

// rounding is the error that a value of this size carries when it was stored in
// single precision or printed with nine decimals.
func rounding(size float64) float64 { return math.Max(1.5e-9, size*0x1p-24) }

// merge joins overlapping and touching ranges.
func merge(r [][2]int) [][2]int {
	slices.SortFunc(r, func(a, b [2]int) int { return a[0] - b[0] })
	var out [][2]int
	for _, x := range r {
		if x[1] <= x[0] {
			continue
		}
		if n := len(out); n > 0 && x[0] <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], x[1])
			continue
		}
		out = append(out, x)
	}
	return out
}
