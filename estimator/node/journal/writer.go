package journal

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/dgm-robotics/dgm/estimator/durable"
	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// Writer writes a journal in a goroutine of its own. Its methods may be called from
// any goroutine and do not wait for the disk.
type Writer struct {
	file *durable.File
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

// keptOld is how many earlier journals are kept: who looks for that of a crash has often restarted more than once.
const keptOld = 3

// oldName returns the name of the n-th earlier journal, 1 the last.
func oldName(path string, n int) string {
	if n == 1 {
		return path + ".old"
	}
	return fmt.Sprintf("%s.old%d", path, n)
}

// Create begins a journal at path. An existing file is renamed to path.old, that to path.old2 and that to path.old3, which
// replaces an earlier one: a program that restarts must not fail because of it. The
// journal ends at most bytes; 0 = never.
func Create(path string, h *Header, most int64) (*Writer, error) {
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%s: is not a regular file and is not replaced; choose another name", path)
		}
		for n := keptOld; n > 1; n-- {
			if err := os.Rename(oldName(path, n-1), oldName(path, n)); err != nil && !os.IsNotExist(err) {
				return nil, fmt.Errorf("an earlier file cannot be renamed: %w", err)
			}
		}
		if err := os.Rename(path, oldName(path, 1)); err != nil {
			return nil, fmt.Errorf("the existing file cannot be renamed: %w", err)
		}
	}
	f, err := durable.Append(path)
	if err != nil {
		return nil, err
	}
	start := magic
	elements := h.elements(&start)
	head := appendRecord(nil, KindHeader, encode(nil, elements[:]))
	if _, err := f.Write(head); err != nil {
		f.Abort()
		return nil, err
	}
	w := &Writer{file: f, most: most, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go w.run(int64(len(head)))
	return w, nil
}

// Model records that a model is used from now on.
func (w *Writer) Model(m *Model) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := m.elements(&w.number)
	w.put(KindModel, true, f[:]...)
}

// State records a state that was consumed.
func (w *Writer) State(s *State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := s.elements(&w.number)
	w.put(KindState, false, f[:]...)
}

// Prediction records the prediction from the last state.
func (w *Writer) Prediction(p *Prediction) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := p.elements(&w.number)
	n := len(f)
	if p.Outcome != OK {
		n = silent
	}
	w.put(KindPrediction, false, f[:n]...)
}

// Reset records that what adaptation has learned was forgotten.
func (w *Writer) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(KindReset, true, msgbin.Required("number", &w.number))
}

// put queues a record of elements, of which the first is the number of the next record.
func (w *Writer) put(k Kind, always bool, elements ...msgbin.Field) {
	if w.err != nil || w.closing {
		return
	}
	w.payload = encode(w.payload, elements)
	if !always && len(w.pending)+len(w.payload) > mostPending {
		w.number++
		w.missed++
		w.lost++
		return
	}
	if w.missed > 0 {
		lost := [...]msgbin.Field{msgbin.Required("number", &w.number), msgbin.Required("lost", &w.missed)}
		w.pending = appendRecord(w.pending, KindLost, encode(nil, lost[:]))
		w.missed = 0
	}
	w.pending = appendRecord(w.pending, k, w.payload)
	w.number++
	if cap(w.payload) > mostPending {
		w.payload = nil // a model's; states are small
	}
}

// Lost returns the number of records that were dropped because the disk is too slow.
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

// Close completes the journal, and returns the error that ended it before.
func (w *Writer) Close() error {
	w.mu.Lock()
	if !w.closing && w.err == nil {
		w.put(KindEnd, true, msgbin.Required("number", &w.number))
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
			} else {
				_, err = w.file.Write(b)
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
	if err := w.file.Commit(); err != nil {
		w.mu.Lock()
		if w.err == nil {
			w.err = err
		}
		w.mu.Unlock()
	}
}
