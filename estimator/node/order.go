package node

import (
	"fmt"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// order decides whether a state comes at a time and in an order that a prediction
// can be made from, and measures the time between states.
type order struct {
	shared bool  // the robot's clock is this computer's
	future int64 // ns, limits
	age    int64
	resync int64

	any    bool
	seq    uint64
	t      int64
	at     int64   // ns, steady, when the last state was taken
	period float64 // ns, smoothed time between states; 0 = not known
	missed uint64
}

const (
	// farthest keeps sums of times within 64 bits: years 1823 to 2116.
	farthest = int64(1) << 62
	// restart is a gap in the sequence that no loss explains.
	restart = 1 << 20
	// smoothing is the share of a new period in the mean of them.
	smoothing = 0.125
)

// check returns an error for a state that must not be taken at the given time.
func (o *order) check(seq uint64, t, unix, steady int64) error {
	switch {
	case t >= farthest:
		return refuse(wire.Future, "%d ns is no believable time", t)
	case t <= -farthest:
		return refuse(wire.Old, "%d ns is no believable time", t)
	case o.shared && t > unix+o.future:
		return refuse(wire.Future, "%v ahead of this computer's clock, at most %v", time.Duration(t-unix), time.Duration(o.future))
	case o.shared && t <= unix-o.age:
		return refuse(wire.Old, "%v ago by this computer's clock, expected less than %v", time.Duration(unix-t), time.Duration(o.age))
	case !o.any || steady-o.at > o.resync:
		return nil
	case seq == o.seq && t == o.t:
		return refuse(wire.Duplicate, "seq %d came already", seq)
	case t <= o.t:
		return refuse(wire.OutOfOrder, "%v before the last state taken", time.Duration(o.t-t))
	case seq <= o.seq:
		return &wire.Error{Reason: wire.OutOfOrder, Field: "seq", Text: fmt.Sprintf("%d after %d was taken", seq, o.seq)}
	}
	return nil
}

// take notes that a state was taken.
func (o *order) take(seq uint64, t, steady int64) {
	if o.any && seq > o.seq && seq-o.seq < restart {
		o.missed += seq - o.seq - 1
		if dt := float64(t-o.t) / float64(seq-o.seq); dt > 0 && steady-o.at <= o.resync {
			if o.period == 0 {
				o.period = dt
			}
			o.period += smoothing * (dt - o.period)
		}
	}
	o.any, o.seq, o.t, o.at = true, seq, t, steady
}

func refuse(r wire.Reason, format string, args ...any) error {
	return &wire.Error{Reason: r, Field: "t", Text: fmt.Sprintf(format, args...)}
}
