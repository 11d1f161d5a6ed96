package datacheck

import (
	"cmp"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// unitFactors are those between units that are taken for each other.
var unitFactors = []struct {
	times float64
	cause string
}{
	{180 / math.Pi, "degrees there, and radians in the rest"}, {math.Pi / 180, "radians there, and degrees in the rest"},
	{1000, "thousandths there"}, {1e-3, "thousandths in the rest"},
}

// rescaled finds a channel whose unit changes within a segment: from one sample to the next it
// continues at a factor between two units times where it was, changes by that factor more
// from then on, and the other channels go on as they did, or it is an input that jumps there by far
// more than it moves and is as many times as large for seconds. The lesser part of the segment is left out.
func (r *recording) rescaled() {
	for _, s := range r.segs {
		steps := make([]scaling, len(r.channels))
		for k := range steps {
			steps[k] = newScaling(s, k)
		}
		changes := make([][]unitChange, len(steps))
		for k := range steps {
			changes[k] = steps[k].changes()
		}
		for k := range steps {
			r.reportRescaled(s, k, slices.DeleteFunc(slices.Clone(changes[k]), func(c unitChange) bool {
				return othersRescaled(steps, changes, k, c) && !(r.channels[k].Role == channel.Input && steps[k].jumps(c) && steps[k].grows(c.i, c.factor))
			}))
		}
	}
}

// scaling is one channel of a segment: its values with stamps in order, and how much it changes.
type scaling struct {
	at   []int     // samples of the segment
	x    []float64 // their values
	sum  []float64 // sum[i]: of |x[j]−x[j−1]| over 1 ≤ j ≤ i
	near int       // values within rescaledNear
	far  int       // values within rescaledFar
}

func newScaling(s *segment, k int) scaling {
	c := scaling{near: max(rescaledLeast, int(rescaledNear/math.Max(s.dt, 1e-9)))}
	c.far = max(2*c.near, int(rescaledFar/math.Max(s.dt, 1e-9)))
	for _, i := range s.keep {
		if !finite(s.col[k][i]) {
			continue
		}
		c.at, c.x, c.sum = append(c.at, i), append(c.x, s.col[k][i]), append(c.sum, 0)
		if n := len(c.x) - 1; n > 0 {
			c.sum[n] = c.sum[n-1] + math.Abs(c.x[n]-c.x[n-1])
		}
	}
	return c
}

// unitChange is a place where a channel is in another unit from value i on.
type unitChange struct {
	i      int
	at     int // the sample of the segment
	factor float64
}

// ratio returns by how much more the channel changes over n values from value i on than over those before
// it, as a logarithm; NaN where it does not change on either side.
func (c *scaling) ratio(i, n int) float64 {
	before := c.sum[i-1] - c.sum[max(i-1-n, 0)]
	after := c.sum[min(i+n, len(c.x)-1)] - c.sum[i]
	return math.Log(after / before)
}

// changes lists where the unit of the channel changes.
func (c *scaling) changes() []unitChange {
	var out []unitChange
	for _, unit := range unitFactors {
		factor, want := unit.times, math.Log(unit.times)
		like := func(i int) bool { return math.Abs(c.ratio(i, c.near)-want) < math.Log(rescaledLike) }
		for a, b := range where(c.near+1, len(c.x)-c.near, like) {
			for _, i := range [...]int{c.largestStep(a, b), c.turn(a, b)} {
				if c.continues(i, factor) {
					out = append(out, unitChange{i, c.at[i], factor})
					break
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b unitChange) int { return a.i - b.i })
	return c.apart(out)
}

// apart returns of changes that are near each other the one at the largest jump.
func (c *scaling) apart(all []unitChange) []unitChange {
	var out []unitChange
	for a, b := range runs(len(all), func(first, n int) bool { return all[n].i-all[first].i <= c.near }) {
		out = append(out, slices.MaxFunc(all[a:b], func(x, y unitChange) int { return cmp.Compare(c.step(x.i), c.step(y.i)) }))
	}
	return out
}

func (c *scaling) step(i int) float64 { return math.Abs(c.x[i] - c.x[i-1]) }

// largestStep returns the value in [from, to) to which the channel moves by the most.
func (c *scaling) largestStep(from, to int) int {
	at := from
	for i := from; i < to; i++ {
		if c.step(i) > c.step(at) {
			at = i
		}
	}
	return at
}

// turn returns the value in [from, to) from which on steps are those after it rather than those before it.
func (c *scaling) turn(from, to int) int {
	mean := func(a, b int) float64 { return (c.sum[b] - c.sum[a]) / float64(b-a) }
	before, after := mean(from-1-c.near, from-1), mean(to-1, to-1+c.near)
	middle := math.Sqrt(before * after)
	return from + turningPoint(to-from-1, func(n int) float64 {
		if (c.step(from+n) > middle) == (after > before) {
			return -1
		}
		return 1
	})
}

// continues reports whether the channel continues from value i on at factor times where it
// was: it jumps there by more than it ever moves nearby, or, where it is near zero, its values and its
// changes have grown by the factor, small ones and large ones, for as long as can be seen.
func (c *scaling) continues(i int, factor float64) bool {
	large, small, step := c.around(i, factor)
	if math.Abs(large-math.Max(factor, 1/factor)*small) > rescaledStep*step+rescaledPrecise*math.Abs(large) {
		return false
	}
	return c.jumps(unitChange{i: i, factor: factor}) || c.grows(i, factor)
}

// around returns the values on either side of value i, that in the larger unit first, and the
// largest step on its side.
func (c *scaling) around(i int, factor float64) (large, small, step float64) {
	if factor < 1 {
		return c.x[i-1], c.x[i], c.step(c.largestStep(i-c.near, i))
	}
	return c.x[i], c.x[i-1], c.step(c.largestStep(i+1, i+c.near+1))
}

// jumps reports whether the channel jumps at a change by more than it ever moves nearby.
func (c *scaling) jumps(change unitChange) bool {
	large, _, step := c.around(change.i, change.factor)
	return math.Abs(large) > 3*rescaledStep*step
}

// grows reports whether values, their changes and the changes of these, small and large, are factor times as large from value i on:
// noise at rest that a motion follows has larger changes for its values.
func (c *scaling) grows(i int, factor float64) bool {
	side := func(from, to int) (all [3][]float64) {
		for j := max(from, 2); j < min(to, len(c.x)); j++ {
			change, last := c.x[j]-c.x[j-1], c.x[j-1]-c.x[j-2]
			for n, v := range [...]float64{c.x[j], change, change - last} {
				all[n] = append(all[n], math.Abs(v))
			}
		}
		for _, of := range all {
			slices.Sort(of)
		}
		return all
	}
	before, after := side(i-c.far, i), side(i+2, i+2+c.far)
	for n := range before {
		for _, p := range [...]float64{0.5, 0.9} {
			if ratio := quantile(after[n], p) / quantile(before[n], p); !(math.Abs(math.Log(ratio/factor)) < math.Log(rescaledAlike)) {
				return false
			}
		}
	}
	return true
}

// othersRescaled reports whether other channels change otherwise than before from a change on,
// as they do where a robot takes off, or one of them by about as much, in the unit that it had, as where a joint begins to move,
// or whether there is none that shows that it does not.
func othersRescaled(all []scaling, changes [][]unitChange, k int, change unitChange) bool {
	var changed []float64
	for j := range all {
		c := &all[j]
		i, _ := slices.BinarySearch(c.at, change.at)
		if j == k || i <= c.near || i >= len(c.x)-c.near {
			continue
		}
		ratio := math.Abs(c.ratio(i, c.near))
		if !finite(ratio) {
			continue
		}
		changed = append(changed, ratio)
		rescaled := slices.ContainsFunc(changes[j], func(own unitChange) bool { return max(own.i-i, i-own.i) <= c.near })
		if ratio > math.Abs(math.Log(change.factor))*rescaledMoves && !rescaled {
			return true
		}
	}
	return len(changed) == 0 || median(changed) > math.Log(rescaledOthers)
}

// reportRescaled reports the lesser of the two parts of a segment that are in one unit each.
func (r *recording) reportRescaled(s *segment, k int, changes []unitChange) {
	if len(changes) == 0 || len(changes) > mostSwaps {
		return
	}
	var parts [2][]span
	unit, from := 0, 0
	for n, c := range changes {
		if n > 0 && (c.factor > 1) == (changes[n-1].factor > 1) {
			return // no channel is in a third unit
		}
		parts[unit] = append(parts[unit], span{s, from, c.at})
		unit, from = 1-unit, c.at
	}
	parts[unit] = append(parts[unit], span{s, from, s.n()})
	lesser, first := parts[1], changes[0].factor
	if total(parts[0]) < total(parts[1]) {
		lesser, first = parts[0], 1/first
	}
	cause := ""
	for _, unit := range unitFactors {
		if math.Abs(math.Log(first/unit.times)) < 1e-9 {
			cause = unit.cause
		}
	}
	for _, p := range lesser {
		r.exclude(Unit, k, p, BadSpan,
			"%s is %s times as large %s as in the rest of the segment. It changes from one sample to the next, and the other channels do not: its unit changed (%s). The span is left out; to use it, split the log there and import each part with its own map.",
			r.channels[k].Name, num(first), p, cause)
	}
}
