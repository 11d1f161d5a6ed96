package timebase

import (
	"cmp"
	"math"
	"slices"
)

// Clocks estimates how far the clocks of senders are from that of the recorder.
// A message is recorded after it was stamped, by a delay that is never negative,
// so the smallest difference is the offset and the shortest delay, which cannot
// be separated from one side.
type Clocks struct {
	all map[string]*Clock
}

// Clock is what is known of one sender's clock.
type Clock struct {
	Name   string
	N      int
	Offset int64   // ns: recorder's time = stamp + Offset, at the shortest delay
	Delay  int64   // ns, the mean delay beyond the shortest
	Sets   int     // how often it seems to have been set; the other fields are of the time since
	Drift  float64 // of the recorder's clock against this one, in parts of 1; NaN = the log is too short

	mean        float64 // of recorder − stamp − first, ns
	first       int64   // the first difference
	t0, t1      int64   // ns, first and last stamp
	early, late minima
	guard       Guard // on the differences
}

// minima is the smallest difference over a stretch of stamps.
type minima struct {
	t, d int64
	any  bool
}

// setFar is, in ns, what no message is under way.
const setFar = 60e9

// maxClocks bounds the senders that are kept apart.
const maxClocks = 256

// Add adds the timestamp of a message and the time at which the recorder received it, both ns.
func (c *Clocks) Add(name string, stamp, logged int64) {
	k := c.all[name]
	if k == nil {
		if len(c.all) >= maxClocks {
			return
		}
		if c.all == nil {
			c.all = map[string]*Clock{}
		}
		k = &Clock{Name: name, guard: Guard{Far: setFar, Back: setFar}}
		c.all[name] = k
	}
	d := logged - stamp
	ok, set := k.guard.Accept(d)
	if !ok {
		return
	}
	if set || k.N == 0 {
		*k = Clock{Name: name, Offset: d, Sets: k.Sets, first: d, t0: stamp, guard: k.guard}
	}
	if set {
		k.Sets++
	}
	k.N++
	k.mean += (float64(d-k.first) - k.mean) / float64(k.N)
	k.Offset = min(k.Offset, d)
	k.t1 = max(k.t1, stamp)
	if stamp-k.t0 < driftSpan {
		k.early.add(stamp, d, math.MaxInt64)
	} else {
		k.late.add(stamp, d, driftSpan)
	}
}

// driftSpan is over how many ns at either end the shortest delay is looked for.
const driftSpan = 20e9

// add adds a difference at stamp t. It replaces a minimum that is older than span.
func (m *minima) add(t, d, span int64) {
	if !m.any || d < m.d || t-m.t > span {
		m.t, m.d, m.any = t, d, true
	}
}

// same is how far a clock may seem to be off and still count as the
// recorder's own: what stamps differ by when a message is on its way.
const same = int64(1e9)

// Offset returns what is added to a stamp of the named clock to get the
// recorder's time, ns: 0 for the recorder itself, for a clock that is not known,
// and for one that seems to be off by no more than the delay of messages.
func (c *Clocks) Offset(name string) int64 {
	k := c.all[name]
	if k == nil || abs(k.Offset) < same {
		return 0
	}
	return k.Offset
}

// List returns the clocks by name.
func (c *Clocks) List() []Clock {
	var out []Clock
	for _, k := range c.all {
		v := *k
		v.Delay = int64(k.mean) + k.first - k.Offset
		v.Drift = math.NaN()
		if k.early.any && k.late.any && k.t1-k.t0 > 3*driftSpan && k.late.t > k.early.t {
			v.Drift = float64(k.late.d-k.early.d) / float64(k.late.t-k.early.t)
		}
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b Clock) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
