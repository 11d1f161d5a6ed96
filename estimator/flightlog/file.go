package flightlog

import (
	"errors"
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/durable"
)

// File is a log being written to disk. It ends by Commit or Abort.
type File struct {
	*Writer
	out *durable.File
}

// CreateFile begins a log that appears at path with Commit, complete. It fails at
// once where path cannot be written.
func CreateFile(path string, h Header) (*File, error) {
	out, err := durable.Create(path)
	if err != nil {
		return nil, err
	}
	w, err := NewWriter(out, h)
	if err == nil {
		err = w.Count()
	}
	if err != nil {
		out.Abort()
		return nil, named(path, err)
	}
	return &File{w, out}, nil
}

// AppendFile begins or continues a recording at path, in place: what was flushed
// survives the loss of power. A log that exists must have the same vehicle and
// channels and keeps all its records; a record that was cut off at its end remains,
// is reported as damage to readers, and hides nothing of what follows. Begin with
// BeginSegment.
func AppendFile(path string, h Header) (*File, error) {
	out, err := durable.Append(path)
	if err != nil {
		return nil, err
	}
	w, err := continueLog(out, h)
	if err == nil {
		err = w.Count()
	}
	if err != nil {
		out.Abort()
		return nil, named(path, err)
	}
	f := &File{w, out}
	if err := f.Flush(); err != nil {
		out.Abort()
		return nil, err
	}
	return f, durable.SyncFolder(path)
}

// continueLog returns a Writer for the end of a file that is empty or a log of the
// same robot.
func continueLog(out *durable.File, h Header) (*Writer, error) {
	path := out.Path()
	r, err := OpenFile(path)
	if errors.Is(err, ErrEmpty) {
		return NewWriter(out, h)
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	old := r.Header()
	mismatch := channel.SameLayout(old.Channels, h.Channels)
	if old.Vehicle != h.Vehicle {
		mismatch = fmt.Errorf("it belongs to vehicle %q, not %q", old.Vehicle, h.Vehicle)
	}
	if mismatch != nil {
		return nil, &FormatError{
			Path: path, Record: -1, Field: "channels", Err: mismatch,
			Remedy: "record to another file",
		}
	}
	return newWriter(out, old)
}

// Flush makes durable what was written so far.
func (f *File) Flush() error {
	if err := f.Writer.Flush(); err != nil {
		return err
	}
	return f.out.Sync()
}

// Commit writes the rest and the count of the records, and closes the log; one of CreateFile gets its final name.
// On an error a log of CreateFile leaves nothing behind, a recording keeps what was
// written.
func (f *File) Commit() error {
	err := f.Count()
	if err == nil {
		err = f.Writer.Flush()
	}
	if err == nil {
		err = f.out.Commit()
	}
	f.out.Abort()
	return err
}

// Abort drops a log of CreateFile and closes a recording as it is. After Commit or
// Abort it does nothing, so that it can be deferred.
func (f *File) Abort() { f.out.Abort() }

// named puts the name of the file into an error of a Writer, which does not know it.
func named(path string, err error) error {
	if e, ok := errors.AsType[*FormatError](err); ok {
		e.Path = path
	}
	return err
}
