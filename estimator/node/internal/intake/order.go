package intake

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// order checks that a state comes at a time and in an order that a prediction can be
// made from, and measures the time between states.
//
// One state with a wrong seq or time must not cost those after it. So a state that
// does not continue the accepted sequence is refused, but kept as the resync
// candidate; when the next ones continue it, the sender has started again, or the
// last one accepted was wrong.
//
// A burst of states that a link delivers a second time looks like a sender that has
// started again. Three things distinguish them: with a shared clock, time does not go
// back; a state that was taken is remembered; and a sender sends at the pace of its
// clock, what was stored on the way comes faster.
type order struct {
	shared bool  // the robot's clock is this computer's
	future int64 // ns, limits
	age    int64
	pace

	any    bool
	last   moment // of the last state accepted
	lead   int64  // ns, of the accepted states' times over the steady clock, of those that came without delay
	floor  int64  // ns, of a shared clock: no time up to it comes again
	missed uint64
	gap    uint64 // missed just before the last one accepted
	taken  taken

	refused ring   // sequence numbers of refused states that are no loss
	ahead   uint64 // of these, after the last one accepted

	first, candidate moment // for resync: the refused states that continue each other
	run              int    // how many these are
	repeats          bool   // one of them was taken before
	restart          bool   // the state just checked begins a new sequence

	second second
}

const (
	// farthest keeps sums of times within 64 bits: years 1823 to 2116.
	farthest = int64(1) << 62
	// So many states must continue the resync candidate to be accepted: two after a
	// jump ahead; more where they are behind the last one accepted, because then two
	// senders or a detour on the way may have mixed them up.
	ahead, behind = 2, 4
	// smoothing is the share of a new period in the mean of them.
	smoothing = 0.125
	// drift is how far the period may have changed within the states of a detour.
	drift = 0.1
	// The lead decays by one part in so many of the time, for a robot's clock that is slow, and is larger than that of the
	// last state by at most so many resync times.
	leadDecay, mostDelay = 1000, 10
)

// check returns an error for a state that must not be accepted at the given time.
// Without an error it is to be accepted next.
func (o *order) check(m moment, unix int64) error {
	o.restart = false
	switch {
	case m.t >= farthest:
		return refuse(wire.Future, "%d ns is no plausible time", m.t)
	case m.t <= -farthest:
		return refuse(wire.Old, "%d ns is no plausible time", m.t)
	case o.shared && m.t > unix+o.future:
		return refuse(wire.Future, "%v ahead of this computer's clock, at most %v", time.Duration(m.t-unix), time.Duration(o.future))
	case o.shared && m.t <= unix-o.age:
		return refuse(wire.Old, "%v ago by this computer's clock, expected less than %v", time.Duration(unix-m.t), time.Duration(o.age))
	case !o.any:
		o.restart, o.run = true, 0
		return nil
	}
	// A time that came already comes again only after this computer's clock was set back.
	came := o.shared && m.t <= o.floor && unix >= o.floor
	again := o.taken.has(&m) || m.seq == o.last.seq && m.t == o.last.t
	silent := m.at-o.last.at > o.resync
	switch {
	case again, came:
	case silent && (o.shared || m.t > o.last.t):
		o.restart, o.run = true, 0
		return nil
	case o.follows(&m, &o.last), o.explained(&m, &o.last) && m.t-m.at <= o.lead+o.resync:
		return nil
	}
	if !came && o.restarts(&m, again, silent) {
		o.restart = true
		return nil
	}
	if again {
		return refuse(wire.Duplicate, "seq %d came already", m.seq)
	}
	if o.second.notice(&m, o.late(&m), &o.pace) {
		return refuse(wire.SecondSender, "seq %d, %v after the last state accepted, which has seq %d", m.seq, time.Duration(m.t-o.last.t), o.last.seq)
	}
	return o.misplaced(&m)
}

// restarts reports whether the sender has started again, or the last state accepted
// was wrong, by a state that does not continue the sequence. again: it was taken
// before.
func (o *order) restarts(m *moment, again, silent bool) bool {
	if o.shared && (again || m.t <= o.floor && !silent) {
		return false // a shared clock does not show a time twice
	}
	if o.run > 0 && o.follows(m, &o.candidate) {
		o.run++
	} else {
		o.run, o.first, o.repeats = 1, *m, false
	}
	o.candidate, o.repeats = *m, o.repeats || again
	lasts := m.at - o.first.at
	switch {
	case !silent && o.second.beside(m, &o.pace):
		return false // the first one may have lost a few
	case o.repeats:
		// A simulator that starts again sends the same states again, and does so for
		// longer than a burst lasts.
		return o.run >= behind && lasts > o.resync && o.paced(m)
	case m.t > o.last.t && m.seq > o.last.seq:
		return o.run >= ahead
	}
	return o.run >= behind && o.paced(m)
}

// late reports whether a refused state is one of the accepted sequence that was
// missing in it.
func (o *order) late(m *moment) bool {
	if m.seq >= o.last.seq || m.t >= o.last.t || o.taken.numbered(m) {
		return false
	}
	n := float64(o.last.seq - m.seq)
	return math.Abs(float64(o.last.t-m.t)-n*o.period) <= o.period*(1+n*drift)
}

// paced reports whether the states since the first candidate came about as fast as
// they were measured.
func (o *order) paced(m *moment) bool { return m.t-o.first.t <= 2*(m.at-o.first.at) }

// misplaced returns why a state that does not continue the sequence is refused.
func (o *order) misplaced(m *moment) error {
	l := &o.last
	later := m.t > l.t && m.seq > l.seq
	switch {
	case later && !o.explained(m, l):
		return &wire.Error{Reason: wire.Jump, Field: "seq", Text: fmt.Sprintf("%d after %d was accepted", m.seq, l.seq)}
	case later:
		return refuse(wire.Jump, "%v after the last state accepted, which came %v ago", time.Duration(m.t-l.t), time.Duration(m.at-l.at))
	case m.t <= l.t:
		return refuse(wire.OutOfOrder, "%v before the last state accepted", time.Duration(l.t-m.t))
	}
	return &wire.Error{Reason: wire.OutOfOrder, Field: "seq", Text: fmt.Sprintf("%d after %d was accepted", m.seq, l.seq)}
}

// accept notes that the state that was just checked is accepted, at a Unix time.
func (o *order) accept(m moment, unix int64) {
	resynced := o.restart && o.run > 0
	if resynced {
		o.second = second{}
		if o.run >= behind {
			o.missed -= min(o.gap, o.missed) // the last one accepted was the wrong one
		}
		if o.repeats {
			o.taken = taken{}
		}
	}
	o.gap = 0
	if o.any && o.explained(&m, &o.last) && !resynced {
		o.gap = m.seq - o.last.seq - 1
		o.gap -= min(o.gap, o.ahead)
		o.missed += o.gap
		if !o.restart {
			dt := float64(m.t-o.last.t) / float64(m.seq-o.last.seq)
			if o.period == 0 {
				o.period = dt
			}
			o.period += smoothing * (dt - o.period)
		}
	}
	if o.restart {
		o.refused.reset()
	}
	lead := m.t - m.at
	if o.any && !resynced { // this one may have been delayed
		lead = max(lead, min(o.lead-(m.at-o.last.at)/leadDecay, lead+mostDelay*o.resync))
	}
	o.lead = lead
	o.any, o.last, o.run, o.ahead = true, m, 0, 0
	o.floor = min(m.t, unix)
	o.taken.add(&m)
	o.second.between = true
}

// noteRefused notes that a state is refused. It was received: its sequence number is no loss.
func (o *order) noteRefused(m moment) {
	if !o.any || o.refused.has(m.seq) {
		return
	}
	came := moment{seq: m.seq, t: o.last.t + m.at - o.last.at} // its own time may be what is wrong
	switch {
	case o.explained(&came, &o.last):
		o.ahead++
	case o.late(&m) && o.missed > 0:
		o.missed--
	default:
		return
	}
	o.refused.add(m.seq)
}

func refuse(r wire.Reason, format string, args ...any) error {
	return &wire.Error{Reason: r, Field: "t", Text: fmt.Sprintf(format, args...)}
}

// second looks for a second sender among the states that are refused: they continue
// each other while those of the first are accepted.
type second struct {
	last    moment // of the last state of the second sender
	n       int    // states that continue the one before, with one accepted between them
	between bool   // a state was accepted since the last
}

// So many such states show a second sender, and so many that the sequence may be one
// beside the accepted one, and no restart of its sender.
const secondAfter, besideAfter = 8, 2

// beside reports whether the refused state m may be of a second sender.
func (s *second) beside(m *moment, p *pace) bool {
	return s.n >= besideAfter && m.at-s.last.at <= p.resync
}

// notice adds a state that was refused. late: it is of the accepted sequence. It
// reports whether it comes from a second sender.
func (s *second) notice(m *moment, late bool, p *pace) bool {
	if late {
		return false
	}
	continues := p.follows(m, &s.last) && m.at-s.last.at <= p.resync
	s.last = *m
	switch {
	case !continues:
		s.n = 0
	case s.between:
		s.n++
	}
	s.between = false
	return s.n >= secondAfter
}

// ring holds the last values that were added.
type ring struct {
	values  [1024]uint64
	n, next int
}

func (r *ring) add(v uint64) {
	r.values[r.next] = v
	r.next = (r.next + 1) % len(r.values)
	r.n = min(r.n+1, len(r.values))
}

func (r *ring) has(v uint64) bool { return slices.Contains(r.values[:r.n], v) }

func (r *ring) reset() { r.n, r.next = 0, 0 }

// remembered is how many states are remembered, a prime: 160 s at 100 Hz, 16 s at 1 kHz, which
// is longer than a prediction holds.
const remembered = 16381

// taken remembers the last states that were accepted, each at the place of its sequence number.
type taken [remembered]struct{ seq, sum uint64 } // seq 0 = none, else 1 more

func (r *taken) add(m *moment) {
	at := &r[m.seq%remembered]
	at.seq, at.sum = m.seq+1, m.sum
}

// has reports whether a state was accepted, with the same bytes.
func (r *taken) has(m *moment) bool { return r.numbered(m) && r[m.seq%remembered].sum == m.sum }

// numbered reports whether a state with the sequence number of m was accepted.
func (r *taken) numbered(m *moment) bool {
	at := &r[m.seq%remembered]
	return at.seq != 0 && at.seq == m.seq+1
}

// moment is when a state was measured and when it came.
type moment struct {
	seq uint64
	t   int64
	at  int64  // ns, steady
	sum uint64 // of the bytes of its message
}

// pace is what is known of how fast states follow each other.
type pace struct {
	resync int64   // ns, limit
	period float64 // smoothed time between states, ns; 0 = not known
}

// A gap in seq is a loss where the time that has passed has room for it: within so
// many periods as measured, so many more for a rate that changes, and at a rate of
// 20 kHz where the period is not known yet.
const (
	gapRatio, gapMargin = 4, 16
	shortest            = 50e3 // ns
)

// follows reports whether a state at m can be one of the next after a: seq and t
// grow, seq by what the time explains, and time does not run ahead of the steady
// clock by more than the resync time.
func (p *pace) follows(m, a *moment) bool {
	return m.t-a.t <= m.at-a.at+p.resync && p.explained(m, a)
}

// explained reports whether m is after a in seq and t, and the states between them
// may have been lost.
func (p *pace) explained(m, a *moment) bool {
	period := p.period / gapRatio
	if p.period == 0 {
		period = shortest
	}
	return m.seq > a.seq && m.t > a.t && float64(m.seq-a.seq) <= gapMargin+float64(m.t-a.t)/period
}
