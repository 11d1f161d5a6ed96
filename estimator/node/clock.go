package node

import "time"

// Clock returns the time twice, in nanoseconds: unix since 1970, which may be set
// while the node runs, and steady since any moment, which may not. States are
// dated on the first; everything else is measured on the second.
type Clock func() (unix, steady int64)

// SystemClock returns the clock of the computer.
func SystemClock() Clock {
	start := time.Now()
	return func() (unix, steady int64) {
		now := time.Now()
		return now.UnixNano(), int64(now.Sub(start))
	}
}
