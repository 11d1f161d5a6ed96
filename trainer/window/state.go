package window

import (
	"math"
	"slices"
	"sort"
)

// snap is how close two times are the same time, s. Times are stored in whole
// nanoseconds, and t0 + h rounds.
const snap = 1e-9

// at returns the last sample at or before t, or −1: where samples are evenly spaced the one that is expected there.
func (f *Flight) at(t float64) int {
	first, last := f.T[0], f.N()-1
	if i := int((t + snap - first) / (f.T[last] - first) * float64(last)); i >= 0 && i < last && f.T[i] <= t+snap && t+snap < f.T[i+1] {
		return i
	}
	return sort.SearchFloat64s(f.T, math.Nextafter(t+snap, math.Inf(1))) - 1
}

// StateAt writes the state at time t (s after Origin) to dst (K), interpolated
// linearly between measured values. A channel that is not measured around t, or
// only across a gap, becomes NaN. It reports whether all channels are there.
func (f *Flight) StateAt(dst []float64, t float64) bool { return f.stateAt(dst, t, f.interpolated) }

// stateAt writes what value returns of each channel k at time t, of which i is the last sample
// at or before it, to dst (K).
func (f *Flight) stateAt(dst []float64, t float64, value func(k, i int, t float64) float64) bool {
	n := len(f.T)
	i := f.at(t)
	if i < 0 || t > f.T[n-1]+snap {
		nan(dst[:f.K])
		return false
	}
	all := true
	for k := range f.K {
		dst[k] = value(k, i, t)
		all = all && !math.IsNaN(dst[k])
	}
	return all
}

func (f *Flight) interpolated(k, i int, t float64) float64 { return f.value(f.X, k, i, t) }

func (f *Flight) exact(k, i int, t float64) float64 { return f.value(f.Exact, k, i, t) }

// value interpolates channel k of x (n×K) at time t; i is the last sample at or
// before t.
func (f *Flight) value(x []float64, k, i int, t float64) float64 {
	lo, hi := f.around(x, k, i, t)
	if lo < 0 {
		return math.NaN()
	}
	a, b := x[lo*f.K+k], x[hi*f.K+k]
	if lo == hi {
		return a
	}
	w := (t - f.T[lo]) / (f.T[hi] - f.T[lo])
	return a + w*(b-a)
}

// around returns the measured samples of channel k of x (n×K) next to time t on both
// sides, the same one twice where it is at t; i is the last sample at or before t. lo is
// -1 where there are none, or where they are too far apart.
func (f *Flight) around(x []float64, k, i int, t float64) (lo, hi int) {
	known := func(i int) bool { return !math.IsNaN(x[i*f.K+k]) }
	if t-f.T[i] <= snap && known(i) {
		return i, i
	}
	lo, hi = i, i+1
	for lo >= 0 && !known(lo) {
		if t-f.T[lo] > f.maxGap[k] {
			return -1, -1
		}
		lo--
	}
	for hi < len(f.T) && !known(hi) {
		if f.T[hi]-t > f.maxGap[k] {
			return -1, -1
		}
		hi++
	}
	if lo < 0 || hi >= len(f.T) || f.T[hi]-f.T[lo] > f.maxGap[k]+snap {
		return -1, -1
	}
	return lo, hi
}

// measured returns one measurement of channel k at time t: that of the nearest sample,
// carried to t along the slope between the samples next to it. Its noise is that of one
// measurement, of which interpolation would average up to a half away. i is the last sample at or
// before t; NaN as by value.
func (f *Flight) measured(k, i int, t float64) float64 {
	y := f.Aim()
	lo, hi := f.around(y, k, i, t)
	if lo < 0 || lo == hi {
		return f.value(y, k, i, t)
	}
	near, from, to := lo, lo, hi
	if f.T[hi]-t < t-f.T[lo] {
		near = hi
		to = f.neighbour(k, hi, 1)
	} else {
		from = f.neighbour(k, lo, -1)
	}
	slope := (y[to*f.K+k] - y[from*f.K+k]) / (f.T[to] - f.T[from])
	return y[near*f.K+k] + slope*(t-f.T[near])
}

// Sampled reports whether the sample nearest to time t (s after Origin) has a value of
// channel k. Between the values of a channel that is measured more slowly than the flight is
// sampled it has none: what is interpolated there is no measurement.
func (f *Flight) Sampled(k int, t float64) bool {
	i := f.at(t)
	if i < 0 {
		return false
	}
	y := f.Aim()
	has := func(i int) bool { return !math.IsNaN(y[i*f.K+k]) }
	if i+1 == len(f.T) {
		return has(i)
	}
	before, after := t-f.T[i], f.T[i+1]-t
	return before <= after+snap && has(i) || after <= before+snap && has(i+1)
}

// Interpolated reports, by time after the start of a window, s, and channel (T×K), whether
// fewer than a tenth of the windows end next to a sample with a value of the channel. There
// the values between samples have to be compared with; elsewhere the samples alone.
func Interpolated(flights []Flight, windows []Window, times []float64) []bool {
	K := flights[0].K
	out, n := make([]bool, len(times)*K), make([]int, len(times)*K)
	for _, w := range windows {
		f := &flights[w.Flight]
		for j := range n {
			if f.Sampled(j%K, f.T[w.Start]+times[j/K]) {
				n[j]++
			}
		}
	}
	for j := range out {
		out[j] = 10*n[j] < len(windows)
	}
	return out
}

// neighbour returns the measured sample of channel k next to sample i in the direction of step,
// 1 or −1; i itself where there is none or only across a gap.
func (f *Flight) neighbour(k, i, step int) int {
	for j := i + step; j >= 0 && j < len(f.T) && math.Abs(f.T[j]-f.T[i]) <= f.maxGap[k]+snap; j += step {
		if !math.IsNaN(f.Aim()[j*f.K+k]) {
			return j
		}
	}
	return i
}

// Displacement writes x(T[start]+h) − x(T[start]) to dst (K), with NaN where a channel is
// not there. It reports whether all are. It starts from X. What it leads to is exact where that is
// known, interpolated as by StateAt, else one measurement, or the target of training: between samples
// the nearest one, carried along the slope.
func (f *Flight) Displacement(dst []float64, start int, h float64) bool {
	value := f.measured
	if f.Exact != nil {
		value = f.exact
	}
	all := f.stateAt(dst, f.T[start]+h, value)
	f.subtract(dst, start)
	return all
}

// SampleDisplacement writes the measurement of sample i, the target of training or the exact state where that is known, less
// X[start] to dst (K), without any interpolation. NaN = not measured at sample i.
func (f *Flight) SampleDisplacement(dst []float64, start, i int) {
	x := f.Aim()
	if f.Exact != nil {
		x = f.Exact
	}
	copy(dst[:f.K], x[i*f.K:])
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

// Estimated returns the flight with the states x (n×K) that a filter made of its own, which predictions start from, and
// the measurements y (n×K). like (K) names the state of f in whose gaps a state of x has its own.
func (f *Flight) Estimated(x, y []float64, like []int) Flight {
	out := *f
	out.K, out.X, out.Y, out.Target, out.Exact, out.maxGap = len(like), x, y, nil, nil, make([]float64, len(like))
	for k, of := range like {
		out.maxGap[k] = f.maxGap[of]
	}
	if f.X0 != nil {
		out.X0 = nil // of which the estimated part is not known
	}
	return out
}

// Measured returns the flight with what was measured in place of estimates, where it has these.
func (f *Flight) Measured() Flight {
	out := *f
	if out.Target = nil; f.Y != nil {
		out.X, out.Y = f.Y, nil
	}
	return out
}

// Compared returns flights that are compared with measurements, whatever training aims at.
func Compared(flights []Flight) []Flight {
	out := slices.Clone(flights)
	for i := range out {
		out[i].Target = nil
	}
	return out
}
