package datacheck

import (
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// quantile returns the p-quantile of sorted values, 0 for none.
func quantile(v []float64, p float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return v[int(p*float64(len(v)-1)+0.5)]
}

// sorted returns a sorted copy.
func sorted(v []float64) []float64 {
	w := slices.Clone(v)
	slices.Sort(w)
	return w
}

// sketch returns a sorted copy of the values, of long lists only of sketched ones spread
// over them evenly: enough for any quantile that a threshold is made of.
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

// width returns the spread of the middle 80 % of the values: what the channel uses of its
// range when a tenth at either end may be wrong.
func width(sorted []float64) float64 { return quantile(sorted, 0.9) - quantile(sorted, 0.1) }

// angularWidth is width for angles, which may be unwrapped over many turns.
func angularWidth(v []float64, period float64) float64 {
	mean := circularMean(v, period)
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = wrapped(x-mean, period)
	}
	slices.Sort(w)
	return width(w)
}

// circularMean returns the mean of angles, on the turn around zero.
func circularMean(v []float64, period float64) float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = 2 * math.Pi * x / period
	}
	return stat.CircularMean(w, nil) * period / (2 * math.Pi)
}

// resolution estimates the step of a coarse sensor from its sorted values: the usual gap
// between distinct ones if values recur, else 0.
func resolution(sorted []float64) float64 {
	var gaps []float64
	for i := 1; i < len(sorted); i++ {
		if d := sorted[i] - sorted[i-1]; d > 0 {
			gaps = append(gaps, d)
		}
	}
	if len(gaps) == 0 || 10*(len(gaps)+1) > 9*len(sorted) {
		return 0
	}
	slices.Sort(gaps)
	return quantile(gaps, 0.5)
}

// rounding is the error of a value of this size that was stored in single precision or
// printed with nine decimals.
func rounding(size float64) float64 { return math.Max(1.5e-9, size*0x1p-24) }

// extent returns the largest minus the smallest finite value.
func extent(x []float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		if finite(v) {
			lo, hi = math.Min(lo, v), math.Max(hi, v)
		}
	}
	return math.Max(0, hi-lo)
}

// repeats counts the values that equal the one before.
func repeats(x []float64) int {
	n := 0
	for i := 1; i < len(x); i++ {
		if x[i] == x[i-1] {
			n++
		}
	}
	return n
}

// meanSize returns the mean magnitude, of what is not too large for a value.
func meanSize(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Min(math.Abs(v), 1e12)
	}
	return sum / float64(max(len(x), 1))
}

// alternates reports whether the samples next to a run go up and down, as noise does,
// rather than one way. So do too few.
func alternates(x []float64) bool {
	if len(x) < 10 {
		return true
	}
	turns, last := 0, 0.0
	for i := 1; i < len(x); i++ {
		d := x[i] - x[i-1]
		if d*last < 0 {
			turns++
		}
		if d != 0 {
			last = d
		}
	}
	return 5*turns >= len(x)
}

// wrapped returns an angle difference of at most half a period; 0 = not periodic.
func wrapped(v, period float64) float64 {
	if period > 0 {
		v -= period * math.Round(v/period)
	}
	return v
}

// unwrap makes x continuous modulo period, in place. Values too large for an angle stay
// as they are and are passed over.
func unwrap(x []float64, period float64) {
	turns, last := 0.0, math.NaN()
	for i, v := range x {
		if math.Abs(v) > 1e6*period {
			continue
		}
		if !math.IsNaN(last) {
			turns += math.Round((last - v - turns*period) / period)
		}
		x[i] = v + turns*period
		last = x[i]
	}
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// turningPoint returns how many of n places to leave behind for their scores to have the
// largest sum: 0 where none is positive.
func turningPoint(n int, score func(i int) float64) int {
	best, sum, at := 0.0, 0.0, 0
	for i := range n {
		if sum += score(i); sum > best {
			best, at = sum, i+1
		}
	}
	return at
}

// runs yields the ranges [i, j) that 0..n−1 falls into, where i continues the range that
// began at first if joins(first, i).
func runs(n int, joins func(first, i int) bool) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for i := 0; i < n; {
			j := i + 1
			for j < n && joins(i, j) {
				j++
			}
			if !yield(i, j) {
				return
			}
			i = j
		}
	}
}

// equalRuns yields the ranges of equal values.
func equalRuns(x []float64) iter.Seq2[int, int] {
	return runs(len(x), func(_, i int) bool { return x[i] == x[i-1] })
}

// where yields the ranges [i, j) of from..to−1 in which all pass.
func where(from, to int, pass func(i int) bool) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for i := from; i < to; i++ {
			if !pass(i) {
				continue
			}
			j := i + 1
			for j < to && pass(j) {
				j++
			}
			if !yield(i, j) {
				return
			}
			i = j
		}
	}
}
