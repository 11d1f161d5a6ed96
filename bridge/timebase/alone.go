package timebase

import (
	"math"
	"slices"
)

// Two clocks that are one are not set apart: a driver, or a counter of its own, may move the stamps of one topic alone.
const (
	halfWay  = 2    // a topic moves as another one does if it is off by less than this part of the step
	nearStep = 60e9 // ns, in which messages on both sides of a step show it
)

// Doubts returns the topics of each clock that was set, it seems, where some of the topics that go on there do not show it themselves, or
// whose shortest delays differ by more than a delay does.
// Whether the stamps of these topics count one clock shows when each has a clock of its own: see [Model.Alone].
func (m *Model) Doubts() (groups [][]int) {
	m.Finish()
	for topic := range (len(m.streams) + 1) / 2 {
		s := m.stamps(topic)
		if s == nil || slices.ContainsFunc(groups, func(g []int) bool { return m.stamps(g[0]).of == s.of }) {
			continue
		}
		var group []int
		for o := topic; o < (len(m.streams)+1)/2; o++ {
			if x := m.stamps(o); x != nil && x.of == s.of {
				group = append(group, o)
			}
		}
		if len(group) > 1 && (m.differ(group) || slices.ContainsFunc(s.of.pieces[1:], func(p *piece) bool {
			return slices.ContainsFunc(group, func(topic int) bool { return !m.stamps(topic).shows(p.begin) })
		})) {
			groups = append(groups, group)
		}
	}
	return groups
}

// differ reports whether the shortest delays of topics of one clock that was not set differ by more than a delay does.
func (m *Model) differ(group []int) bool {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for _, topic := range group {
		s := m.stamps(topic)
		if len(s.events) > 0 || len(s.of.pieces) > 1 {
			return false
		}
		low, high = min(low, s.least), max(high, s.least)
	}
	return high-low > same
}

// stamps returns the stream of a topic's stamps, nil where they do not count one clock's time in order.
func (m *Model) stamps(topic int) *stream {
	i := 2*topic + 1
	if i >= len(m.streams) || m.streams[i] == nil {
		return nil
	}
	s := m.streams[i]
	if s.of == nil || len(s.of.pieces) == 0 || s.n < agree || s.unordered || s.unused() || m.Timeless() {
		return nil
	}
	return s
}

// shows reports whether the times of a stream begin anew about when it is recorded, or nothing of it is recorded before or behind.
func (s *stream) shows(logged int64) bool {
	return s.from >= logged-oneCause || s.to <= logged+oneCause ||
		slices.ContainsFunc(s.events, func(e event) bool { return abs(e.logged-logged) <= oneCause })
}

// Alone returns the topics whose stamps move alone: those of a group, which seemed to have one clock and have clocks of
// their own now, that step where most others do not, or do not where most others do.
func (m *Model) Alone(groups [][]int) (alone []int) {
	m.Finish()
	for _, group := range groups {
		alone = append(alone, m.shiftedOnes(group)...)
		for _, topic := range group {
			s := m.stamps(topic)
			if s == nil {
				continue
			}
			for i := range s.of.pieces[1:] {
				alone = append(alone, m.parted(group, s.of.pieces[i], s.of.pieces[i+1])...)
			}
		}
	}
	slices.Sort(alone)
	return slices.Compact(alone)
}

// shiftedOnes returns the topics of a group whose stamps are off by more than a delay from those of the most others, all the time.
func (m *Model) shiftedOnes(group []int) (alone []int) {
	type level struct {
		topic int
		by    int64
	}
	var levels []level
	at := int64(math.MinInt64)
	for _, topic := range group {
		if s := m.stamps(topic); s != nil {
			at = max(at, s.from+2*firstStretch)
		}
	}
	for _, topic := range group {
		s := m.stamps(topic)
		if s == nil || len(s.of.pieces) > 1 {
			continue
		}
		if k := s.of.pieces[0].knots; len(k) > 1 && k[0].logged <= at && at <= k[len(k)-1].logged {
			levels = append(levels, level{topic, at - along(k, at, func(k knot) (int64, int64) { return k.logged, k.stamp })})
		}
	}
	best := 0
	count := func(i int) (n int) {
		for _, o := range levels {
			if abs(o.by-levels[i].by) <= same {
				n++
			}
		}
		return n
	}
	for i := range levels {
		if count(i) > count(best) {
			best = i
		}
	}
	for _, o := range levels {
		if abs(o.by-levels[best].by) > same {
			alone = append(alone, o.topic)
		}
	}
	return alone
}

// parted returns the fewer of a group's topics where one of them goes from a piece to the next and not all others do as it does.
func (m *Model) parted(group []int, before, behind *piece) []int {
	from, to := before.knots[len(before.knots)-1], behind.knots[0]
	by := (to.logged - to.stamp) - (from.logged - from.stamp)
	if abs(by) <= jitter {
		return nil
	}
	var with, without []int
	for _, topic := range group {
		s := m.stamps(topic)
		if s == nil {
			continue
		}
		if own, ok := s.of.moves(from.logged, to.logged); ok && max(jitter, abs(by)/halfWay) < abs(own-by) {
			without = append(without, topic)
		} else if ok {
			with = append(with, topic)
		}
	}
	switch {
	case len(without) == 0:
		return nil
	case len(with) <= len(without):
		return with
	}
	return without
}

// moves returns by how much the differences of a clock change between two times of the recorder, ns.
func (c *clock) moves(from, to int64) (by int64, ok bool) {
	var before, behind *knot
	for _, p := range c.pieces {
		for i := range p.knots {
			k := &p.knots[i]
			if k.logged <= from {
				before = k
			}
			if k.logged >= to && behind == nil {
				behind = k
			}
		}
	}
	if before == nil || behind == nil || from-before.logged > nearStep || behind.logged-to > nearStep {
		return 0, false
	}
	return (behind.logged - behind.stamp) - (before.logged - before.stamp), true
}
