package timebase

import "slices"

// few is the messages of a stream before its times began anew, where they are too few to show it: a robot may be armed once, and
// restart.
type few struct {
	messages []waiting
	anew     *event // nil: the times did not
}

// restore has messages of a stream count that are too few to show that its times began anew, where another stream of the clock shows
// it.
func (m *Model) restore(s *stream) {
	for _, o := range m.streams {
		if o == nil || o == s || o.clock != s.clock || o.stamped != s.stamped || o.unordered || o.unused() || len(o.events) == 0 || len(o.epochs) != len(o.events)+1 {
			continue
		}
		s.far = slices.DeleteFunc(s.far, func(w waiting) bool {
			if o.epochOf(w) < 0 {
				return false
			}
			s.wild--
			return true
		})
		if f := &s.few; f.anew != nil && len(s.epochs) == len(s.events)+1 && !slices.ContainsFunc(f.messages, func(w waiting) bool { return o.epochOf(w) < 0 }) &&
			o.epochOf(f.messages[len(f.messages)-1]) < o.epochOf(waiting{s.begin, s.epochs[0].low, f.anew.logged}) {
			s.wild -= len(f.messages)
			s.n += len(f.messages)
			before := interval{f.messages[0].t, f.messages[0].t}
			for _, w := range f.messages {
				before.low, before.high = min(before.low, w.t), max(before.high, w.t)
			}
			s.events, s.epochs = slices.Insert(s.events, 0, *f.anew), slices.Insert(s.epochs, 0, before)
			s.begin, s.few = f.messages[0].at, few{}
		}
	}
}

// epochOf returns in which epoch of a stream a message of another one is, by its place in the log and its time; −1 = in none.
func (s *stream) epochOf(w waiting) int {
	k := 0
	for k < len(s.events) && s.events[k].at <= w.at {
		k++
	}
	if e := s.epochs[k]; w.t >= e.low-back && w.t <= e.high+back {
		return k
	}
	// It may begin anew before the stream does.
	if k < len(s.events) && s.events[k].at-w.at < fewBefore && abs(w.logged-s.events[k].logged) <= oneCause && w.t >= s.epochs[k+1].low-back && w.t <= s.epochs[k+1].high+back {
		return k + 1
	}
	return -1
}
