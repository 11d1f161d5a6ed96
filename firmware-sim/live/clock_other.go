//go:build !linux

package live

import "time"

// clock sleeps until absolute times, with the accuracy of the runtime's timers.
type clock struct{ zero time.Time }

func newClock() *clock { return &clock{zero: time.Now()} }

func (c *clock) close() {}

// now returns the time since newClock.
func (c *clock) now() time.Duration { return time.Since(c.zero) }

// until sleeps until a time since newClock, which may be past.
func (c *clock) until(d time.Duration) { time.Sleep(d - c.now()) }
