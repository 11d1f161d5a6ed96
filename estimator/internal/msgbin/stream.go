package msgbin

import (
	"errors"
	"io"
)

// Stream is a window onto an io.Reader. It holds at most a few records, however
// long the stream is.
type Stream struct {
	r      io.Reader
	buf    []byte
	start  int   // buf[start:end] is read and not yet consumed
	end    int   //
	offset int64 // of buf[start] in the stream
	err    error // io.EOF or a failed read, met after buf[:end]
}

// NewStream returns an empty window at the start of r.
func NewStream(r io.Reader) *Stream { return &Stream{r: r} }

// Bytes returns what is in the window, until the next Fill.
func (s *Stream) Bytes() []byte { return s.buf[s.start:s.end] }

// Offset returns the number of bytes consumed.
func (s *Stream) Offset() int64 { return s.offset }

// Advance consumes n bytes of the window.
func (s *Stream) Advance(n int) {
	s.start += n
	s.offset += int64(n)
}

// Fill reads until the window holds n bytes, and reports whether it does: the
// stream may end before. The memory of the window grows only while data comes in.
func (s *Stream) Fill(n int) bool {
	for idle := 0; s.end-s.start < n && s.err == nil; {
		if s.end == len(s.buf) {
			s.makeRoom()
		}
		k, err := s.r.Read(s.buf[s.end:])
		s.end += k
		s.err = err
		if k > 0 {
			idle = 0
		} else if idle++; idle == 100 && err == nil {
			s.err = io.ErrNoProgress
		}
	}
	return s.end-s.start >= n
}

// makeRoom frees space behind end: it moves the window to the front of the buffer
// where that frees at least half of it, so that moving stays cheap, else to a
// buffer twice as large.
func (s *Stream) makeRoom() {
	if s.start < len(s.buf)/2 || s.start == 0 {
		larger := make([]byte, max(64<<10, 2*len(s.buf)))
		s.end = copy(larger, s.Bytes())
		s.buf, s.start = larger, 0
		return
	}
	s.end = copy(s.buf, s.Bytes())
	s.start = 0
}

// Err returns the error of a read that failed, nil where the stream just ended.
func (s *Stream) Err() error {
	if errors.Is(s.err, io.EOF) {
		return nil
	}
	return s.err
}
