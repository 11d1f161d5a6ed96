//go:build unix

package main

import (
	"os/signal"

	"golang.org/x/sys/unix"
)

// limitFiles lets no file of this process grow beyond so many bytes: writing more
// fails, as it does on a full disk.
func limitFiles(bytes uint64) error {
	signal.Ignore(unix.SIGXFSZ) // else the process ends
	return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: bytes})
}
