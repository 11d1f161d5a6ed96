package timebase

// Pausing is how many usual steps a step is longer than where a stream pauses, of topics and of
// tables alike: over so many, windows and a robot's history reach across what is missing, so that
// two or three lost messages are no pause, and nothing is learned or predicted across one.
const Pausing = 5

// Far is, in ns, what no pause in a log is expected to last: the clock was set, or another
// recording begins.
const Far = 120e9

// begins is, in ns, by how much a stream runs before another one resumes, where the clock was
// not set: at a clock that was set topics may appear that were not there before.
const begins = 500e6

// ran reports whether another topic ran on while a stream paused from a time until another (ns).
func (m *Model) ran(s *stream, from, until int64) bool {
	for _, o := range m.streams {
		switch {
		case o == nil || o == s || o.unordered || o.unused():
		case o.clock == s.clock && o.covers(until):
			return true
		case s.clock == (Sender{}) && !s.stamped && o.recorded(from, until):
			return true
		}
	}
	return false
}

// covers reports whether a time is within an epoch, and not where it begins.
func (s *stream) covers(t int64) bool {
	for _, e := range s.epochs {
		if e.low <= t-begins && e.high >= t {
			return true
		}
	}
	return false
}

// recorded reports whether messages were recorded from a time until another, in one epoch.
func (s *stream) recorded(from, until int64) bool {
	if s.from > from || s.to < until {
		return false
	}
	for _, e := range s.events {
		if e.logged > from && e.logged <= until+oneCause {
			return false
		}
	}
	return true
}

// join takes back the events by which a stream only paused, as commands do while a robot
// waits: no clock was set.
func (s *stream) join(ran func(s *stream, from, until int64) bool) {
	if len(s.epochs) != len(s.events)+1 {
		return
	}
	events, epochs := s.events, s.epochs
	s.events, s.epochs = nil, epochs[:1:1]
	for i, e := range events {
		last, next := &s.epochs[len(s.epochs)-1], epochs[i+1]
		if by := next.low - last.high; by > Far && e.by == by && ran(s, last.high, next.low) {
			s.resumed = append(s.resumed, e.at)
			last.high = next.high
			continue
		}
		s.events, s.epochs = append(s.events, e), append(s.epochs, next)
	}
}

// stay is the messages in a row that have one stamp.
type stay struct {
	first  waiting
	n      int   // messages; 0 = there are none
	last   int   // number of the last one
	logged int64 // ns, when that was recorded
	still  bool  // the clock stands still, and the first message is taken back
}

// numbers are those of the first and the last message of a part of a log.
type numbers struct{ first, last int }

// repeats reports whether a message that counts has the stamp of the one before. Only the first
// of these shows how the clocks are related, and none where the clock stands still.
func (s *stream) repeats(w waiting, fresh bool) bool {
	if s.stay.n > 0 && !fresh && w.t == s.stay.first.t {
		s.stay.n++
		s.stay.last, s.stay.logged = w.at, w.logged
		if !s.stay.still && s.stay.longer(s.whole) {
			s.of.forget(s.stay.first.at)
			s.stay.still = true
		}
		return true
	}
	s.leave(w.t)
	s.stay = stay{first: w, n: 1, last: w.at, logged: w.logged}
	return false
}

// longer reports whether messages go on with one stamp for longer than stamps that are so far
// apart explain, ns: the clock stands still.
func (s *stay) longer(apart int64) bool { return s.logged-s.first.logged-apart > ahead }

// leave ends the messages with one stamp before the next stamp. Where the clock stood still, they
// have none.
func (s *stream) leave(next int64) {
	if s.stay.n > 0 && s.stay.longer(max(next-s.stay.first.t, s.whole)) && len(s.stood) < most {
		s.stood = append(s.stood, numbers{s.stay.first.at, s.stay.last})
		s.standing += s.stay.n
		s.again -= s.stay.n - 1
	}
	s.stay = stay{}
}

// stands reports whether the clock stood still at a message.
func (c *cursor) stands(n int) bool {
	for c.stood < len(c.s.stood) && c.s.stood[c.stood].last < n {
		c.stood++
	}
	return c.stood < len(c.s.stood) && n >= c.s.stood[c.stood].first
}
