package cli

import (
	"io"
	"os"
	"sync"
)

// messages serialises writes to standard error, which callbacks of a library share with
// the command, and drops those after its end. (A file of the operating system needs
// neither.)
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

// serialised returns w, safe for callbacks, and a function that ends it.
func serialised(w io.Writer) (io.Writer, func()) {
	if f, ok := w.(*os.File); ok {
		return f, func() {}
	}
	m := &messages{w: w}
	return m, m.end
}
