package datacheck

import (
	"cmp"
	"slices"
	"strings"
)

// groups parts the segments into those that are judged together: what a channel usually
// does is measured within a group. A manoeuvre that shakes the robot is no error because
// the robot is calm in the other segments, and a channel that is sampled twice as fast
// changes half as much from sample to sample. So a segment that is long enough to show
// what is usual is a group by itself; the short ones are gathered by their sampling rate.
func (r *recording) groups() []*recording {
	var out []*recording
	var short []*segment
	for _, s := range r.segs {
		if s.n() >= enoughSamples && s.dt*float64(s.n()) >= enoughTime {
			out = append(out, r.of(s))
		} else {
			short = append(short, s)
		}
	}
	for _, g := range byRate(short) {
		out = append(out, r.of(g...))
	}
	return out
}

// byRate gathers segments whose intervals differ by less than sameRate from one to the
// next longer one.
func byRate(segs []*segment) [][]*segment {
	order := slices.Clone(segs)
	slices.SortStableFunc(order, func(a, b *segment) int { return cmp.Compare(a.dt, b.dt) })
	var out [][]*segment
	for i, j := range runs(len(order), func(_, i int) bool { return order[i].dt <= sameRate*order[i-1].dt }) {
		group := order[i:j]
		slices.SortFunc(group, func(a, b *segment) int { return cmp.Compare(a.index, b.index) })
		out = append(out, group)
	}
	return out
}

// motion returns how far a channel moves in half a second, in the middle one of the
// groups.
func motion(groups []*recording, k int) float64 {
	var all []float64
	for _, g := range groups {
		s := g.series(k)
		all = append(all, s.scales(s.tracks()).reach)
	}
	return median(all)
}

// segmentNames lists few segments by name, many by their number.
func segmentNames(segs []*segment) string {
	if len(segs) > 3 {
		return plural(len(segs), "segment")
	}
	var names []string
	for _, s := range segs {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}
