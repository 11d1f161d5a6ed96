package flightlog

import (
	"errors"
	"io"
)

// source is a window onto a stream. It holds at most a few records, however long
// the stream is.
type source struct {
	r     io.Reader
	buf   []byte
	start int   // buf[start:end] is read and not yet consumed
	end   int   //
	base  int64 // place of buf[start] in the stream
	err   error // io.EOF or a failed read, met after buf[:end]
}

// bytes returns what is in the window.
func (s *source) bytes() []byte { return s.buf[s.start:s.end] }

// advance consumes n bytes of the window.
func (s *source) advance(n int) {
	s.start += n
	s.base += int64(n)
}

// fill reads until the window holds n bytes or the stream ends, which it
// reports by false. The window's memory grows only while data comes in.
func (s *source) fill(n int) bool {
	for idle := 0; s.end-s.start < n && s.err == nil; {
		if s.end == len(s.buf) {
			s.room()
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

// room makes place behind end: by moving the window to the front of the buffer
// where that frees at least half of it, so that moving stays cheap, else by a
// buffer twice as large.
func (s *source) room() {
	if s.start < len(s.buf)/2 || s.start == 0 {
		larger := make([]byte, max(64<<10, 2*len(s.buf)))
		s.end = copy(larger, s.bytes())
		s.buf, s.start = larger, 0
		return
	}
	s.end = copy(s.buf, s.bytes())
	s.start = 0
}

// failed returns the error of a read that failed, nil where the stream just ended.
func (s *source) failed() error {
	if s.err == nil || errors.Is(s.err, io.EOF) {
		return nil
	}
	return s.err
}
