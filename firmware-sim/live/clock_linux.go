package live

import (
	"errors"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// clock sleeps until absolute times on the monotonic clock. It locks the
// goroutine to its thread, whose timers the kernel then does not coalesce: a
// time.Ticker is late by half a millisecond and more, this clock by tens of
// microseconds.
type clock struct{ zero int64 }

func newClock() *clock {
	runtime.LockOSThread()
	// Without the permission timers are up to 50 µs later, which is acceptable.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	return &clock{zero: monotonic()}
}

func (c *clock) close() { runtime.UnlockOSThread() }

// now returns the time since newClock.
func (c *clock) now() time.Duration { return time.Duration(monotonic() - c.zero) }

// until sleeps until a time since newClock, which may be past.
func (c *clock) until(d time.Duration) {
	t := unix.NsecToTimespec(c.zero + int64(d))
	for errors.Is(unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &t, nil), unix.EINTR) {
	}
}

func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic("live: no monotonic clock: " + err.Error())
	}
	return t.Nano()
}
