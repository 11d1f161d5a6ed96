package intake

import (
	"fmt"
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
type order struct {
	shared bool  // the robot's clock is this computer's
	future int64 // ns, limits
	age    int64
	resync int64

	any    bool
	last   moment  // of the last state accepted
	period float64 // ns, smoothed time between states; 0 = not known
	missed uint64
	gap    uint64 // missed just before the last one accepted

	candidate moment // for resync: the last refused state that did not continue the sequence
	run       int    // such states in a row, each continuing the one before
	restart   bool   // the state just checked begins a new sequence
}

// moment is when a state was measured and when it came.
type moment struct {
	seq uint64
	t   int64
	at  int64 // ns, steady
}

const (
	// farthest keeps sums of times within 64 bits: years 1823 to 2116.
	farthest = int64(1) << 62
	// farSeq is a gap in the sequence that no loss explains.
	farSeq = 1 << 20
	// So many states must continue the resync candidate to be accepted: two after a
	// jump ahead; more where they are behind the last one accepted, because then two
	// senders or a detour on the way may have mixed them up.
	ahead, behind = 2, 4
	// smoothing is the share of a new period in the mean of them.
	smoothing = 0.125
)

// follows reports whether a state at m can be one of the next after a: seq and t
// grow, and time does not run ahead of the steady clock by more than slack, ns.
func (m *moment) follows(a *moment, slack int64) bool {
	return m.seq > a.seq && m.seq-a.seq < farSeq && m.t > a.t && m.t-a.t <= m.at-a.at+slack
}

// check returns an error for a state that must not be accepted at the given time.
// Without an error it is to be accepted next.
func (o *order) check(seq uint64, t, unix, steady int64) error {
	o.restart = false
	switch {
	case t >= farthest:
		return refuse(wire.Future, "%d ns is no plausible time", t)
	case t <= -farthest:
		return refuse(wire.Old, "%d ns is no plausible time", t)
	case o.shared && t > unix+o.future:
		return refuse(wire.Future, "%v ahead of this computer's clock, at most %v", time.Duration(t-unix), time.Duration(o.future))
	case o.shared && t <= unix-o.age:
		return refuse(wire.Old, "%v ago by this computer's clock, expected less than %v", time.Duration(unix-t), time.Duration(o.age))
	case !o.any || steady-o.last.at > o.resync:
		o.restart, o.run = true, 0
		return nil
	case seq == o.last.seq && t == o.last.t:
		return refuse(wire.Duplicate, "seq %d came already", seq)
	}
	m := moment{seq, t, steady}
	if m.follows(&o.last, o.resync) {
		return nil
	}
	if o.run > 0 && m.follows(&o.candidate, o.resync) {
		o.run++
	} else {
		o.run = 1
	}
	o.candidate = m
	later := t > o.last.t && seq > o.last.seq
	if o.run >= behind || later && o.run >= ahead {
		o.restart = true
		return nil
	}
	switch l := &o.last; {
	case later && seq-l.seq >= farSeq:
		return &wire.Error{Reason: wire.Jump, Field: "seq", Text: fmt.Sprintf("%d after %d was accepted", seq, l.seq)}
	case later:
		return refuse(wire.Jump, "%v after the last state accepted, which came %v ago", time.Duration(t-l.t), time.Duration(steady-l.at))
	case t <= l.t:
		return refuse(wire.OutOfOrder, "%v before the last state accepted", time.Duration(l.t-t))
	}
	return &wire.Error{Reason: wire.OutOfOrder, Field: "seq", Text: fmt.Sprintf("%d after %d was accepted", seq, o.last.seq)}
}

// accept notes that the state that was just checked is accepted.
func (o *order) accept(seq uint64, t, steady int64) {
	m := moment{seq, t, steady}
	if o.restart && o.run >= behind {
		o.missed -= o.gap // the last one accepted was the wrong one
	}
	o.gap = 0
	if o.any && m.seq > o.last.seq && m.seq-o.last.seq < farSeq && m.t > o.last.t && !(o.restart && o.run > 0) {
		o.gap = seq - o.last.seq - 1
		o.missed += o.gap
		if !o.restart {
			dt := float64(t-o.last.t) / float64(seq-o.last.seq)
			if o.period == 0 {
				o.period = dt
			}
			o.period += smoothing * (dt - o.period)
		}
	}
	o.any, o.last, o.run = true, m, 0
}

func refuse(r wire.Reason, format string, args ...any) error {
	return &wire.Error{Reason: r, Field: "t", Text: fmt.Sprintf(format, args...)}
}
