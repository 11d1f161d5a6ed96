package timebase

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
