package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalSize returns how many characters fit on a terminal.
func terminalSize(f *os.File) (columns, rows int, ok bool) {
	w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || w.Col == 0 || w.Row == 0 {
		return 0, 0, false
	}
	return int(w.Col), int(w.Row), true
}
