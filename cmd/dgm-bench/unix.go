//go:build unix

package main

import (
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// busy returns the time that the processors have spent on this process, all of its
// threads together.
func busy() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return time.Duration(time.Now().UnixNano())
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// limitFiles lets no file of this process grow beyond so many bytes: writing more
// fails, as it does on a full disk.
func limitFiles(bytes uint64) error {
	signal.Ignore(unix.SIGXFSZ) // else the process ends
	return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: bytes})
}
