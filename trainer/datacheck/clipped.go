package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// clipped finds flat tops: the channel arrives at its extreme with a speed that would have
// carried it on, and stays there exactly. A coarse sensor at a turning point is flat as
// well, but arrives slowly.
func (s series) clipped() {
	tracks := s.tracks()
	sv := sorted(values(tracks))
	if len(sv) < 50 {
		return
	}
	q := resolution(sv)
	s.clippedAt("highest", sv[len(sv)-1], 1, q, tracks, sv)
	s.clippedAt("lowest", sv[0], -1, q, tracks, sv)
}

// clippedAt reports the flat tops at one extreme; sign is the direction to it, q the step
// of a coarse sensor.
func (s series) clippedAt(name string, level, sign, q float64, tracks []track, sv []float64) {
	type flat struct {
		at span
		n  int
	}
	var flats []flat
	total := 0
	for _, tr := range tracks {
		for i, j := range where(0, len(tr.x), func(i int) bool { return tr.x[i] == level }) {
			if j-i >= shortestClip && arrives(tr.x, i, j, sign, q) && !s.staysAtTop(tr.span(i, j)) {
				flats = append(flats, flat{tr.span(i, j), j - i})
				total += j - i
			}
		}
	}
	if total < fewestClipped || (q > 0 && !pilesUp(sv, sign)) {
		return
	}
	if s.Role == channel.Input {
		at := flats[0].at
		if l := flats[len(flats)-1].at; l.seg == at.seg {
			at.last = l.last
		}
		s.add(Clipped, Note, s.k, at,
			"%s is at its %s value %s in %s, %s in all. This is right if it is the limit of the command; if it was measured, the range of the sensor is too small.",
			s.Name, name, s.value(s.k, level), plural(len(flats), "place"), plural(total, "sample")).Count = total
		return
	}
	for _, f := range flats {
		s.exclude(Clipped, s.k, f.at, BadSpan,
			"%s stays at its %s value %s for %s, %s, like a sensor at the end of its range. These samples are left out; set a larger range.",
			s.Name, name, s.value(s.k, level), plural(f.n, "sample"), f.at)
	}
}

// staysAtTop reports whether a state is at an extreme because a robot that is commanded step by step has stopped there, or moves so fast.
func (s series) staysAtTop(at span) bool {
	return s.Role == channel.State && at.to()-at.from() > longestTop && s.inputsStay(at)
}

// arrives reports whether the flat run [i, j) is entered and left faster than a rounded
// peak would be. A parabola that a coarse sensor shows flat for m samples rises by at most
// three of its steps in the m/2 samples ahead.
func arrives(x []float64, i, j int, sign, q float64) bool {
	b := max(2, (j-i)/2)
	if i < b || j-1+b >= len(x) {
		return false
	}
	least := math.Min(sign*(x[i]-x[i-b]), sign*(x[j-1]-x[j-1+b]))
	return least > 6*q && least > 0
}

// pilesUp reports whether the extreme of a coarse channel is taken far more often than the
// four values next to it. (A sine takes it 2.4 times as often.)
func pilesUp(sv []float64, sign float64) bool {
	level := func(i int) float64 { return sv[i] }
	if sign > 0 {
		level = func(i int) float64 { return sv[len(sv)-1-i] }
	}
	top, most, levels := 0, 0, 0
	for i, j := range runs(len(sv), func(_, i int) bool { return level(i) == level(i-1) }) {
		switch levels++; {
		case j == len(sv) || levels > 5:
			return top > 3*max(most, 1)
		case levels == 1:
			top = j - i
		default:
			most = max(most, j-i)
		}
	}
	return false
}
