package datacheck

import (
	"math"
	"slices"
)

const (
	// gapFactor: an interval this many times the usual one is a gap, the same
	// rule as for cutting windows.
	gapFactor = 5
	// strayStamps: a disturbance of the clock that is over after this many
	// samples is their fault, not that of all the samples after it.
	strayStamps = 20
)

// interval returns the median interval of one segment, s; 0 if it has none.
func (s *segment) interval() float64 {
	var dt []float64
	for i := 1; i < s.n(); i++ {
		if d := s.ns[i] - s.ns[i-1]; d > 0 {
			dt = append(dt, float64(d)/1e9)
		}
	}
	return median(dt)
}

// interval returns the interval at which most of the log was sampled, s.
func (r *record) interval() float64 {
	var dt []float64
	for _, s := range r.segs {
		for i := 1; i < s.n(); i++ {
			if d := s.ns[i] - s.ns[i-1]; d > 0 {
				dt = append(dt, float64(d)/1e9)
			}
		}
	}
	return median(dt)
}

// stamps walks along the stamps of a segment and sets keep and cuts.
func (c *checker) stamps(s *segment, usual float64) {
	dt := s.dt
	if s.n() < 10 || dt == 0 {
		dt = usual
	}
	n := s.n()
	s.keep = make([]int, 1, n)
	last := 0
	for i := 1; i < n; {
		d := s.t[i] - s.t[last]
		switch {
		case s.ns[i] == s.ns[last]:
			j := i + 1
			for j < n && s.ns[j] == s.ns[last] {
				j++
			}
			c.duplicate(s, i, j)
			i = j
			continue
		case d < 0:
			if j := s.overtakes(i, last); j > 0 {
				c.add(Backwards, Exclude, -1, s, i, j,
					"%s stamped up to %s before the one ahead of them, at %s. Records were stored out of order: sort the log by time, or leave them out.",
					were(j-i), interval(-minimum(s.t[i:j], s.t[last])), sec(s.t[last]))
				s.mark(-1, i, j, BadStamp)
				i = j
				continue
			}
			c.add(Backwards, Note, -1, s, i, i+1,
				"Time goes back by %s after %s and stays there. Windows do not cross this place.", interval(-d), sec(s.t[last]))
			c.add(Clock, Note, -1, s, i, i+1,
				"The clock steps back by %s at %s. If a new recording begins here, make it a segment of its own (time.segment_column).", interval(-d), sec(s.t[last]))
			s.cut(i)
		case dt > 0 && d > (gapFactor+1.5*float64(i-last-1))*dt:
			if j := s.returns(i, last, dt); j > 0 {
				c.add(Clock, Exclude, -1, s, i, j,
					"%s stamped %s ahead of their neighbours, then the stamps come back. Leave them out or mend the stamps.", were(j-i), interval(d))
				s.mark(-1, i, j, BadStamp)
				i = j
				continue
			}
			if c.continuous(s, last, i, d) {
				c.add(Clock, Note, -1, s, i, i+1,
					"The clock steps forward by %s at %s, but the robot has not moved meanwhile as in a gap. Windows do not cross this place; take the stamps from the sensor's clock, not from one that is set while recording.", interval(d), sec(s.t[last]))
			} else {
				c.gap(s, last, i, dt)
			}
			s.cut(i)
		}
		s.keep = append(s.keep, i)
		last = i
		i++
	}
}

// cut notes that time is broken ahead of sample i.
func (s *segment) cut(i int) {
	s.cuts = append(s.cuts, i)
	s.mark(-1, i, i+1, TimeBreak)
}

// overtakes returns the first sample after i that lies beyond sample last in
// time, if it comes soon; 0 = it does not.
func (s *segment) overtakes(i, last int) int {
	for j := i + 1; j < min(s.n(), i+max(strayStamps, min(s.n()/50, 500))); j++ {
		if s.ns[j] > s.ns[last] {
			return j
		}
	}
	return 0
}

// returns finds whether the stamps that jump ahead at sample i come back to where
// they would have been, and at which sample; 0 = they do not.
func (s *segment) returns(i, last int, dt float64) int {
	for j := i + 1; j < min(s.n(), i+strayStamps); j++ {
		d := s.t[j] - s.t[last]
		if s.ns[j] < s.ns[j-1] && d > 0 && d <= gapFactor*dt*float64(j-last) && s.ns[j] < s.ns[i] {
			return j
		}
	}
	return 0
}

func (c *checker) duplicate(s *segment, i, j int) {
	same := "with other values"
	if s.sameRow(i-1, i) {
		same = "with the same values"
	}
	c.add(Duplicate, Exclude, -1, s, i, j,
		"The stamp at %s occurs %s more, %s. The first sample is used; check that stamps are fine enough for the rate, and that no record is stored twice.",
		sec(s.t[i]), plural(j-i, "time"), same)
	s.mark(-1, i, j, BadStamp)
}

func (s *segment) sameRow(i, j int) bool {
	for _, col := range s.col {
		if col[i] != col[j] && !(math.IsNaN(col[i]) && math.IsNaN(col[j])) {
			return false
		}
	}
	return true
}

func (c *checker) gap(s *segment, a, b int, dt float64) {
	d := s.t[b] - s.t[a]
	missing := max(1, int(math.Round(d/dt))-1)
	c.add(Gap, Note, -1, s, a, b+1,
		"No samples for %s from %s on, where one every %s is usual: about %d are missing. No window is cut across it; nothing need be done unless gaps are many.",
		interval(d), sec(s.t[a]), interval(dt), missing)
	p := &c.problems[len(c.problems)-1]
	p.Count = missing
}

// continuous reports whether the states go on from sample a to b as they do from
// one sample to the next, although the stamps say that d seconds have passed and
// over so long a time they would have moved on. The moving channels vote: by
// chance they would all have come back with a probability below 2 %.
func (c *checker) continuous(s *segment, a, b int, d float64) bool {
	chance := 1.0
	for _, k := range c.states() {
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
		diff := x[b] - x[a]
		if p := c.channels[k].Period; p > 0 {
			diff -= p * math.Round(diff/p)
		}
		if math.Abs(diff) > 3*step {
			return false
		}
		if far := s.typicalMove(x, d); far > 0 {
			chance *= math.Min(1, 3*step/far)
		}
	}
	return chance < 0.02
}

// typicalMove is the median of |x(t+d) − x(t)| within the segment; for a d that
// is longer than half of it, the distance of two values drawn at random.
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
		slices.Sort(v)
		return 0.5 * width(v)
	}
	for i := lag; i < s.n(); i++ {
		if m := math.Abs(x[i] - x[i-lag]); finite(m) {
			v = append(v, m)
		}
	}
	return median(v)
}

// minimum returns the smallest of t, relative to from.
func minimum(t []float64, from float64) float64 {
	m := 0.0
	for _, v := range t {
		m = math.Min(m, v-from)
	}
	return m
}

// were prints how many samples something happened to.
func were(n int) string {
	if n == 1 {
		return "1 sample is"
	}
	return plural(n, "sample") + " are"
}
