package timebase

// begins is, in ns, by how much a stream runs before another one resumes, where the clock was
// not set: at a clock that was set topics may appear that were not there before.
const begins = 500e6

// ran reports whether another topic of the clock of a stream ran on when the stream resumed at
// a time (ns).
func (m *Model) ran(s *stream, at int64) bool {
	for _, o := range m.streams {
		if o == nil || o == s || o.clock != s.clock || o.unordered || o.constant() {
			continue
		}
		for _, e := range o.epochs {
			if e.low <= at-begins && e.high >= at {
				return true
			}
		}
	}
	return false
}

// join takes back the events by which a stream only paused, as commands do while a robot
// waits: no clock was set.
func (s *stream) join(ran func(s *stream, at int64) bool) {
	if len(s.epochs) != len(s.events)+1 {
		return
	}
	events, epochs := s.events, s.epochs
	s.events, s.epochs = nil, epochs[:1:1]
	for i, e := range events {
		last, next := &s.epochs[len(s.epochs)-1], epochs[i+1]
		if by := next.low - last.high; by > far && e.by == by && ran(s, next.low) {
			s.resumed = append(s.resumed, e.at)
			last.high = next.high
			continue
		}
		s.events, s.epochs = append(s.events, e), append(s.epochs, next)
	}
}
