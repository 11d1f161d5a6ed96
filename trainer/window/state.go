package window

import (
	"math"
	"sort"
)

// snap is how close two times are the same time, s. Times are stored in whole
// nanoseconds, and t0 + h rounds.
const snap = 1e-9

// at returns the last sample at or before t, or −1.
func (f *Flight) at(t float64) int {
	return sort.SearchFloat64s(f.T, math.Nextafter(t+snap, math.Inf(1))) - 1
}

// StateAt writes the state at time t (s after Origin) to dst (K), interpolated
// linearly between measured values. A channel that is not measured around t, or
// only across a gap, becomes NaN. It reports whether all channels are there.
func (f *Flight) StateAt(dst []float64, t float64) bool { return f.stateAt(dst, f.X, t) }

func (f *Flight) stateAt(dst, x []float64, t float64) bool {
	n := len(f.T)
	i := f.at(t)
	if i < 0 || t > f.T[n-1]+snap {
		nan(dst[:f.K])
		return false
	}
	all := true
	for k := range f.K {
		dst[k] = f.value(x, k, i, t)
		all = all && !math.IsNaN(dst[k])
	}
	return all
}

// value interpolates channel k of x (n×K) at time t; i is the last sample at or
// before t.
func (f *Flight) value(x []float64, k, i int, t float64) float64 {
	onSample := t-f.T[i] <= snap
	if onSample && !math.IsNaN(x[i*f.K+k]) {
		return x[i*f.K+k]
	}
	lo, hi := i, i+1
	for lo >= 0 && math.IsNaN(x[lo*f.K+k]) {
		if t-f.T[lo] > f.maxGap[k] {
			return math.NaN()
		}
		lo--
	}
	for hi < len(f.T) && math.IsNaN(x[hi*f.K+k]) {
		if f.T[hi]-t > f.maxGap[k] {
			return math.NaN()
		}
		hi++
	}
	if lo < 0 || hi >= len(f.T) || f.T[hi]-f.T[lo] > f.maxGap[k]+snap {
		return math.NaN()
	}
	a, b := x[lo*f.K+k], x[hi*f.K+k]
	w := (t - f.T[lo]) / (f.T[hi] - f.T[lo])
	return a + w*(b-a)
}

// Displacement writes x(T[start]+h) − x(T[start]) to dst (K), interpolated as by
// StateAt, with NaN where a channel is not there. It reports whether all are. What
// it starts from is measured; what it leads to is exact where that is known.
func (f *Flight) Displacement(dst []float64, start int, h float64) bool {
	x := f.X
	if f.Exact != nil {
		x = f.Exact
	}
	ok := f.stateAt(dst, x, f.T[start]+h)
	f.subtract(dst, start)
	return ok
}

// SampleDisplacement writes the measured X[i] − X[start] to dst (K), without any
// interpolation. NaN = not measured at sample i.
func (f *Flight) SampleDisplacement(dst []float64, start, i int) {
	copy(dst[:f.K], f.State(i))
	f.subtract(dst, start)
}

func (f *Flight) subtract(dst []float64, start int) {
	for k, v := range f.State(start) {
		dst[k] -= v
	}
}

// Samples returns the range [from, to) of the samples after start, up to and
// including T[start] + H.
func (f *Flight) Samples(start int, H float64) (from, to int) {
	return start + 1, f.at(f.T[start]+H) + 1
}

func nan(dst []float64) {
	for i := range dst {
		dst[i] = math.NaN()
	}
}
