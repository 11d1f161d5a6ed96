package timebase

import (
	"math"
	"slices"
)

// clock is what is known of a sender's clock: pieces between the times at which it was set.
type clock struct {
	pieces []*piece
	recent []block // whose messages are in no piece yet
	last   knot    // of the last message
}

// block is a second in which messages of a clock were recorded.
type block struct {
	second   int64
	low      knot // of the message with the smallest difference
	messages []waiting
}

const (
	blockSpan = 1e9 // ns
	sides     = 4   // blocks before and behind the one in which a clock is set
	distinct  = 6   // a jump is so many times as large as the blocks' distances from their lines
	fewSteps  = 2.9 // messages of the clock: a jump is longer than they last

	mostInBlock = 1 << 14 // messages; more in a second are of a recorder without a clock, and no jump is looked for
)

func (b *block) add(w waiting) {
	if len(b.messages) == 0 || w.logged-w.t < b.low.logged-b.low.stamp {
		b.low = knot{w.t, w.logged}
	}
	b.messages = append(b.messages, w)
}

// add adds a message that counts. by is the topic, where it is the first message after its
// times began anew, which another topic of the same clock may have shown already, else nil.
func (c *clock) add(w waiting, by *stream) {
	if k := len(c.pieces); k == 0 || by != nil && !c.near(w) {
		c.begin(&piece{from: w.at, by: by, begin: w.logged})
	}
	k := len(c.recent)
	if second := w.logged / blockSpan; k == 0 || c.recent[k-1].second != second {
		if k > 2*sides {
			c.divide()
		}
		if k = len(c.recent); k > 2*sides {
			c.settle(1)
		}
	}
	if k = len(c.recent); k > 0 && len(c.recent[k-1].messages) >= mostInBlock {
		c.settle(k)
	}
	c.fill([]waiting{w})
	c.last = knot{w.t, w.logged}
}

// finest returns by how much a clock is set at least so that it shows, ns: three messages that the
// recent blocks have in the mean, where that is less than what delays differ by.
func (c *clock) finest() float64 {
	n := 0
	for i := range c.recent {
		n += len(c.recent[i].messages)
	}
	if len(c.recent) < 2 {
		return jitter
	}
	return min(jitter, max(certain, fewSteps*blockSpan*float64(len(c.recent))/float64(n)))
}

// near reports whether a message fits the last piece as it is. Another topic may have begun
// that piece just before.
func (c *clock) near(w waiting) bool {
	within := int64(c.finest())
	if c.pieces[len(c.pieces)-1].begin > w.logged-oneCause {
		within = ahead
	}
	low := c.last
	for i := range c.recent[max(0, len(c.recent)-2):] {
		if b := &c.recent[len(c.recent)-1-i]; b.low.logged-b.low.stamp < low.logged-low.stamp {
			low = b.low
		}
	}
	return abs((w.logged-w.t)-(low.logged-low.stamp)) <= within && w.logged-c.last.logged >= -back && w.t >= c.last.stamp-firstStretch-ahead
}

// begin begins a piece.
func (c *clock) begin(p *piece) {
	c.settle(len(c.recent))
	c.pieces = append(c.pieces, p)
}

// fit decides which relations hold. The pieces are of one clock: how far it was set between
// them is measured, so that they share one delay, which is that of the piece that may be the
// recorder's with the shortest.
func (c *clock) fit() {
	c.settle(len(c.recent))
	var pieces []*piece
	for _, p := range c.pieces {
		if k := len(pieces) - 1; k >= 0 && p.by != nil && !p.by.began(p.from) {
			pieces[k].absorb(p)
		} else if p.n > 0 {
			pieces = append(pieces, p)
		}
	}
	c.pieces = pieces
	delay, known := int64(same), false
	for _, p := range c.pieces {
		if p.least < delay && p.least > -certain {
			delay, known = p.least, true
		}
	}
	for _, p := range c.pieces {
		p.rate, p.offset = 1, p.least
		if known {
			if p.offset -= delay; abs(p.offset) <= jitter && p.least > -certain && !c.set() {
				p.offset = 0
			}
		}
		p.fit()
	}
}

// set reports whether the clock was set while the recorder's went on: then differences between
// pieces are no delays, however small.
func (c *clock) set() bool {
	for i := 1; i < len(c.pieces); i++ {
		p, before := c.pieces[i], c.pieces[i-1].knots
		if on := p.begin - before[len(before)-1].logged; p.jumped || on >= 0 && on < oneCause {
			return true
		}
	}
	return false
}

// forget takes back a message that was added shortly before.
func (c *clock) forget(at int) {
	for i := len(c.recent) - 1; i >= 0; i-- {
		for k, w := range c.recent[i].messages {
			if w.at == at {
				left := slices.Delete(c.recent[i].messages, k, k+1)
				if c.recent[i] = (block{second: c.recent[i].second}); len(left) == 0 {
					c.recent = slices.Delete(c.recent, i, i+1)
				}
				for _, w := range left {
					c.recent[i].add(w)
				}
				return
			}
		}
	}
}

// settle adds the oldest blocks to the last piece.
func (c *clock) settle(blocks int) {
	for i := range c.recent[:blocks] {
		for _, w := range c.recent[i].messages {
			c.pieces[len(c.pieces)-1].add(w.t, w.logged)
		}
	}
	c.recent = slices.Delete(c.recent, 0, blocks)
}

// divide begins a piece where the differences jump in the middle of the recent blocks: those
// before and those behind are on lines of one rate, the lines are apart, and so are the
// messages on both sides of one place. What only rises for a while, as delays do, is no
// jump, and neither is a rate that changes.
func (c *clock) divide() {
	if len(c.pieces) >= most {
		return
	}
	before, behind := c.recent[:sides], c.recent[sides+1:]
	slope, from, to, ok := apart(before, behind, c.finest())
	if !ok {
		return
	}
	origin := before[0].low.logged
	over := func(w waiting) float64 { return float64(w.logged-w.t) - slope*float64(w.logged-origin) }
	around := slices.Concat(c.recent[sides-1].messages, c.recent[sides].messages, behind[0].messages)
	at := 0
	if to < from {
		for at < len(around) && over(around[at]) > (from+to)/2 {
			at++
		}
	} else { // a late message may be above before the jump, but none is below behind it
		for at = len(around); at > 0 && over(around[at-1]) > (from+to)/2; at-- {
		}
	}
	least := func(of []waiting) (d float64) {
		d = math.Inf(1)
		for _, w := range of {
			d = min(d, over(w))
		}
		return d
	}
	off := math.Max(math.Abs(least(around[max(0, at-agree):at])-from), math.Abs(least(around[at:min(len(around), at+agree)])-to))
	if off > math.Abs(to-from)/4 {
		return
	}
	rest := slices.Clone(behind[1:])
	c.settle(sides - 1)
	c.recent = c.recent[:0]
	c.fill(around[:at])
	c.settle(len(c.recent))
	c.pieces = append(c.pieces, &piece{from: around[at].at, begin: around[at].logged, jump: int64(from - to), jumped: true})
	c.fill(around[at:])
	c.recent = append(c.recent, rest...)
}

// fill adds messages to the recent blocks.
func (c *clock) fill(all []waiting) {
	for _, w := range all {
		if k, second := len(c.recent), w.logged/blockSpan; k == 0 || c.recent[k-1].second != second {
			c.recent = append(c.recent, block{second: second})
		}
		c.recent[len(c.recent)-1].add(w)
	}
}

// apart reports whether the differences of blocks before and behind a place are on two lines of
// one rate that are apart, by more than some ns, and returns the slope and where the lines are at
// the first block.
func apart(before, behind []block, least float64) (slope, low, high float64, ok bool) {
	l, okL := sideOf(before, before[0].low.logged)
	r, okR := sideOf(behind, before[0].low.logged)
	if !okL || !okR || l.t[len(l.t)-1] >= r.t[0] {
		return 0, 0, 0, false
	}
	for _, slope = range []float64{0, (l.xy + r.xy) / (l.xx + r.xx)} {
		low, fromLow := l.distance(slope)
		high, fromHigh := r.distance(slope)
		if d := math.Abs(high - low); d > least*(1+math.Abs(slope)) && d > distinct*max(fromLow, fromHigh) {
			return slope, low, high, true
		}
	}
	return 0, 0, 0, false
}

// side is the differences of blocks over time, ns.
type side struct {
	t, d   []float64
	xx, xy float64 // sums of squares and products about the means
}

// sideOf returns the side of blocks over the time since an origin; ok is false where times do
// not rise.
func sideOf(blocks []block, origin int64) (s side, ok bool) {
	n, mt, md := float64(len(blocks)), 0.0, 0.0
	for i, b := range blocks {
		t, d := float64(b.low.logged-origin), float64(b.low.logged-b.low.stamp)
		if i > 0 && t <= s.t[i-1] {
			return s, false
		}
		s.t, s.d = append(s.t, t), append(s.d, d)
		mt, md = mt+t/n, md+d/n
	}
	for i, t := range s.t {
		s.xx, s.xy = s.xx+(t-mt)*(t-mt), s.xy+(t-mt)*(s.d[i]-md)
	}
	return s, true
}

// distance returns the middle of the differences over a slope, and how far they are from it.
func (s *side) distance(slope float64) (middle, most float64) {
	least, highest := math.Inf(1), math.Inf(-1)
	for i, t := range s.t {
		least, highest = min(least, s.d[i]-slope*t), max(highest, s.d[i]-slope*t)
	}
	return (least + highest) / 2, (highest - least) / 2
}
