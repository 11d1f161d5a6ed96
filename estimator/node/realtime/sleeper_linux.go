package realtime

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"
)

// Sleeper sleeps on the thread of the goroutine that made it.
type Sleeper struct {
	zero   int64 // ns, monotonic, at the caller's zero
	raised bool
}

// NewSleeper locks the calling goroutine to its thread until Close. steady is the
// caller's clock now, ns; the times given to Until are on it. With the priority
// of the process above 0 the thread is raised above the others.
func NewSleeper(steady int64, priority int) *Sleeper {
	runtime.LockOSThread()
	// Without the right to set it, timers are up to 50 µs later: no harm.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	s := &Sleeper{zero: monotonic() - steady}
	if priority > 0 {
		// Refused where Apply was refused, which has returned why.
		s.raised = fifo(unix.Gettid(), priority+loopAbove) == nil
	}
	return s
}

// Close unlocks the goroutine from its thread. A thread that was raised ends with
// the goroutine, so that nothing else runs at its priority.
func (s *Sleeper) Close() {
	if !s.raised {
		runtime.UnlockOSThread()
	}
}

// Until sleeps until a time, which may be past. Signals do not wake it early.
func (s *Sleeper) Until(steady int64) {
	t := unix.NsecToTimespec(s.zero + steady)
	for errors.Is(unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &t, nil), unix.EINTR) {
	}
}

func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic("realtime: no monotonic clock: " + err.Error())
	}
	return t.Nano()
}
