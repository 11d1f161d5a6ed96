package prediction

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Ladder chooses how much of the horizon is predicted in the time that there is, by
// what each of its levels has cost. A prediction cannot be cut short once begun, so
// the choice is made before.
type Ladder struct {
	Ends        []float64 // s, of each level, the longest first
	Costs       []Cost    // of each level
	Propagation Cost      // of a new state to its tick, on top
}

// timeShare is the share of the time left that a prediction may be expected to take.
const timeShare = 0.8

// Choose returns the longest level, from a first one on, that is expected to end within left
// ns, or the shortest. propagate is true for a tick with a new state.
func (l *Ladder) Choose(first int, left int64, propagate bool) int {
	if propagate {
		left -= int64(l.Propagation.Expected())
	}
	last := len(l.Costs) - 1
	for i := first; i < last; i++ {
		if l.Costs[i].Expected() <= timeShare*float64(left) {
			return i
		}
	}
	return last
}

// Beginning returns the shortest level that ends well after a state of an age, ns, or
// the longest: a prediction that is over when it is published is not sent. Of a short
// horizon less is well after it: else no level would be, and states that come too
// fast would wait for longer and longer while each is given all of it.
func (l *Ladder) Beginning(age int64) int {
	ahead := min(0.1, l.Ends[0]/4) // s
	for i := len(l.Ends) - 1; i > 0; i-- {
		if l.Ends[i] >= float64(age)*1e-9+ahead {
			return i
		}
	}
	return 0
}

// Spend notes what a task of a level has cost, ns. A tick with a new state propagates
// it too, which is kept apart: the ticks after it have no such cost. The levels above,
// which were not tried, are slowly expected to become cheaper: the computer may be
// less busy by now.
func (l *Ladder) Spend(level int, ns int64, propagated bool) {
	if propagated {
		l.Propagation.add(max(float64(ns)-l.Costs[level].Mean, 1))
	} else {
		l.Costs[level].add(float64(ns))
	}
	for j := range level {
		l.Costs[j].fade()
	}
}

// Cost is a running estimate of what something costs, at the upper end: the mean
// and four mean deviations. A single outlier counts as four times the mean, so
// that one stall does not shorten a second of predictions.
type Cost struct {
	Mean, Deviation float64 // ns
}

const (
	costWeight = 1. / 32
	costFading = 1. / 256
)

func (c *Cost) add(ns float64) {
	if c.Mean == 0 {
		c.Mean = ns
		return
	}
	d := min(ns, 4*c.Mean) - c.Mean
	c.Mean += costWeight * d
	c.Deviation += costWeight * (math.Abs(d) - c.Deviation)
}

func (c *Cost) fade() {
	c.Mean -= costFading * c.Mean
	c.Deviation -= costFading * c.Deviation
}

// Expected returns the estimate, ns.
func (c *Cost) Expected() float64 { return c.Mean + 4*c.Deviation }

// What is predicted from a state of some age, in multiples of the age limit.
const (
	staleAfter = 2 // beyond it is flagged
	// SilentAfter is the age beyond which nothing is predicted.
	SilentAfter = 4
)

// widening returns the factor of the standard deviations for the age of a state, and
// the flags that go with it; ok is false beyond the last limit. All times are in ns.
func widening(age, limit int64) (factor float64, f wire.Flags, ok bool) {
	switch {
	case age <= limit:
		return 1, 0, true
	case age > SilentAfter*limit:
		return 0, 0, false
	case age > staleAfter*limit:
		f = wire.Stale
	}
	return float64(age) / float64(limit), f | wire.Widened, true
}
