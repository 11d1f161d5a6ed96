package input

import (
	"errors"
	"io"
)

// Window is a stretch of a stream that can be looked at before it is passed.
type Window struct {
	r    io.Reader
	buf  []byte
	lo   int   // first byte not passed
	hi   int   // end of what was read
	base int64 // offset in the stream of buf[0]
	err  error // of the last read, kept
}

// NewWindow returns a window that holds up to capacity bytes.
func NewWindow(r io.Reader, capacity int) *Window {
	return &Window{r: r, buf: make([]byte, capacity)}
}

// Offset returns the place of the window in the stream, in bytes.
func (w *Window) Offset() int64 { return w.base + int64(w.lo) }

// Peek returns the next n bytes without passing them, or fewer where the stream
// ends or fails before. The bytes are valid until the next call of Peek.
// n must not be above the capacity.
func (w *Window) Peek(n int) []byte {
	if w.hi-w.lo < n {
		w.fill(n)
		n = min(n, w.hi-w.lo)
	}
	return w.buf[w.lo : w.lo+n : w.lo+n]
}

// Held returns everything that is held without reading more.
func (w *Window) Held() []byte { return w.buf[w.lo:w.hi] }

// Pass advances by n bytes, which were looked at.
func (w *Window) Pass(n int) {
	if n < 0 || n > w.hi-w.lo {
		panic("input: passed more than was looked at")
	}
	w.lo += n
}

// Skip advances by n bytes or to the end, whatever they are, and returns how many
// were passed.
func (w *Window) Skip(n int64) int64 {
	left := n
	for left > 0 {
		have := int64(len(w.Peek(int(min(left, int64(len(w.buf)))))))
		if have == 0 {
			break
		}
		w.lo += int(have)
		left -= have
	}
	return n - left
}

// Err returns why Peek gave fewer bytes than asked for, nil at a proper end.
func (w *Window) Err() error {
	if errors.Is(w.err, io.EOF) {
		return nil
	}
	return w.err
}

// fill reads until n bytes are held or the stream ends.
func (w *Window) fill(n int) {
	if n > len(w.buf) {
		panic("input: looked for more than the window holds")
	}
	if w.lo > 0 {
		copy(w.buf, w.buf[w.lo:w.hi])
		w.base += int64(w.lo)
		w.hi -= w.lo
		w.lo = 0
	}
	for idle := 0; w.hi < n && w.err == nil; {
		k, err := w.r.Read(w.buf[w.hi:])
		w.hi += k
		w.err = err
		if k > 0 {
			idle = 0
		} else if idle++; idle > 100 && err == nil {
			w.err = io.ErrNoProgress
		}
	}
}

// Read reads the next bytes, as an io.Reader.
func (w *Window) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	if w.lo == w.hi {
		w.fill(1)
	}
	if w.lo == w.hi {
		if err := w.Err(); err != nil {
			return 0, err
		}
		return 0, io.EOF
	}
	n := copy(b, w.buf[w.lo:w.hi])
	w.lo += n
	return n, nil
}
