package timebase

import "math"

// Model is what one pass over a log shows of its times: for each topic the order of its
// messages and where its times begin anew, for each sender's clock its offset from the
// recorder's, its rate, and where it was set. Memory does not depend on the length of the
// log. A [Timeline] made of it places each message in a second pass.
type Model struct {
	n        int       // messages so far
	streams  []*stream // two for each topic: recorded times, stamps; nil = none
	clocks   map[Sender]*clock
	recorded recorder
	given    map[Sender]int64 // offsets that are known, ns
	buf      []waiting
	done     bool
}

// recorder is what is known of the recorder's clock.
type recorder struct {
	n, moved int
	last     int64
	high     int64
	begun    bool    // high is set
	behind   []int64 // ns, by topic: how far its records are stored behind later ones
	topic    int     // of the last message
	leap     bool    // that one has a time long behind that of the one before it, which is of another topic
	leads    []lead  // by topic
}

// Sender is whose clock stamps count; the zero value is the recorder.
type Sender struct {
	Name         string
	Synchronised bool // its stamps count since 1970, where others of that name count since it began
}

func (s Sender) String() string {
	if s.Synchronised {
		return s.Name + " (synchronised)"
	}
	return s.Name
}

// maxClocks bounds the senders that are kept apart.
const maxClocks = 256

// Give sets the offset of a clock, ns, which is then not estimated: recorder's time =
// stamp + offset. Of the clock's pieces all have it.
func (m *Model) Give(clock Sender, offset int64) {
	if m.given == nil {
		m.given = map[Sender]int64{}
	}
	m.given[clock] = offset
}

// Add adds the times of the next message of a log, ns: when it was measured, by the clock
// of its sender where it is stamped, and when it was recorded.
func (m *Model) Add(topic int, sender Sender, stamped bool, t, logged int64) {
	at := m.n
	m.n++
	m.recorded.add(topic, logged)
	s := m.stream(topic, sender, stamped)
	var fresh bool
	m.buf, fresh = s.add(waiting{at, t, logged}, m.buf)
	for _, w := range m.buf {
		if w.at == s.doubt.at && w.at < at { // it waited for the next one
			m.recorded.high = max(m.recorded.high, w.logged)
		} else {
			m.recorded.order(topic, w.logged)
		}
		if s.of == nil {
			continue
		}
		if !s.repeats(w, fresh) {
			var anew *stream
			if fresh {
				anew = s
			}
			s.of.add(w, anew)
		}
		fresh = false
	}
}

func (r *recorder) add(topic int, logged int64) {
	if r.n > 0 && logged != r.last {
		r.moved++
	}
	if r.leap {
		r.lands(topic, logged)
	}
	r.leap = logged-r.last > leading && topic != r.topic && r.n > 0
	r.n, r.last, r.topic = r.n+1, logged, topic
}

// order takes the time of a message that counts.
func (r *recorder) order(topic int, logged int64) {
	for topic >= len(r.behind) {
		r.behind = append(r.behind, 0)
	}
	if !r.begun {
		r.high, r.begun = logged, true
	}
	r.behind[topic] = max(r.behind[topic], r.high-logged)
	r.high = max(r.high, logged)
}

// behindOf returns how far messages of a topic are stored behind later ones, ns.
func (r *recorder) behindOf(topic int) int64 {
	if topic >= len(r.behind) {
		return 0
	}
	return r.behind[topic]
}

func (m *Model) stream(topic int, sender Sender, stamped bool) *stream {
	i := 2 * topic
	if stamped {
		i++
	}
	for i >= len(m.streams) {
		m.streams = append(m.streams, nil)
	}
	if m.streams[i] == nil {
		m.streams[i] = &stream{stamped: stamped}
		if stamped && sender != (Sender{}) {
			m.streams[i].clock, m.streams[i].of = sender, m.clock(sender)
		}
	}
	return m.streams[i]
}

// clock returns the clock of a sender, nil where there are too many.
func (m *Model) clock(name Sender) *clock {
	k := m.clocks[name]
	if k == nil && len(m.clocks) < maxClocks {
		if m.clocks == nil {
			m.clocks = map[Sender]*clock{}
		}
		k = &clock{}
		m.clocks[name] = k
	}
	return k
}

// Finish ends the pass.
func (m *Model) Finish() {
	if m.done {
		return
	}
	m.done = true
	for _, s := range m.streams {
		if s == nil {
			continue
		}
		s.leave(s.stay.first.t)
		s.finish()
	}
	for _, s := range m.streams {
		if s != nil && !s.unordered {
			m.restore(s)
		}
	}
	for _, s := range m.streams {
		if s != nil && !s.unordered {
			s.join(m.ran)
		}
	}
	for name, c := range m.clocks {
		c.fit()
		for _, p := range c.pieces {
			if o, ok := m.given[name]; ok {
				p.relation, p.offset, p.rate = shifted, o, 1
			} else if m.Timeless() { // nothing relates the stamps but that they are stamps
				p.relation, p.offset, p.rate = shifted, 0, 1
			}
		}
	}
}

// Timeless reports whether the log does not say when messages were recorded: all have one
// time, which is 0 or that of many.
func (m *Model) Timeless() bool {
	r := &m.recorded
	return r.moved == 0 && r.n > 1 && (r.last == 0 || r.n >= 4*agree)
}

// Unit returns in which unit the recorder's times are, ns; 1 = they are ns, as they should be. They are in another one where
// most messages would follow each other faster than any robot sends them, and the times would count since 1970 in that unit,
// or the stamps run so much faster.
func (m *Model) Unit() int64 {
	fast, all := 0, 0
	first, faster, least := int64(math.MaxInt64), 0.0, math.Inf(1)
	for _, s := range m.streams {
		if s == nil || s.n < fewestMistimed {
			continue
		}
		step := float64(s.to-s.from) / float64(s.n-1)
		if least, all = min(least, step), all+s.n; step < leastStep {
			fast += s.n
		}
		if first = min(first, s.from); s.stamped && s.to > s.from {
			faster = float64(s.last-s.epochs[len(s.epochs)-1].low) / float64(s.to-s.from)
		}
	}
	if m.Timeless() || 2*fast <= all {
		return 1
	}
	for _, unit := range []int64{1e3, 1e6, 1e9} {
		since, step := float64(first)*float64(unit), least*float64(unit)
		if step >= leastStep && step < slowest && (since > century && since < 5*century || math.Abs(faster/float64(unit)-1) < 0.1) {
			return unit
		}
	}
	return 1
}

const (
	century = 9e17 // ns, about when this one began, since 1970
	slowest = 1e9  // ns, the longest step of a robot's fastest topic
)
