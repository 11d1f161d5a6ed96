package reporting

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Counters count what became of states. They are safe for concurrent use.
type Counters struct {
	mu     sync.Mutex
	counts Counts
	last   [wire.Reasons]error
	since  [wire.Reasons]uint64 // states refused at the intake since the last accepted one
	key    string               // the first key of a state that is not known
	total  latency              // from a state or tick to its prediction
	phases [phases]latency
}

// Counts are the values of the counters.
type Counts struct {
	Received, Published      uint64
	Late, Shortened, Widened uint64 // of the published
	NoHistory                uint64
	PlansUnused, PlansHeld   uint64
	PlansCut, Adapted        uint64
	Used                     uint64 // states predicted from
	UnknownKeys              uint64 // of states
	Ticks                    uint64
	Reasons                  [wire.Reasons]uint64 // states that were not predicted from
	Silent                   [wire.Reasons]uint64 // ticks without a prediction
	Any                      bool                 // a state was accepted; the last one is
	Accepted
}

// Accepted is what the intake knows when it has accepted a state.
type Accepted struct {
	At     int64   // ns, steady
	Missed uint64  // states so far
	Delay  int64   // ns, of this state
	Offset float64 // s, of the robot's clock
}

// The phases of a prediction.
const (
	decoding = iota
	predicting
	encoding
	publishing
	phases
)

var phaseNames = [phases]string{"decode", "predict", "encode", "publish"}

// Counts returns the values at this moment.
func (c *Counters) Counts() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts
}

func (c *Counters) update(f func(n *Counts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.counts)
}

// Receive counts a state that came.
func (c *Counters) Receive() { c.update(func(n *Counts) { n.Received++ }) }

// Use counts a state that is predicted from.
func (c *Counters) Use() { c.update(func(n *Counts) { n.Used++ }) }

// Unknown counts the keys of a state that are not known; first is the first of them.
func (c *Counters) Unknown(keys int, first []byte) {
	c.update(func(n *Counts) {
		if n.UnknownKeys == 0 {
			c.key = Shorten(string(first))
		}
		n.UnknownKeys += uint64(keys)
	})
}

// Tick counts ticks that were due.
func (c *Counters) Tick(ticks uint64) { c.update(func(n *Counts) { n.Ticks += ticks }) }

// Accept notes a state that was accepted, decoded in ns.
func (c *Counters) Accept(a Accepted, ns int64) {
	c.update(func(n *Counts) {
		n.Any, n.Accepted = true, a
		c.since = [wire.Reasons]uint64{}
		c.phases[decoding].add(ns)
	})
}

// Refuse counts an accepted state that is not answered. cause may be nil.
func (c *Counters) Refuse(r wire.Reason, cause error) {
	c.update(func(n *Counts) {
		n.Reasons[r]++
		c.note(r, cause)
	})
}

// RefuseFor counts a state that is not accepted, for the reason that its error has.
func (c *Counters) RefuseFor(err error) {
	r := wire.Malformed
	if e, ok := errors.AsType[*wire.Error](err); ok {
		r = e.Reason
	}
	c.update(func(n *Counts) {
		n.Reasons[r]++
		c.since[r]++
		c.note(r, err)
	})
}

// mostRefused returns the reason for which most states were refused since the last
// accepted one, and how many, with the lock held; OK if there were none.
func (c *Counters) mostRefused() (most wire.Reason, states uint64) {
	for r, n := range c.since {
		if n > states {
			most, states = wire.Reason(r), n
		}
	}
	return most, states
}

// Skip counts ticks without a prediction. cause may be nil.
func (c *Counters) Skip(r wire.Reason, ticks uint64, cause error) {
	c.update(func(n *Counts) {
		n.Silent[r] += ticks
		c.note(r, cause)
	})
}

func (c *Counters) note(r wire.Reason, cause error) {
	if cause != nil {
		c.last[r] = cause
	}
}

// Publish counts a prediction with flags f, published ns after its state came or its
// tick was due, and what its parts took, ns.
func (c *Counters) Publish(ns int64, f wire.Flags, predict, encode, publish int64) {
	c.update(func(n *Counts) {
		n.Published++
		for _, v := range [...]struct {
			flag wire.Flags
			n    *uint64
		}{
			{wire.Late, &n.Late},
			{wire.Shortened, &n.Shortened},
			{wire.Widened, &n.Widened},
			{wire.NoHistory, &n.NoHistory},
			{wire.PlanUnused, &n.PlansUnused},
			{wire.PlanHeld, &n.PlansHeld},
			{wire.PlanCut, &n.PlansCut},
			{wire.Adapted, &n.Adapted},
		} {
			if f&v.flag != 0 {
				*v.n++
			}
		}
		c.total.add(ns)
		c.phases[predicting].add(predict)
		c.phases[encoding].add(encode)
		c.phases[publishing].add(publish)
	})
}

// Drop sets how many states the client library has dropped unread.
func (c *Counters) Drop(states uint64) {
	c.update(func(n *Counts) {
		n.Received += states - n.Reasons[wire.Flooded]
		n.Reasons[wire.Flooded] = states
	})
}

// Unused lists how many states were not predicted from, by the names of the reasons:
// "3 replaced, 1 nan"; empty where all were.
func (c *Counters) Unused() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := ""
	for r, n := range c.counts.Reasons {
		if n > 0 {
			text += fmt.Sprintf(", %d %s", n, wire.Reason(r))
		}
	}
	return text[min(2, len(text)):]
}

// list appends the reasons that occurred to dst, with the lock held.
func (c *Counters) list(dst []wire.ReasonCount, counts *[wire.Reasons]uint64) []wire.ReasonCount {
	for r, n := range counts {
		if n == 0 {
			continue
		}
		reason := wire.ReasonCount{Reason: wire.Reason(r).String(), Count: n, Text: wire.Reason(r).Description()}
		if err := c.last[r]; err != nil {
			reason.Last = Shorten(err.Error())
		}
		dst = append(dst, reason)
	}
	return dst
}

// latency keeps the latest durations of one interval; in a longer or faster one the
// oldest are forgotten, but never the maximum.
type latency struct {
	recent [4096]int64 // ns
	n      int
	max    int64
}

func (l *latency) add(ns int64) {
	l.recent[l.n%len(l.recent)] = ns
	l.n++
	l.max = max(l.max, ns)
}

// reset returns quantiles and maximum in seconds, all 0 of nothing, and begins the
// next interval. scratch is memory for sorting.
func (l *latency) reset(scratch *[4096]int64) (p50, p99, most float64) {
	n := min(l.n, len(l.recent))
	if n > 0 {
		s := scratch[:copy(scratch[:], l.recent[:n])]
		slices.Sort(s)
		p50, p99, most = float64(s[n/2])*1e-9, float64(s[n*99/100])*1e-9, float64(l.max)*1e-9
	}
	l.n, l.max = 0, 0
	return p50, p99, most
}
