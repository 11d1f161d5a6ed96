package main

import (
	"io"
	"os"

	"github.com/dgm-robotics/dgm/cmd/dgm-demo/view"
)

// screen is where the demo prints what it does.
type screen struct {
	io.Writer
	tty  bool
	size view.Size
}

// newScreen returns the screen on w.
func newScreen(w io.Writer) *screen {
	s := &screen{Writer: w, size: view.Size{Columns: 80, Rows: 24}}
	if f, ok := w.(*os.File); ok && view.IsTerminal(f) {
		s.tty = true
		if columns, rows, ok := terminalSize(f); ok {
			s.size = view.Size{Columns: min(columns, 120), Rows: min(rows, 32)}
		}
	}
	s.size.Rows-- // the cursor has a line of its own
	return s
}
