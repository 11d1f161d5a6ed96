//go:build unix

package study

import (
	"time"

	"golang.org/x/sys/unix"
)

// Busy returns the time that the processors have spent on this process, all of its threads
// together.
func Busy() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
