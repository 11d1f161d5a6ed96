package datacheck

import (
	"cmp"
	"slices"
)

const (
	enoughTime    = 3.0  // s of a segment, and
	enoughSamples = 300  // samples of it, from which on it is judged by itself
	sameRate      = 1.25 // factor between intervals that count as one rate
)

// lots parts the segments into those that are judged together: what a channel
// usually does is measured within a lot. A manoeuvre that shakes the robot is no
// error because the robot is calm in the other segments, and a channel that is
// sampled twice as fast changes half as much from sample to sample. So a segment
// that is long enough to tell what is usual is a lot by itself, and is judged as
// if it had come alone; the short ones are gathered by their sampling rate.
func (c *checker) lots() [][]*segment {
	var out [][]*segment
	var short []*segment
	for _, s := range c.segs {
		if s.n() >= enoughSamples && s.dt*float64(s.n()) >= enoughTime {
			out = append(out, []*segment{s})
		} else {
			short = append(short, s)
		}
	}
	return append(out, byRate(short)...)
}

// byRate gathers segments whose intervals differ by less than sameRate from one to
// the next longer one.
func byRate(segs []*segment) [][]*segment {
	order := slices.Clone(segs)
	slices.SortStableFunc(order, func(a, b *segment) int { return cmp.Compare(a.dt, b.dt) })
	var out [][]*segment
	for i, s := range order {
		if i == 0 || s.dt > sameRate*order[i-1].dt {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], s)
	}
	for _, lot := range out {
		slices.SortFunc(lot, func(a, b *segment) int { return cmp.Compare(a.index, b.index) })
	}
	return out
}

// within looks at the segments of a lot as if there were no others.
func (c *checker) within(lot []*segment, look func()) {
	all := c.segs
	c.segs = lot
	look()
	c.segs = all
}

// reaches returns how far a channel moves in half a second, in the middle one of
// the lots: a kink that is small against it is not garbage even where the robot
// rests.
func (c *checker) reaches(k int) float64 {
	var all []float64
	for _, lot := range c.lots() {
		c.within(lot, func() {
			tracks := c.tracks(k)
			all = append(all, c.reach(k, tracks, sketch(values(tracks))))
		})
	}
	return median(all)
}

// reach is how far a channel moves in half a second, within its range.
func (c *checker) reach(k int, tracks []track, sorted []float64) float64 {
	return min(c.span(k, sorted), quantile(sketch(moves(tracks, 0.5)), 0.95))
}

// span is what a channel uses of its range, at most half a turn of an angle.
func (c *checker) span(k int, sorted []float64) float64 {
	if p := c.channels[k].Period; p > 0 {
		return min(angularWidth(sorted, p), p/2)
	}
	return width(sorted)
}

// names tells which segments, in a sentence.
func names(segs []*segment) string {
	if len(segs) > 3 {
		return plural(len(segs), "segment")
	}
	text := ""
	for i, s := range segs {
		if i > 0 {
			text += ", "
		}
		text += s.name
	}
	return text
}
