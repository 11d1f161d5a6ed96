package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

const (
	shortestFlat = 3 // samples at the extreme in a row
	manyClipped  = 5 // samples in all
)

// clipped finds flat tops: the channel arrives at its extreme with a speed that
// would have carried it on, and stays there exactly. A coarse sensor at a
// turning point is flat as well, but arrives slowly.
func (c *checker) clipped(k int) {
	tracks := c.tracks(k)
	sv := sorted(values(tracks))
	if len(sv) < 50 || c.slow[k] {
		return
	}
	q := resolution(sv)
	for _, side := range []struct {
		level float64
		sign  float64
		name  string
	}{{sv[len(sv)-1], 1, "highest"}, {sv[0], -1, "lowest"}} {
		type flat struct {
			tr   track
			i, j int
		}
		var flats []flat
		total := 0
		for _, tr := range tracks {
			for i := 0; i < len(tr.x); i++ {
				if tr.x[i] != side.level {
					continue
				}
				j := i + 1
				for j < len(tr.x) && tr.x[j] == side.level {
					j++
				}
				if j-i >= shortestFlat && arrives(tr.x, i, j, side.sign, q) {
					flats = append(flats, flat{tr, i, j})
					total += j - i
				}
				i = j
			}
		}
		if total < manyClipped || (q > 0 && !piles(sv, side.sign)) {
			continue
		}
		if c.channels[k].Role == channel.Input {
			f, l := flats[0], flats[len(flats)-1]
			if f.tr.seg != l.tr.seg {
				l = f
			}
			c.add(Clipped, Note, k, f.tr.seg, f.tr.at[f.i], l.tr.at[l.j-1]+1,
				"%s is at its %s value %s in %s, %s in all. Right if that is the limit of the command; if it was measured, the sensor's range is too small.",
				c.channels[k].Name, side.name, c.value(k, side.level), plural(len(flats), "place"), plural(total, "sample"))
			c.problems[len(c.problems)-1].Count = total
			continue
		}
		for _, f := range flats {
			s := f.tr.seg
			first, last := f.tr.at[f.i], f.tr.at[f.j-1]+1
			c.add(Clipped, c.garbage(k), k, s, first, last,
				"%s is held at its %s value %s for %s, %s, as at the end of a sensor's range. These samples are left out; set a larger range.",
				c.channels[k].Name, side.name, c.value(k, side.level), plural(f.j-f.i, "sample"), span(s.t[first], s.t[last-1]))
			s.mark(k, first, last, BadSpan)
		}
	}
}

// arrives reports whether the flat run [i, j) is entered and left faster than a
// rounded peak would be. A parabola that a coarse sensor shows flat for m samples
// rises by at most three of its steps in the m/2 samples ahead.
func arrives(x []float64, i, j int, sign, q float64) bool {
	b := max(2, (j-i)/2)
	if i < b || j-1+b >= len(x) {
		return false
	}
	least := math.Min(sign*(x[i]-x[i-b]), sign*(x[j-1]-x[j-1+b]))
	return least > 6*q && least > 0
}

// piles reports whether the extreme of a coarse channel is taken far more often
// than the values next to it. (A sine takes it 2.4 times as often.) sorted from
// the extreme on.
func piles(sv []float64, sign float64) bool {
	at := func(i int) float64 {
		if sign > 0 {
			return sv[len(sv)-1-i]
		}
		return sv[i]
	}
	top, most, run, levels := 0, 0, 1, 1
	for i := 1; i < len(sv) && levels <= 5; i++ {
		if at(i) == at(i-1) {
			run++
			continue
		}
		if levels == 1 {
			top = run
		} else {
			most = max(most, run)
		}
		run, levels = 1, levels+1
	}
	return top > 3*max(most, 1)
}
