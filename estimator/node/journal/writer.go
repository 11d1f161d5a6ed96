package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/dgm-robotics/dgm/estimator/msgbin"
)

// Writer writes a journal beside the loop that it is the journal of. Its methods
// may be called from any goroutine and do not wait for the disk.
type Writer struct {
	file *os.File
	most int64 // bytes of the file
	wake chan struct{}
	done chan struct{}

	mu      sync.Mutex
	closing bool
	pending []byte // records, to be written
	payload []byte // of the record being made
	number  uint64 // of the next record
	missed  uint64 // records lost since the last one that fitted
	lost    uint64 // in all
	err     error  // why writing has ended
}

const (
	mostPending = 8 << 20                // bytes that wait for the disk; models apart
	pause       = 100 * time.Millisecond // between two writes
)

// ErrFull is why a journal ends at its limit.
var ErrFull = errors.New("the recording has reached its limit")

// Create begins a journal at path. What stands there is kept under the same name
// with .old behind it, instead of what stood there: a program that starts again
// must not fail for it. The file ends at most bytes; 0 = never.
func Create(path string, h *Header, most int64) (*Writer, error) {
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s: is not a regular file and is not replaced; choose another name", path)
		}
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, fmt.Errorf("%s: what stands there cannot be moved aside: %w", path, reason(err))
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be written: %w", path, reason(err))
	}
	head := appendRecord(nil, KindHeader, msgbin.Append(nil, h.append))
	if _, err := f.Write(head); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: cannot be written: %w", path, reason(err))
	}
	w := &Writer{file: f, most: most, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go w.run(int64(len(head)))
	return w, nil
}

// Model records that a model was taken.
func (w *Writer) Model(m *Model) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.payload = msgbin.Append(w.payload[:0], func(out *msgbin.Writer) { m.append(out, w.number) })
	w.put(KindModel, true)
}

// State records a state that was consumed.
func (w *Writer) State(s *State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.payload = msgbin.Append(w.payload[:0], func(out *msgbin.Writer) { s.append(out, w.number) })
	w.put(KindState, false)
}

// Prediction records what was made of the last state.
func (w *Writer) Prediction(p *Prediction) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.payload = msgbin.Append(w.payload[:0], func(out *msgbin.Writer) { p.append(out, w.number) })
	w.put(KindPrediction, false)
}

// put takes the payload in, which has the number of the next record.
func (w *Writer) put(k Kind, always bool) {
	if w.err != nil || w.closing {
		return
	}
	if !always && len(w.pending)+len(w.payload) > mostPending {
		w.number++
		w.missed++
		w.lost++
		return
	}
	if w.missed > 0 {
		note := msgbin.Append(nil, func(out *msgbin.Writer) {
			out.Array(2)
			out.Uint(w.number)
			out.Uint(w.missed)
		})
		w.pending = appendRecord(w.pending, KindLost, note)
		w.missed = 0
	}
	w.pending = appendRecord(w.pending, k, w.payload)
	w.number++
	if cap(w.payload) > mostPending {
		w.payload = nil // a model's; states are small
	}
}

// Lost returns how many records the disk was too slow for.
func (w *Writer) Lost() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lost
}

// Err returns why writing has ended, nil while it goes on.
func (w *Writer) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Close ends the journal in order and returns why it ended before, if it did.
func (w *Writer) Close() error {
	w.mu.Lock()
	if !w.closing && w.err == nil {
		w.payload = msgbin.Append(w.payload[:0], func(out *msgbin.Writer) {
			out.Array(1)
			out.Uint(w.number)
		})
		w.put(KindEnd, true)
	}
	first := !w.closing
	w.closing = true
	w.mu.Unlock()
	if first {
		close(w.wake)
	}
	<-w.done
	return w.Err()
}

// run writes what is pending until Close.
func (w *Writer) run(size int64) {
	defer close(w.done)
	every := time.NewTicker(pause)
	defer every.Stop()
	var spare []byte
	for open := true; open; {
		select {
		case <-every.C:
		case _, open = <-w.wake:
		}
		w.mu.Lock()
		b := w.pending
		w.pending = spare[:0]
		w.mu.Unlock()
		if w.Err() == nil && len(b) > 0 {
			var err error
			if size += int64(len(b)); w.most > 0 && size > w.most {
				err = ErrFull
			} else if _, err = w.file.Write(b); err != nil {
				err = fmt.Errorf("%s: cannot be written: %w", w.file.Name(), reason(err))
			}
			if err != nil {
				w.mu.Lock()
				w.err, w.pending = err, nil
				w.mu.Unlock()
			}
		}
		spare = b
		if cap(spare) > 2*mostPending {
			spare = nil
		}
	}
	err := w.file.Sync()
	if e := w.file.Close(); err == nil {
		err = e
	}
	if err != nil {
		w.mu.Lock()
		if w.err == nil {
			w.err = fmt.Errorf("%s: cannot be written: %w", w.file.Name(), reason(err))
		}
		w.mu.Unlock()
	}
}

// reason strips the operation and the name off an error of package os.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}
