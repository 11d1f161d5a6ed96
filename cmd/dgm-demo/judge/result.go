package judge

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Result counts what happened to states and predictions.
type Result struct {
	Flight        time.Duration // from the first state to the last
	States        int
	Answered      int
	Missing       int // states that were not answered
	Overdue       int // predictions that arrived after the next state, or never for an overdue one
	OverdueStates int // states that arrived after their successor was due
	NotFinite     int // predictions with a number that is not finite, or a negative deviation
	Unreadable    int // predictions that break the protocol, or for other channels or times
	Unasked       int // predictions of no known state, or repeated
	Shortened     int // predictions of the beginning of the horizon, for superseded states
	Outside       int // predictions with the flag out of distribution
	NoHistory     int // predictions with the flag no history: of the first states, and after a gap
	Explained     int // states that the estimator itself reports as not answered for want of time

	Busy, Free Share // of the seconds in which the computer was busy with something else, and of the others

	// From the time of a state to the arrival of its prediction.
	P50, P99, Max time.Duration

	EchoP99, EchoMax time.Duration // the same of the echo

	Horizon []float64 // T, s
	K       int
	Scored  []int // T×K, intervals that were compared with a measurement
	Covered []int // T×K, of those, intervals that contained it
}

// Share is a part of the flight, in whole seconds.
type Share struct{ Seconds, States, Overdue, Missing, NoHistory int }

// OverdueShare returns the share of states whose predictions were overdue.
func (s Share) OverdueShare() float64 { return share([]int{s.Overdue}, []int{s.States}) }

// Limits are what a flight must keep.
type Limits struct {
	Flight    time.Duration // it must last at least so long
	Overdue   float64       // largest share of overdue predictions while the computer is free
	Low, High float64       // coverage of the 95 % intervals, pooled over channels and times
}

// Coverage returns the share of intervals that contained their measurement, over all
// channels and times, or 0 where none was scored.
func (r *Result) Coverage() float64 { return share(r.Covered, r.Scored) }

// CoverageAt is Coverage at time i of the horizon.
func (r *Result) CoverageAt(i int) float64 {
	return share(r.Covered[i*r.K:(i+1)*r.K], r.Scored[i*r.K:(i+1)*r.K])
}

// Lost returns how many states were not answered without a reason: in a free second, or
// in a busy one without the estimator reporting that it had no time.
func (r *Result) Lost() int { return r.Missing - min(r.Busy.Missing, r.Explained) }

// mostNoHistory is how many predictions of free seconds may be without history, beside a tenth of all:
// those at the beginning, and after a gap of a busy second.
const mostNoHistory = 100

// Check returns nil if the flight kept the limits, else an error that names in one
// line all limits that it did not keep. An overdue prediction, or one without
// history, counts where the computer was free.
func (r *Result) Check(l Limits) error {
	var broken []string
	limit := func(bad bool, format string, args ...any) {
		if bad {
			broken = append(broken, fmt.Sprintf(format, args...))
		}
	}
	limit(r.Lost() > 0, "%d of %d predictions missing", r.Lost(), r.States)
	limit(r.NotFinite > 0, "%d of %d predictions not finite", r.NotFinite, r.States)
	limit(r.Unreadable > 0, "predictions that cannot be read: %d", r.Unreadable)
	limit(r.Unasked > 0, "predictions of no state, or repeated: %d", r.Unasked)
	limit(r.Free.OverdueShare() > l.Overdue, "%.1f %% of the predictions arrived after the next state though the computer was free, at most %.0f %% may", 100*r.Free.OverdueShare(), 100*l.Overdue)
	limit(r.Free.NoHistory > mostNoHistory+r.Free.States/10, "%d of %d predictions had not enough history though the computer was free", r.Free.NoHistory, r.Free.States)
	limit(r.Flight < l.Flight, "the flight lasted %.1f s, at least %.0f s are needed", r.Flight.Seconds(), l.Flight.Seconds())
	c := r.Coverage()
	limit(c < l.Low || c > l.High, "95 %% intervals covered %.1f %% of the measurements, %.1f to %.1f %% is expected", 100*c, 100*l.Low, 100*l.High)
	if broken == nil {
		return nil
	}
	return errors.New(strings.Join(broken, "; "))
}

func share(part, whole []int) float64 {
	in, of := 0, 0
	for i := range whole {
		in, of = in+part[i], of+whole[i]
	}
	if of == 0 {
		return 0
	}
	return float64(in) / float64(of)
}

// second counts what happened to the states of one second of the flight.
type second struct {
	number                              int64
	states, overdue, missing, noHistory int
	busy                                bool
}

// seconds are the last seconds of the flight, second n at n mod len.
type seconds []second

// newSeconds returns room for all seconds of so many states, and those that begin
// before and end after them.
func newSeconds(states int, period time.Duration) seconds {
	return make(seconds, time.Duration(states)*period/time.Second+3)
}

// at returns the second of a time in ns since the first state. A second that is
// forgotten for it is added to r.
func (s seconds) at(since int64, r *Result) *second {
	n := since / int64(time.Second)
	at := &s[n%int64(len(s))]
	if at.number != n {
		at.close(r)
		at.number = n
	}
	return at
}

func (s seconds) clone() seconds { return slices.Clone(s) }

// close adds all seconds to r.
func (s seconds) close(r *Result) {
	for i := range s {
		s[i].close(r)
	}
}

// close adds a second to r and empties it.
func (s *second) close(r *Result) {
	share := &r.Free
	if s.busy {
		share = &r.Busy
	}
	if s.states > 0 {
		share.Seconds++
	}
	share.States += s.states
	share.Overdue += s.overdue
	share.Missing += s.missing
	share.NoHistory += s.noHistory
	*s = second{}
}
