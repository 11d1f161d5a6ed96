//go:build unix

package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// busy returns how long the processors have been at work for this process, all of its
// threads together.
func busy() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
