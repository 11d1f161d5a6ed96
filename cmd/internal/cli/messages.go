package cli

import (
	"io"
	"os"
	"sync"
)

// messages is a standard error that callbacks of a library may write to as well,
// one write after the other, until the command has ended: what comes later has
// nobody to read it. (A file of the operating system needs no such thing.)
type messages struct {
	mu    sync.Mutex
	w     io.Writer
	ended bool
}

// Write implements io.Writer.
func (m *messages) Write(b []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return len(b), nil
	}
	return m.w.Write(b)
}

func (m *messages) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
}

// guard returns w, safe for callbacks, and what ends it.
func guard(w io.Writer) (io.Writer, func()) {
	if f, ok := w.(*os.File); ok {
		return f, func() {}
	}
	m := &messages{w: w}
	return m, m.end
}
