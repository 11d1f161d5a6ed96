package timebase

import (
	"cmp"
	"slices"
)

// stream is what is known of the times of one topic's messages, in the order in which they
// are stored. A time that goes back, or far ahead, waits until agree messages agree with
// it: then the clock was set, and an epoch begins; else it came late, or is wild.
type stream struct {
	clock    Sender
	of       *clock // nil: it is not known
	stamped  bool   // times are the sender's, else the recorder's
	n        int    // messages that count
	wild     int    // messages with times far from all others
	late     int    // messages that are stored behind later ones
	behind   int64
	lag      int64     // ns, the longest time from stamp to record beyond the shortest, of this topic
	again    int       // messages with the time of the one before
	ends     [2]int    // messages with the first stamp, and with the last one
	second   int64     // ns, the stamp behind the first
	arrivals Steps     // of a stamped topic: between the times of recording
	stay     stay      // of messages with one stamp, the last
	stood    []numbers // messages at which the clock stood still
	standing int       // these
	begin    int       // number of the first message that counts
	begun    bool
	loose    bool  // messages came late by more than they are expected to: their epochs alone decide
	resumed  []int // numbers of messages behind pauses longer than Far
	events   []event
	epochs   []interval // between the events, by time
	parts    []interval // of times that rise without a pause, in the order in which they are stored
	waiting  []waiting
	doubts   bool    // the last message may be wild
	doubt    waiting // this one
	outliers []int   // numbers of messages that were
	few      few
	far      []waiting // of the wild ones, as many as are kept

	low, high   int64 // ns, the lowest and the highest of all times
	from, to    int64 // ns, when the first and the last message that counts were recorded
	last, delay int64 // ns, of the last message that counts: time, and time from stamp to record
	least       int64 // ns, the shortest of these since the last event
	steps       Steps
	whole       int64 // ns, a unit of which all times are multiples: 1 s, …, 1 ms, or less: 0
	unordered   bool  // stored in no order: it has no epochs
}

// event is a message with which the times of a stream begin anew.
type event struct {
	at     int   // number of the message in the file
	logged int64 // ns, when it was recorded
	by     int64 // ns, by how much the time differs from what was expected
	back   bool  // it is before the one that precedes it
	on     bool  // the recorder's clock goes on
	delay  int64 // ns, the shortest before it
	caught int64 // ns of the recorder, until that is the delay again; 0 = never
}

// interval is a span of times, ns.
type interval struct{ low, high int64 }

// waiting is a message that is not yet counted.
type waiting struct {
	at        int
	t, logged int64
}

const (
	agree     = 5      // messages in a row that show that a clock was set
	back      = 10e9   // ns, by how much a message may be older than all before it
	longest   = 60e9   // ns, what no message is under way beyond the one before it
	ahead     = 500e6  // ns, by how much the delay of a message is less than the shortest only if a clock was set
	steady    = 1.8    // of the median step: steps of a clock that was set are not longer
	disorder  = 0.1    // share of the messages that are late or wild in what has no order
	most      = 1 << 9 // events that are kept
	mostParts = 1 << 12
)

// add takes a message. It returns the messages that count by it: none, this one, or all
// that agree on a clock that was set, which fresh reports.
func (s *stream) add(m waiting, buf []waiting) (counted []waiting, fresh bool) {
	if !s.begun && s.n+s.wild == 0 {
		s.low, s.high = m.t, m.t
	}
	s.low, s.high = min(s.low, m.t), max(s.high, m.t)
	buf = buf[:0]
	if s.doubts {
		if s.doubts = false; m.t < s.doubt.t && m.logged < s.doubt.logged && s.follows(m) {
			s.outliers = append(s.outliers, s.doubt.at)
			s.wild++
		} else {
			s.accept(s.doubt)
			buf = append(buf, s.doubt)
		}
	} else if s.doubts = s.doubtful(m); s.doubts {
		s.doubt = m
		return buf, false
	}
	if s.follows(m) && !s.continues(m) {
		s.reject()
		s.accept(m)
		return append(buf, m), false
	}
	if k := len(s.waiting); k > 0 {
		w := s.waiting[k-1]
		if d := m.t - w.t; d < 0 || d > Far {
			s.reject()
		}
	}
	s.waiting = append(s.waiting, m)
	if len(s.waiting) < agree {
		return buf, false
	}
	fresh = len(buf) == 0 // else what counts begins before
	counted = append(buf, s.waiting...)
	s.restart(s.waiting[0])
	for _, w := range s.waiting {
		s.accept(w)
	}
	s.waiting = s.waiting[:0]
	return counted, fresh
}

// doubtful reports whether a message may be wild, though it could follow: where stamps are the times of recording, too, one may be far
// ahead of all others.
func (s *stream) doubtful(m waiting) bool {
	step := m.t - s.last
	return step > back && step <= Far && abs(m.logged-m.t) <= ahead && s.begun && s.n >= 4*agree && len(s.waiting) == 0 && len(s.outliers) < most &&
		step > Pausing*s.steps.Usual()
}

// follows reports whether a message may come next.
func (s *stream) follows(m waiting) bool {
	d := m.logged - m.t
	return !s.begun || m.t >= s.last && m.t-s.last <= Far && (!s.stamped || d >= s.least-ahead && d <= s.delay+longest)
}

// continues reports whether a message that could follow the last one that counts also
// continues those that wait, from before that one, at the usual step. Behind messages that
// are late comes a gap as long as they are late; behind a clock that was set none does.
func (s *stream) continues(m waiting) bool {
	k := len(s.waiting)
	if k == 0 || s.waiting[0].t >= s.last {
		return false
	}
	usual := s.steps.Median()
	step := m.t - s.waiting[k-1].t
	return step > 0 && float64(step) < steady*float64(usual) && s.last-s.waiting[0].t >= 2*usual
}

// restart begins an epoch with a message.
func (s *stream) restart(m waiting) {
	if s.n < agree { // what came before is no epoch, unless other streams show it
		if s.few.anew == nil {
			s.few.anew = &event{m.at, m.logged, s.jump(m), m.t < s.last, m.logged >= s.to, s.least, 0}
			s.few.messages = s.few.messages[:s.n]
		}
		s.wild += s.n
		s.n, s.epochs, s.begin, s.parts, s.steps = 0, nil, m.at, nil, Steps{}
	} else if by := s.jump(m); len(s.events) < most {
		s.events = append(s.events, event{m.at, m.logged, by, m.t < s.last, m.logged >= s.to, s.least, 0})
	} else {
		s.unordered = true
	}
	s.begun = false
}

// began reports whether the times begin anew with a message: no event is taken back there.
func (s *stream) began(at int) bool {
	return at == s.begin || slices.ContainsFunc(s.events, func(e event) bool { return e.at == at })
}

// jump returns by how much the time of a message differs from what was expected.
func (s *stream) jump(m waiting) int64 {
	if by := s.delay - (m.logged - m.t); s.stamped && m.t >= s.last && abs(by) > ahead {
		return by
	}
	if m.t < s.last {
		return m.t - s.last - s.steps.Median()
	}
	return m.t - s.last
}

// reject counts the messages that wait as late or wild.
func (s *stream) reject() {
	for _, w := range s.waiting {
		if w.t > s.last || w.t < s.epochs[len(s.epochs)-1].low-back {
			s.wild++
			if len(s.far) < most {
				s.far = append(s.far, w)
			}
			continue
		}
		s.late++
		s.behind = max(s.behind, s.last-w.t)
	}
	s.waiting = s.waiting[:0]
}

// accept counts a message.
func (s *stream) accept(m waiting) {
	d := m.logged - m.t
	if !s.begun {
		s.begun, s.least = true, d
		s.epochs = append(s.epochs, interval{m.t, m.t})
		s.part(m.t)
	} else {
		step := m.t - s.last
		if s.steps.Pause(step) {
			s.part(m.t)
		}
		s.steps.Add(step)
		if s.stamped {
			s.arrivals.Add(max(0, m.logged-s.to))
		}
		switch {
		case m.t == s.last:
			s.again++
			s.ends[1]++
		case s.second == 0:
			s.ends, s.second = [2]int{s.n, 1}, m.t
		default:
			s.ends[1] = 1
		}
	}
	if s.n == 0 {
		s.whole, s.from = 1e9, m.logged
	}
	s.to = m.logged
	for s.whole > 0 && m.t%s.whole != 0 {
		if s.whole /= 10; s.whole < 1e6 {
			s.whole = 0
		}
	}
	if s.few.anew == nil && s.n < agree {
		s.few.messages = append(s.few.messages, m)
	}
	s.n++
	s.last, s.delay, s.least = m.t, d, min(s.least, d)
	s.lag = max(s.lag, d-s.least)
	s.epochs[len(s.epochs)-1].high = m.t
	if k := len(s.events) - 1; k >= 0 && s.events[k].caught == 0 && abs(d-s.events[k].delay) <= jitter {
		s.events[k].caught = max(1, m.logged-s.events[k].logged)
	}
	if len(s.parts) < mostParts {
		s.parts[len(s.parts)-1].high = m.t
	}
}

// part begins a part.
func (s *stream) part(t int64) {
	if len(s.parts) < mostParts {
		s.parts = append(s.parts, interval{t, t})
	}
}

// finish decides what the order of the messages means.
func (s *stream) finish() {
	if s.doubts {
		s.accept(s.doubt)
	}
	if s.begun {
		s.reject()
	}
	all := s.n + s.late + s.wild
	if float64(s.late+s.wild) > disorder*float64(all) && all >= 4*agree && s.behind > Reorder || s.tiles() {
		s.unordered = true
	}
	if s.unordered {
		for _, e := range s.epochs {
			s.behind = max(s.behind, s.last-e.low)
		}
		s.events, s.late, s.wild, s.begin = nil, 0, 0, 0
		s.n, s.epochs = all, []interval{{s.low, s.high}}
		return
	}
	s.delayed()
}

// tiles reports whether the parts follow each other without a gap once they are sorted:
// then parts of a log are stored in another order, and no clock was set. A clock that is set
// back has times twice.
func (s *stream) tiles() bool {
	if !slices.ContainsFunc(s.events, func(e event) bool { return e.back }) {
		return false
	}
	parts := slices.Clone(s.parts)
	slices.SortFunc(parts, func(a, b interval) int { return cmp.Compare(a.low, b.low) })
	for i := 1; i < len(parts); i++ {
		if d := parts[i].low - parts[i-1].high; d < 0 || d > Pausing*s.steps.Usual() {
			return false
		}
	}
	return len(parts) < mostParts
}

// delayed takes back the events by which messages only came behind later ones, as those do that
// a link delivers after an outage: the recorder's clock goes on, and before it has gone on for
// as long as they are late, the delay is again what it was.
func (s *stream) delayed() {
	if !s.stamped || len(s.epochs) != len(s.events)+1 {
		return
	}
	events, epochs := s.events, s.epochs
	s.events, s.epochs = nil, epochs[:1:1]
	for i, e := range events {
		last, next := &s.epochs[len(s.epochs)-1], epochs[i+1]
		if late := last.high - next.low; e.back && e.on && late > Reorder && e.caught > 0 && e.caught <= late {
			s.loose, s.wild, s.behind = true, 0, max(s.behind, late)
			last.low, last.high = min(last.low, next.low), max(last.high, next.high)
			continue
		}
		s.events, s.epochs = append(s.events, e), append(s.epochs, next)
	}
}

// coarse returns the step between messages whose stamps are whole milliseconds, or coarser,
// so that several have one; 0 where stamps are not. Fewer may have the first and the last stamp than
// others: they were recorded in a part of its time.
func (s *stream) coarse() int64 {
	n := s.n - s.standing
	rate := s.rate()
	if s.whole == 0 || n < 20 || 10*s.again < n || s.again == n-1 || rate == 0 {
		return 0
	}
	if inner := n - s.ends[0] - s.ends[1]; inner > 0 && len(s.epochs) == 1 && s.standing == 0 && s.last > s.second {
		return (s.last - s.second) / int64(inner)
	}
	return int64(1e9 / rate)
}

// rate returns the messages in a second, without pauses; 0 where it is not known.
func (s *stream) rate() float64 {
	if s.unordered {
		return 1e9 * float64(s.n-1) / float64(max(1, s.high-s.low))
	}
	return s.steps.Rate() * (1 - float64(s.standing)/float64(max(1, s.n)))
}

// still reports whether times do not count time: nearly all are the same.
func (s *stream) still() bool { return s.n >= 4*agree && 50*(s.n-s.again-s.standing) < s.n }

// constant reports whether stamps are nearly all the same.
func (s *stream) constant() bool { return s.stamped && s.still() }

// A clock that runs slower or faster than the recorder's by more than farOff, where messages are recorded at steps that
// a robot has, is none: its stamps are written in another unit.
const (
	farOff         = 500
	leastStep      = 50e3  // ns
	mostStep       = 100e9 // ns
	fewestMistimed = 4 * agree
)

// misread returns at which share of the recorder's rate stamps run, where they are in no unit of time that they should be
// in; 0 = they count. Neither pauses nor the whole seconds of a stamp whose fractions are in another unit have a part in it.
func (s *stream) misread() float64 {
	rate, recorded := s.rate(), s.arrivals.Rate()
	if b := s.steps.Bursts(); b != nil && s.arrivals.Bursts() == nil { // that only the stamps have
		rate = float64(b.Messages) / b.Within
	}
	if !s.stamped || s.still() || s.n < fewestMistimed || rate == 0 || recorded < 1e9/mostStep || recorded > 1e9/leastStep {
		return 0
	}
	if off := recorded / rate; off < 1./farOff || off > farOff {
		return off
	}
	return 0
}

// unused reports whether stamps do not count time: times of recording do.
func (s *stream) unused() bool { return s.constant() || s.misread() > 0 }
