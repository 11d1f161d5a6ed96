package speed

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// pin holds the calling goroutine on one processor until unpin, the last of those
// allowed where cpu is negative.
func pin(cpu int) (unpin func(), err error) {
	runtime.LockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return nil, fmt.Errorf("asking for the processors: %w", err)
	}
	if cpu < 0 {
		for i := range len(before) * 64 {
			if before.IsSet(i) {
				cpu = i
			}
		}
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return nil, fmt.Errorf("going to processor %d: %w", cpu, err)
	}
	return func() {
		_ = unix.SchedSetaffinity(0, &before)
		runtime.UnlockOSThread()
	}, nil
}

// Busy returns how long the calling thread has been at work.
func Busy() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(t.Nano())
}
