package input

// Stream reports how far the file behind a window is read, and closes it.
// Readers of logs embed it.
type Stream struct{ w *Window }

// Stream returns that of the window.
func (w *Window) Stream() Stream { return Stream{w} }

// file returns what the window looks into, nil where it is no file of this package.
func (s Stream) file() *File {
	f, _ := s.w.r.(*File)
	return f
}

// Consumed returns the bytes of the file that were read, of what is no file those that
// were passed.
func (s Stream) Consumed() int64 {
	if f := s.file(); f != nil {
		return f.Consumed()
	}
	return s.w.Offset()
}

// Size returns the bytes of the file, 0 of what is none.
func (s Stream) Size() int64 {
	if f := s.file(); f != nil {
		return f.Size()
	}
	return 0
}

// Until has reading end, as where the file ends, once done is closed.
func (s Stream) Until(done <-chan struct{}) {
	if f := s.file(); f != nil {
		f.Until(done)
	}
}

// Close closes the file, if it is one.
func (s Stream) Close() error {
	if f := s.file(); f != nil {
		return f.Close()
	}
	return nil
}
