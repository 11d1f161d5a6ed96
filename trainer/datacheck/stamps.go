package datacheck

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// stamps lists the samples of a segment whose stamps are in order, marks the others, and
// finds gaps and steps of the clock.
func (r *recording) stamps(s *segment, usual float64) {
	dt := s.dt
	if s.n() < 10 || dt == 0 {
		dt = usual
	}
	s.keep = make([]int, 1, s.n())
	for i := 1; i < s.n(); {
		last := s.keep[len(s.keep)-1]
		next := i // the first sample after i whose stamp is not wrong
		switch d := s.t[i] - s.t[last]; {
		case s.ns[i] == s.ns[last]:
			next = r.duplicate(s, last, i)
		case d < 0:
			next = r.backwards(s, last, i)
		case dt > 0 && d > (gapFactor+1.5*float64(i-last-1))*dt:
			next = r.ahead(s, last, i, dt)
		}
		if next > i {
			span{s, i, next}.mark(-1, BadStamp)
			i = next
			continue
		}
		s.keep = append(s.keep, i)
		i++
	}
}

// duplicate reports the samples from i on that are stamped like sample last.
func (r *recording) duplicate(s *segment, last, i int) (next int) {
	next = i + 1
	for next < s.n() && s.ns[next] == s.ns[last] {
		next++
	}
	same := "with the same values"
	for _, col := range s.col {
		if col[i-1] != col[i] && !(math.IsNaN(col[i-1]) && math.IsNaN(col[i])) {
			same = "with other values"
		}
	}
	r.add(Duplicate, Exclude, -1, span{s, i, next},
		"The stamp at %s is repeated %s, %s. The first sample is used; check that the resolution of the stamps is fine enough for the rate, and that no record is stored twice.",
		sec(s.t[i]), plural(next-i, "time"), same)
	return next
}

// backwards reports a stamp at sample i before that of sample last: of a few samples, or of
// a clock that stepped.
func (r *recording) backwards(s *segment, last, i int) (next int) {
	most := i + max(strayStamps, min(s.n()/50, 500))
	least := 0.0
	for j := i; j < min(s.n(), most); j++ {
		if s.ns[j] > s.ns[last] {
			r.add(Backwards, Exclude, -1, span{s, i, j},
				"%s stamped up to %s earlier than the sample before, at %s. Records were stored out of order: sort the log by time, or remove them.",
				were(j-i), duration(-least), sec(s.t[last]))
			return j
		}
		least = math.Min(least, s.t[j]-s.t[last])
	}
	at, d := span{s, i, i + 1}, s.t[last]-s.t[i]
	r.add(Backwards, Note, -1, at,
		"The stamps go back by %s after %s, and the following samples continue from there. Windows do not cross this place.", duration(d), sec(s.t[last]))
	r.add(Clock, Note, -1, at,
		"The clock steps back by %s at %s. If a new recording begins here, make it a segment of its own (time.segment_column).", duration(d), sec(s.t[last]))
	at.mark(-1, TimeBreak)
	return i
}

// ahead reports a stamp at sample i long after that of sample last: of a few samples, of a
// clock that stepped, or of a gap.
func (r *recording) ahead(s *segment, last, i int, dt float64) (next int) {
	d := s.t[i] - s.t[last]
	for j := i + 1; j < min(s.n(), i+strayStamps); j++ {
		since := s.t[j] - s.t[last]
		if s.ns[j] < s.ns[j-1] && since > 0 && since <= gapFactor*dt*float64(j-last) && s.ns[j] < s.ns[i] {
			r.add(Clock, Exclude, -1, span{s, i, j},
				"%s stamped %s later than their neighbours, then the stamps return. Remove them or correct the stamps.", were(j-i), duration(d))
			return j
		}
	}
	at := span{s, i, i + 1}
	if r.continuous(s, last, i, d) {
		r.add(Clock, Note, -1, at,
			"The clock steps forward by %s at %s, but the states continue without a gap. Windows do not cross this place; take the stamps from the clock of the sensor, not from one that is set while recording.", duration(d), sec(s.t[last]))
	} else {
		missing := max(1, int(math.Round(d/dt))-1)
		r.add(Gap, Note, -1, span{s, last, i + 1},
			"No samples for %s from %s on, where one every %s is usual: about %d are missing. No window crosses the gap; no action is needed unless there are many.",
			duration(d), sec(s.t[last]), duration(dt), missing).Count = missing
	}
	at.mark(-1, TimeBreak)
	return i
}

// continuous reports whether the states go on from sample a to b as they do from one
// sample to the next, although d seconds have passed by the stamps and over so long a time
// they would have moved on. The moving channels vote: by chance they would all have come
// back with a probability below 2 %.
func (r *recording) continuous(s *segment, a, b int, d float64) bool {
	chance := 1.0
	for _, k := range r.places(channel.State) {
		x := s.col[k]
		lo, hi := max(0, a-20), min(s.n(), b+21)
		var near []float64
		for i := lo + 1; i < hi; i++ {
			if i != b && finite(x[i]) && finite(x[i-1]) {
				near = append(near, math.Abs(x[i]-x[i-1]))
			}
		}
		step := quantile(sketch(near), 0.8)
		if step == 0 || !finite(x[a]) || !finite(x[b]) {
			continue
		}
		if math.Abs(r.change(s, k, a, b)) > 3*step {
			return false
		}
		if far := s.typicalMove(x, d); far > 0 {
			chance *= math.Min(1, 3*step/far)
		}
	}
	return chance < 0.02
}

// typicalMove is the median of |x(t+d) − x(t)| within the segment; for a d that is longer
// than half of it, the distance of two values drawn at random.
func (s *segment) typicalMove(x []float64, d float64) float64 {
	lag := 1
	if s.dt > 0 {
		lag = max(1, int(math.Min(d/s.dt, 1e9)))
	}
	var v []float64
	if lag > s.n()/2 {
		for _, y := range x {
			if finite(y) {
				v = append(v, y)
			}
		}
		return 0.5 * width(sorted(v))
	}
	for i := lag; i < s.n(); i++ {
		if m := math.Abs(x[i] - x[i-lag]); finite(m) {
			v = append(v, m)
		}
	}
	return median(v)
}
