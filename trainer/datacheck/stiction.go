package datacheck

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// pair is a position and its measured derivative, by their places in the header.
type pair struct{ position, velocity int }

// pairs returns the pairs that channel k belongs to.
func (r *recording) pairs(k int) []pair {
	var out []pair
	for p, ch := range r.channels {
		if d := channel.Index(r.channels, ch.Derivative); d >= 0 && (p == k || d == k) {
			out = append(out, pair{p, d})
		}
	}
	return out
}

// apart returns how far a position and the integral of its derivative move apart over
// samples [first, last) of a segment; NaN where a value is missing.
func (r *recording) apart(s *segment, p pair, first, last int) float64 {
	v := s.col[p.velocity]
	off, least, most := 0.0, 0.0, 0.0
	for i := first + 1; i < last; i++ {
		off += r.change(s, p.position, i-1, i) - 0.5*(v[i-1]+v[i])*(s.t[i]-s.t[i-1])
		least, most = math.Min(least, off), math.Max(most, off)
	}
	return most - least
}

// confirmed reports whether a second measurement says what the run [i, j) does: a position
// and its derivative agree to within the step of the position, and neither jumps at an end
// of the run. A joint that friction holds, or that turns at a constant rate, repeats its
// values so.
func (f *freezes) confirmed(tr track, i, j int) bool {
	at := tr.span(i, j)
	return slices.ContainsFunc(f.pairs(f.k), func(p pair) bool {
		return f.apart(at.seg, p, at.first, at.last) <= 1.5*f.step(p.position) &&
			!f.jumps(tr, p.position, i, j) && !f.jumps(tr, p.velocity, i, j)
	})
}

// otherRate reports whether the position that the channel is the derivative of moves during
// a span at another rate: by more than the two differ elsewhere.
func (f *freezes) otherRate(at span) bool {
	s, m := at.seg, at.n()
	return slices.ContainsFunc(f.pairs(f.k), func(p pair) bool {
		if p.velocity != f.k {
			return false
		}
		usual := s.usual(m, func(i, j int) float64 { return f.apart(s, p, i, j) })
		return f.apart(s, p, at.first, at.last) > max(5*f.step(p.position), 5*usual, 0.2*s.usualExtent(p.position, m))
	})
}

// step returns the step of a sensor: that between neighbours among its values, next to
// nothing where it has no steps.
func (f *freezes) step(k int) float64 {
	if step, known := f.steps[k]; known {
		return step
	}
	var x, gaps []float64
	for _, s := range f.segs {
		x = append(x, s.col[k]...)
	}
	x = sketch(slices.DeleteFunc(x, func(v float64) bool { return !finite(v) }))
	least := rounding(meanSize(x))
	for i := 1; i < len(x); i++ {
		if d := x[i] - x[i-1]; d > least {
			gaps = append(gaps, d)
		}
	}
	f.steps[k] = quantile(sorted(gaps), 0.1)
	return f.steps[k]
}

// jumps reports whether channel k changes at either end of the run [i, j) of a track by
// more than it does from sample to sample around it.
func (f *freezes) jumps(tr track, k, i, j int) bool {
	limit := 3 * quantile(f.near(tr, k, i, j), 0.9)
	jump := func(n int) bool {
		return n > 0 && n < len(tr.at) && math.Abs(f.change(tr.seg, k, tr.at[n-1], tr.at[n])) > limit
	}
	return jump(i) || jump(j)
}

// rests reports whether a sensor with steps rests in the run [i, j): it enters and leaves
// by one step, and samples that go up and down on either side do so by two at most. The
// noise of a sensor that froze is larger than its steps.
func (f *freezes) rests(tr track, i, j int) bool {
	if f.quantum == 0 || i == 0 || j == len(tr.x) {
		return false
	}
	step := 1.1 * quantile(f.near(tr, f.k, i, j), 0.1)
	within := func(x []float64, steps float64) bool {
		return !slices.ContainsFunc(x, func(v float64) bool { return math.Abs(v-tr.x[i]) > steps*step })
	}
	before, after := tr.x[max(0, i-noiseReach):i], tr.x[j:min(len(tr.x), j+noiseReach)]
	near := func(x, next []float64) bool { return !alternates(x) || within(next, 2) }
	return within(tr.x[i-1:j+1], 1) &&
		near(before, before[max(0, len(before)-5):]) && near(after, after[:min(len(after), 5)])
}

// near lists, sorted, by how much channel k changes between samples around the run [i, j)
// of a track, where it does.
func (f *freezes) near(tr track, k, i, j int) []float64 {
	var out []float64
	for n := max(1, i-motionReach); n < min(len(tr.at), j+motionReach); n++ {
		if d := math.Abs(f.change(tr.seg, k, tr.at[n-1], tr.at[n])); (n < i || n > j) && d > rounding(math.Abs(tr.seg.col[k][tr.at[n]])) {
			out = append(out, d)
		}
	}
	return sorted(out)
}
