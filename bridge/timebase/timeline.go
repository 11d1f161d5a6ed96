package timebase

import (
	"cmp"
	"slices"
)

// Timeline places the messages of a log, which come in the order in which a [Model] saw
// them, on the clock of one topic. Where the clock of a topic that is used began anew, an
// epoch begins: nothing before it can be compared with what follows.
type Timeline struct {
	Sorted bool  // messages do not come in the order of their times, and must be sorted by epoch and time
	Behind int64 // ns, how far messages come behind later ones, where they need not be sorted

	m      *Model
	home   Sender // the clock that counts
	n      int    // messages so far
	latest int64  // ns, when the last one with a stamp was recorded
	used   []*cursor
	epochs []epoch
	homes  []*piece // of each epoch: that of the clock home
	shifts []int64  // of each epoch: ns, what is added to times of that clock, which began anew
}

// epoch is a cluster of events of several topics.
type epoch struct {
	at     int // the number of its first message
	logged int64
	by     int64 // ns, the largest jump
	back   bool  // stamps of the clock that counts go back
	behind bool  // times of any topic go back
	jumps  bool  // the relation of a clock to the recorder's jumps
}

// cursor is the place in a stream.
type cursor struct {
	s       *stream
	starts  []int  // the number of the message with which the stream is in each epoch
	shows   []bool // of each epoch: the stream shows it itself
	epoch   int
	last    int64
	delay   int64
	least   int64
	begun   bool
	pieces  []*piece // of each epoch: that of the clock; nil = none
	skipped bool     // its stamps are not used
	stood   int      // how often the clock stood still before
}

// Between events of one cause there is less, ns of recorded time.
const oneCause = 3e9

// Timeline returns the times of a log on the clock of topic base. used are the topics that
// count.
func (m *Model) Timeline(base int, used []int) *Timeline {
	m.Finish()
	tl := &Timeline{m: m, used: make([]*cursor, len(m.streams))}
	clocks := tl.clocks(base, used)
	tl.begin(m.events(clocks))
	for k := range len(tl.epochs) + 1 {
		tl.homes = append(tl.homes, m.piece(tl.home, tl.epochs, k))
		tl.shifts = append(tl.shifts, 0)
		if k > 0 {
			tl.shifts[k] = tl.shift(k)
		}
	}
	tl.Sorted = len(tl.epochs) > 0 || m.Timeless() && len(used) > 1
	for _, topic := range used {
		for _, s := range m.of(topic) {
			tl.Sorted = tl.Sorted || s.unordered
			tl.Behind = max(tl.Behind, m.recorded.behindOf(topic)+s.waits())
		}
	}
	tl.Sorted = tl.Sorted || tl.Behind > mostBehind
	return tl
}

// clocks returns those of the topics that count, and finds the one of topic base.
func (tl *Timeline) clocks(base int, used []int) map[Sender]bool {
	clocks := map[Sender]bool{}
	for _, topic := range used {
		for _, s := range tl.m.of(topic) {
			clocks[s.clock] = true
			if s == tl.m.main(topic) && topic == base && s.stamped && !s.unused() {
				tl.home = s.clock
			}
		}
	}
	return clocks
}

// eventOf is an event of a stream, or of a clock: of all its streams.
type eventOf struct {
	event
	streams []int
	jumps   bool
}

// events returns those of all streams of the clocks, and of the clocks, in the order of the log.
func (m *Model) events(clocks map[Sender]bool) (all []eventOf) {
	for i, s := range m.streams {
		if s == nil || !clocks[s.clock] || s.unused() {
			continue
		}
		for _, e := range s.events {
			all = append(all, eventOf{e, []int{i}, false})
		}
	}
	for name, c := range m.clocks {
		if !clocks[name] || m.stands(name) {
			continue
		}
		var own []int
		for i, s := range m.streams {
			if s != nil && s.clock == name {
				own = append(own, i)
			}
		}
		for _, p := range c.pieces {
			if p.jumped {
				all = append(all, eventOf{event{at: p.from, logged: p.begin, by: p.jump}, own, true})
			}
		}
	}
	slices.SortFunc(all, func(a, b eventOf) int { return cmp.Compare(a.at, b.at) })
	return all
}

// begin makes epochs of the events of one cause, and cursors with the streams' own.
func (tl *Timeline) begin(all []eventOf) {
	own := make([]map[int]int, len(tl.m.streams)) // by epoch: the number of the stream's event
	for i := range own {
		own[i] = map[int]int{}
	}
	for _, e := range all {
		k := len(tl.epochs) - 1
		if k < 0 || abs(e.logged-tl.epochs[k].logged) > oneCause || slices.ContainsFunc(e.streams, func(i int) bool { return own[i][k+1] != 0 }) {
			tl.epochs = append(tl.epochs, epoch{at: e.at, logged: e.logged})
			k++
		}
		at := &tl.epochs[k]
		at.behind, at.jumps = at.behind || e.back, at.jumps || e.jumps
		if abs(e.by) > abs(at.by) {
			at.by = e.by
		}
		for _, i := range e.streams {
			own[i][k+1] = e.at
			at.back = at.back || e.back && tl.m.streams[i].clock == tl.home
		}
	}
	for i, s := range tl.m.streams {
		if s != nil {
			tl.used[i] = tl.cursor(s, own[i])
		}
	}
}

// shift returns what is added to the times of an epoch, ns. Where the clock that counts began
// anew and the recorder's did not, times go on as the recorder's do.
func (tl *Timeline) shift(k int) int64 {
	first, now := tl.homes[0], tl.homes[k]
	if !tl.epochs[k-1].back || now == nil || first.relation == unknown || now.relation == unknown {
		return tl.shifts[k-1]
	}
	stamp := now.knots[0].stamp
	if d := first.stamp(now.logged(stamp)) - stamp; abs(d) > certain {
		return d
	}
	return 0
}

// waits returns how long after the time of a row what it needs of a stream is recorded at most, ns: the message with that time or, between
// two of them, the next one.
func (s *stream) waits() int64 {
	most := s.lag
	if s.of == nil && s.stamped && s.begun { // the recorder's clock: a delay that all messages have counts, too
		most += max(0, s.least)
	}
	if s.of != nil {
		for _, p := range s.of.pieces {
			most = max(most, s.lag+p.least-p.offset)
		}
	}
	if most > 0 {
		most += min(Reorder, s.steps.Usual())
	}
	return s.behind + most
}

// Reorder is, in ns, by how much messages may be stored behind later ones in any log: a
// Joiner waits so long at least.
const Reorder = int64(250e6)

// mostBehind is, in ns, by how much messages are behind later ones at most without being
// sorted.
const mostBehind = 2e9

func (tl *Timeline) cursor(s *stream, own map[int]int) *cursor {
	c := &cursor{s: s, skipped: s.unused()}
	for k := range len(tl.epochs) {
		at, ok := own[k+1]
		if !ok {
			at = tl.epochs[k].at
		}
		c.starts, c.shows = append(c.starts, at), append(c.shows, ok)
	}
	for k := range len(tl.epochs) + 1 {
		c.pieces = append(c.pieces, tl.m.piece(s.clock, tl.epochs, k))
	}
	return c
}

// piece returns which piece of a clock holds in an epoch, nil for the recorder's.
func (m *Model) piece(name Sender, epochs []epoch, n int) (found *piece) {
	k := m.clocks[name]
	if k == nil {
		return nil
	}
	for i, p := range k.pieces {
		of := 0
		for of < len(epochs) && epochs[of].at <= p.from {
			of++
		}
		if i == 0 || of <= n {
			found = p
		}
	}
	return found
}

func (m *Model) of(topic int) (all []*stream) {
	for i := 2 * topic; i < min(2*topic+2, len(m.streams)); i++ {
		if m.streams[i] != nil {
			all = append(all, m.streams[i])
		}
	}
	return all
}

// main returns the stream of most messages of a topic, nil without one.
func (m *Model) main(topic int) *stream {
	all := m.of(topic)
	if len(all) == 0 {
		return nil
	}
	return slices.MaxFunc(all, func(a, b *stream) int { return cmp.Compare(a.n, b.n) })
}

// Place returns where the next message of the log belongs: the epoch, from 0, and its time
// (ns). ok is false where it has none.
func (tl *Timeline) Place(topic int, stamped bool, t, logged int64) (epoch int, at int64, ok bool) {
	n := tl.n
	tl.n++
	i := 2 * topic
	if stamped {
		i++
	}
	if i >= len(tl.used) || tl.used[i] == nil {
		return 0, 0, false
	}
	c := tl.used[i]
	for c.epoch < len(c.starts) && (n >= c.starts[c.epoch] || tl.early(c, n, t, logged)) {
		c.epoch++
		c.begun = false
	}
	if stamped {
		tl.latest = logged
	}
	if !c.skipped && !c.counts(n, t, logged) {
		return 0, 0, false
	}
	switch {
	case c.skipped, c.stands(n):
		t, stamped = logged, false
	case !stamped && c.s.still():
		return 0, 0, false
	}
	at, ok = tl.common(c, stamped, t)
	return c.epoch, at, ok
}

// A topic of few messages may begin anew before others show it, by so many messages.
const fewBefore = 5000

// early reports whether a message of a topic that does not show the next epoch itself is in it
// all the same: its time goes back shortly before the epoch begins or, without a stamp, it is recorded nearer to that than to the
// last stamp before.
func (tl *Timeline) early(c *cursor, n int, t, logged int64) bool {
	e := &tl.epochs[c.epoch]
	nearer := !c.s.stamped && tl.latest != 0 && logged-tl.latest > e.logged-logged
	return !c.shows[c.epoch] && c.begun && (t < c.last || nearer) && e.at-n < fewBefore && abs(logged-e.logged) <= oneCause
}

// counts reports whether a message counts, as stream.add decides.
func (c *cursor) counts(n int, t, logged int64) bool {
	s := c.s
	d := logged - t
	if slices.Contains(s.resumed, n) {
		c.begun = false
	}
	switch {
	case s.unordered:
		return true
	case n < s.begin, slices.Contains(s.outliers, n):
		return false
	case s.loose:
		e := s.epochs[min(len(s.epochs)-1, c.own())]
		return t >= e.low-back && t <= e.high
	case c.begun && t < c.last:
		return t >= s.epochs[min(len(s.epochs)-1, c.own())].low-back
	case c.begun && (t-c.last > Far || s.stamped && (d < c.least-ahead || d > c.delay+longest)):
		return false
	}
	if !c.begun {
		c.begun, c.least = true, d
	}
	c.last, c.delay, c.least = t, d, min(c.least, d)
	return true
}

// own returns how many of its events the stream is behind.
func (c *cursor) own() (n int) {
	for _, e := range c.s.events {
		for _, at := range c.starts[:c.epoch] {
			if at == e.at {
				n++
			}
		}
	}
	return n
}

// common returns a time of a stream on the clock that counts.
func (tl *Timeline) common(c *cursor, stamped bool, t int64) (at int64, ok bool) {
	switch p := c.pieces[c.epoch]; {
	case stamped && c.s.clock == tl.home:
		return t + tl.shifts[c.epoch], true
	case stamped && p != nil:
		if p.relation == unknown {
			return 0, false
		}
		t = p.logged(t)
	case tl.m.Timeless():
		return 0, false
	}
	home := tl.homes[c.epoch]
	if home == nil {
		return t, true
	}
	return home.stamp(t) + tl.shifts[c.epoch], home.relation != unknown
}

// Recorded returns a time of the recorder on the clock that counts, for what is no message.
func (tl *Timeline) Recorded(logged int64) int64 {
	epoch := 0
	for epoch < len(tl.epochs) && tl.n >= tl.epochs[epoch].at {
		epoch++
	}
	if home := tl.homes[epoch]; home != nil && !tl.m.Timeless() && home.relation != unknown {
		return home.stamp(logged) + tl.shifts[epoch]
	}
	return logged
}

// Jumps returns how often an epoch begins, and the largest jump of time (ns). ahead reports that
// no time goes back: nothing may have been recorded for long.
func (tl *Timeline) Jumps() (n int, largest int64, ahead bool) {
	ahead = true
	for _, e := range tl.epochs {
		ahead = ahead && !e.behind && !e.jumps
		if abs(e.by) > abs(largest) {
			largest = e.by
		}
	}
	return len(tl.epochs), largest, ahead
}

// Restarts reports whether a sender began anew with an epoch, and not only its clock was
// set: time goes back by more than messages are late.
func (tl *Timeline) Restarts(epoch int) bool {
	return epoch > 0 && epoch <= len(tl.epochs) && tl.epochs[epoch-1].behind && tl.epochs[epoch-1].by < -back
}

// Step returns the step of messages of a topic that have one stamp, ns; 0 where that is a
// repetition.
func (tl *Timeline) Step(topic int) int64 {
	if s := tl.m.main(topic); s != nil && !s.unused() {
		return s.coarse()
	}
	return 0
}
