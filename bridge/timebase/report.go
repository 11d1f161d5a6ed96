package timebase

import (
	"cmp"
	"math"
	"slices"
)

// Clock is what is known of one sender's clock, over the longest part of the log in which
// it was not set.
type Clock struct {
	Sender
	N      int     // messages
	Offset int64   // ns: recorder's time = stamp + Offset at the shortest delay, at the start of the part
	Rate   float64 // seconds of the clock in one second of the recorder
	Delay  int64   // ns, the mean delay beyond the shortest
	Error  int64   // ns, by which offset and rate miss the shortest delays
	Jumps  int     // how often it was set, or began anew
	Varies bool    // the rate is not constant: times follow the recorded ones
	Apart  bool    // nothing relates it to the recorder's
	Same   bool    // it is the recorder's: the offset is a delay
	Given  bool    // the offset was given
	Drift  float64 // parts of 1 by which the recorder's clock runs faster; NaN = not known
}

// driftSpan is over how many ns a drift of the clock shows.
const driftSpan = 60e9

// Clocks returns the clocks by name.
func (m *Model) Clocks() []Clock {
	var out []Clock
	for name, c := range m.clocks {
		if len(c.pieces) == 0 || m.stands(name) {
			continue
		}
		k := Clock{Sender: name, Jumps: len(c.pieces) - 1}
		best := c.pieces[0]
		for _, p := range c.pieces {
			k.N += p.n
			if p.n > best.n {
				best = p
			}
		}
		k.Offset, k.Rate, k.Error = best.least, best.rate, int64(best.error)
		k.Delay = int64(best.mean) + best.first - best.least
		k.Varies, k.Apart, k.Same = best.relation == bent, best.relation == unknown, best.relation == shifted && best.offset == 0
		k.Drift = math.NaN()
		if a, b := best.knots[0], best.knots[len(best.knots)-1]; best.relation == shifted && b.logged-a.logged > driftSpan {
			if slope := best.line(); slope > 0 {
				k.Drift = slope - 1
			}
		}
		if best.relation != shifted {
			k.Offset, k.Delay = best.logged(best.knots[0].stamp)-best.knots[0].stamp, 0
		}
		if o, ok := m.given[name]; ok {
			k.Offset, k.Given, k.Same = o, true, false
		}
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b Clock) int { return cmp.Compare(a.String(), b.String()) })
	return out
}

// stands reports whether none of the stamps of a clock counts time.
func (m *Model) stands(name Sender) bool {
	return !slices.ContainsFunc(m.streams, func(s *stream) bool { return s != nil && s.clock == name && !s.unused() })
}

// Align has a clock be off where it may as well be the messages that are under way: the
// shortest delay counts as none.
func (m *Model) Align(name Sender) {
	m.Finish()
	k := m.clocks[name]
	if _, given := m.given[name]; k == nil || given || m.Timeless() {
		return
	}
	for _, p := range k.pieces {
		if p.relation == shifted {
			p.offset = p.least
		}
	}
}

// Times is what is known of the times of one topic.
type Times struct {
	N         int     // messages that count
	Wild      int     // messages with times far from all others
	Late      int     // messages that are stored behind later ones of the topic
	Behind    int64   // ns, how far messages are stored behind later ones of the log
	Unordered bool    // messages are stored in no order
	Coarse    int64   // ns, the step between messages of which several have one stamp; 0 = they do not
	Stamped   bool    // most messages have stamps
	Unused    bool    // stamps are not used: nearly all are the same, or they are misread
	Misread   float64 // of stamps in another unit: at which share of the recorder's rate they run; 0 = they are not
	Standing  int     // messages at which the clock of the stamps stood still: the times of recording are used
	Untimed   int     // messages without a stamp in a log without times of recording
	Bursts    *Bursts // messages come in bursts
	Step      int64   // ns, the median step
	Spread    int64   // ns, between the quartiles of the steps
	Rate      float64 // Hz, in the mean
	First     int64   // ns, the lowest time
	Last      int64   // ns, the highest
	Jumps     []int64 // ns, by which the times jump where they begin anew
}

// Of returns what is known of a topic; its stamps count where it has any.
func (m *Model) Of(topic int) Times {
	var t Times
	for i := range 2 {
		k := 2*topic + i
		if k >= len(m.streams) || m.streams[k] == nil {
			continue
		}
		s := m.streams[k]
		t.N += s.n
		t.Wild += s.wild
		t.Late += s.late
		t.Behind = max(t.Behind, s.behind, m.recorded.behindOf(topic))
		t.Unordered = t.Unordered || s.unordered
		if s.stamped {
			t.Unused, t.Misread = s.unused(), s.misread()
		} else if m.Timeless() || s.still() {
			t.Untimed = s.n
			continue
		}
		if 2*s.n < t.N {
			continue
		}
		t.Stamped, t.First, t.Last = s.stamped, s.low, s.high
		t.Coarse, t.Step, t.Standing = s.coarse(), s.steps.Median(), s.standing
		t.Spread = s.steps.Spread()
		t.Jumps, t.Bursts = nil, s.bursts()
		for _, e := range s.events {
			t.Jumps = append(t.Jumps, e.by)
		}
		t.Rate = s.rate()
		switch {
		case t.Unused && s.to > s.from:
			t.Step, t.Rate = (s.to-s.from)/int64(s.n-1), float64(s.n-1)/(1e-9*float64(s.to-s.from))
		case t.Coarse > 0:
			t.Step, t.Rate = t.Coarse, 1e9/float64(t.Coarse)
		case s.unordered:
			t.Step = (s.high - s.low) / int64(max(1, s.n-1))
		}
	}
	return t
}

// bursts describes the bursts in which a stream without stamps arrives; nil where there are none.
func (s *stream) bursts() *Bursts {
	if s.stamped || s.unordered {
		return nil
	}
	return s.steps.Bursts()
}
