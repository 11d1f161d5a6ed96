package flightlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/durable"
)

// File is a log being written to disk. It ends by Commit or Abort.
type File struct {
	*Writer
	path   string
	whole  *durable.File // by CreateFile, until Commit or Abort
	living *os.File      // by AppendFile, until Commit or Abort
}

// CreateFile begins a log that stands at path only after Commit, whole. It fails
// at once where path cannot be written.
func CreateFile(path string, h Header) (*File, error) {
	out, err := durable.Create(path)
	if err != nil {
		return nil, err
	}
	w, err := NewWriter(out, h)
	if err != nil {
		out.Abort()
		return nil, named(path, err)
	}
	return &File{Writer: w, path: path, whole: out}, nil
}

// AppendFile begins or continues a recording at path, in place: what was flushed
// survives the loss of power. A log that is already there must have the same
// vehicle and channels and keeps all its records; a record that was cut off at
// its end stays there, is reported as damage to readers, and hides nothing of
// what follows. Begin with BeginSegment.
func AppendFile(path string, h Header) (*File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	w, err := continueLog(f, path, h)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	file := &File{Writer: w, path: path, living: f}
	if err := file.Flush(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return file, durable.SyncFolder(path)
}

// continueLog returns a Writer for the end of f, which is empty or a log of the
// same robot.
func continueLog(f *os.File, path string, h Header) (*Writer, error) {
	out := &appender{f, path}
	r, err := NewReader(f, path)
	if errors.Is(err, ErrEmpty) {
		w, err := NewWriter(out, h)
		return w, named(path, err)
	}
	if err != nil {
		return nil, err
	}
	there := r.Header()
	mismatch := channel.SameLayout(there.Channels, h.Channels)
	if there.Vehicle != h.Vehicle {
		mismatch = fmt.Errorf("it belongs to vehicle %q, not %q", there.Vehicle, h.Vehicle)
	}
	if mismatch != nil {
		return nil, &FormatError{Path: path, Record: -1, Field: "channels", Err: mismatch,
			Mend: "record to another file"}
	}
	w, err := newWriter(out, there)
	return w, named(path, err)
}

// Path returns the name under which the log stands or will stand.
func (f *File) Path() string { return f.path }

// Flush makes durable what was written so far.
func (f *File) Flush() error {
	if err := f.Writer.Flush(); err != nil {
		return err
	}
	if f.whole != nil {
		return f.whole.Sync()
	}
	if err := f.living.Sync(); err != nil {
		return writeError(f.path, err)
	}
	return nil
}

// Commit writes the rest and closes the log; one of CreateFile appears under its
// name. On an error a log of CreateFile leaves nothing behind, a recording keeps
// what was written.
func (f *File) Commit() error {
	if f.whole == nil && f.living == nil {
		panic("flightlog: Commit after Commit or Abort")
	}
	err := f.Flush()
	if f.whole != nil {
		if err == nil {
			err = f.whole.Commit()
		}
		f.whole.Abort()
		f.whole = nil
		return err
	}
	if e := f.living.Close(); e != nil && err == nil {
		err = writeError(f.path, e)
	}
	f.living = nil
	return err
}

// Abort drops a log of CreateFile and closes a recording as it is. After Commit
// or Abort it does nothing, so that it can be deferred.
func (f *File) Abort() {
	if f.whole != nil {
		f.whole.Abort()
		f.whole = nil
	}
	if f.living != nil {
		// The recording is given up; what was flushed is on the disk.
		_ = f.living.Close()
		f.living = nil
	}
}

// appender names the log in the errors of its writes.
type appender struct {
	f    *os.File
	path string
}

func (a *appender) Write(b []byte) (int, error) {
	n, err := a.f.Write(b)
	if err != nil {
		err = writeError(a.path, err)
	}
	return n, err
}

var _ io.Writer = (*appender)(nil)

func writeError(path string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s: cannot be written: %w", path, err)
}

// named puts the file's name into an error of a Writer that did not know it.
func named(path string, err error) error {
	var e *FormatError
	if errors.As(err, &e) {
		e.Path = path
	}
	return err
}
