// Package logfile holds what the readers of binary logs share: opening a file, the
// loop over its records, its end, and resynchronisation behind damage.
package logfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/dgm-robotics/dgm/bridge/input"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Reader is the part of a telemetry.Source that does not depend on the format.
type Reader struct {
	Window *input.Window
	Path   string // name of the file in errors
	Wants  telemetry.Wants
	Report telemetry.Problems // what could not be read so far

	file *input.File // nil: the stream is no file
	size int         // bytes that the window holds
	err  error       // of Next, for good
}

// New returns a reader of any stream, whose window holds size bytes.
func New(path string, stream io.Reader, wants telemetry.Wants, size int) Reader {
	file, _ := stream.(*input.File)
	return Reader{Window: input.NewWindow(stream, size), Path: path, Wants: wants, file: file, size: size}
}

// Open opens a file and begins to read it; begin refuses what has another format.
func Open[R any](path string, wants telemetry.Wants, reader func(string, io.Reader, telemetry.Wants) R, begin func(R) error) (R, error) {
	var none R
	file, err := input.Open(path)
	if err != nil {
		return none, err
	}
	r := reader(path, file, wants)
	if err := begin(r); err != nil {
		return none, errors.Join(err, file.Close())
	}
	return r, nil
}

// Begins passes the first bytes of a file, and refuses one that has others: it is no what; mend is what to give instead.
func (r *Reader) Begins(magic []byte, what, mend string) error {
	b := r.Window.Peek(len(magic))
	if err := r.Window.Err(); err != nil {
		return fmt.Errorf("%s: %w", r.Path, err)
	}
	if !bytes.Equal(b, magic) {
		return fmt.Errorf("%s: byte 0: this is no %s: it begins with % x; %s", r.Path, what, b, mend)
	}
	r.Window.Pass(len(magic))
	return nil
}

// Loop calls begin (optional) at the start of the file, and record until it returns a
// message or an error, which every later call returns.
func (r *Reader) Loop(begin func() error, record func() (*telemetry.Message, error)) (*telemetry.Message, error) {
	if r.err == nil && begin != nil && r.Window.Offset() == 0 {
		r.err = begin()
	}
	for r.err == nil {
		m, err := record()
		if err != nil {
			r.err = err
		} else if m != nil {
			return m, nil
		}
	}
	return nil, r.err
}

// End ends the reading at a byte, where n bytes are left that are no whole record.
func (r *Reader) End(at int64, n int) error {
	if err := r.Window.Err(); err != nil {
		r.Report.Add(at, "file", "cannot be read further: %v", err)
	} else if n > 0 {
		r.Report.Add(at, "file", "cut off within a record, the last %d bytes are not read", n)
	}
	return io.EOF
}

// Resync skips the next byte, which is at, and continues at the first place behind it
// at which records begin. find returns the index of such a place among the first most
// bytes of held, or −1. The last need bytes of the file are not searched; far from
// its end only the first of share parts of what is held are, so that the records that
// follow are seen. It reports which bytes were skipped.
func (r *Reader) Resync(at int64, record, reason string, need, share int, find func(held []byte, most int) int) {
	r.Window.Pass(1)
	for {
		held := r.Window.Peek(r.size / 2)
		most := len(held) - need
		if most <= 0 {
			r.Window.Pass(len(held))
			r.Report.Add(at, record, "the last %d bytes are %s or cut off and are not read", r.Window.Offset()-at, reason)
			return
		}
		if len(held) == r.size/2 && share > 1 {
			most = len(held) / share
		}
		if i := find(held, most); i >= 0 {
			r.Window.Pass(i)
			r.Report.Add(at, record, "%s; %d bytes skipped, continued at byte %d", reason, r.Window.Offset()-at, r.Window.Offset())
			return
		}
		r.Window.Pass(most)
	}
}

// Consumed returns the bytes of the file that were read, of a stream those that were
// passed.
func (r *Reader) Consumed() int64 {
	if r.file == nil {
		return r.Window.Offset()
	}
	return r.file.Consumed()
}

// Size returns the bytes of the file, 0 of a stream.
func (r *Reader) Size() int64 {
	if r.file == nil {
		return 0
	}
	return r.file.Size()
}

// Until ends the reading, as the end of the file does, once done is closed.
func (r *Reader) Until(done <-chan struct{}) {
	if r.file != nil {
		r.file.Until(done)
	}
}

func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Problems returns what could not be read so far.
func (r *Reader) Problems() *telemetry.Problems { return &r.Report }

// Wanted returns the places of the fields that are wanted of a topic; find returns the
// place of a path, or what is wrong with it.
func Wanted[P any](r *Reader, t *telemetry.Topic, find func(path string) (P, error)) (all []P, err error) {
	for _, path := range r.Wants.Paths(t) {
		p, err := find(path)
		if err != nil {
			return nil, telemetry.NewFieldError(r.Path, t, path, err.Error())
		}
		all = append(all, p)
	}
	return all, nil
}
