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
