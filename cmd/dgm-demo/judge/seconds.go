package judge

import (
	"slices"
	"time"
)

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
