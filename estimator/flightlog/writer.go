package flightlog

import (
	"fmt"
	"io"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

// flushAt is the number of bytes after which a Writer flushes without being asked.
const flushAt = 64 << 10

// Writer writes a log record by record. Records are gathered and reach the
// io.Writer when there are 64 kB of them, or by Flush. After a failed write
// every call returns the same error. It allocates nothing per record once its
// buffers have grown.
type Writer struct {
	w       io.Writer
	K, P, A int
	records *msgbin.Writer // whole ones, not yet written
	payload *msgbin.Writer // of the record being made
	rec     Record         // which is made
	counted int64          // records since the first Count, that one included; -1 = none
	err     error
}

// NewWriter writes the header, at once, and returns a Writer for the records. It
// refuses a header that no reader would accept by a *FormatError.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	wr, err := newWriter(w, h)
	if err != nil {
		return nil, err
	}
	header := encodeHeader(&h)
	if len(header) > MaxHeader {
		return nil, badHeader("channels", fmt.Errorf("the header has %d bytes, more than the limit of %d", len(header), MaxHeader))
	}
	wr.records.Raw(header)
	wr.records.Record(uint8(KindHeader), header)
	return wr, wr.Flush()
}

// newWriter returns a Writer that continues a log whose header is written.
func newWriter(w io.Writer, h Header) (*Writer, error) {
	if field, err := h.check(); err != nil {
		return nil, badHeader(field, err)
	}
	K, P, A := h.dims()
	return &Writer{
		w: w, counted: -1, K: K, P: P, A: A, payload: msgbin.NewWriter(nil),
		records: msgbin.NewWriter(make([]byte, 0, flushAt+recordMax/8)),
	}, nil
}

func badHeader(field string, err error) error {
	return &FormatError{Path: "flight log", Record: -1, Field: field, Err: err, Remedy: "nothing was written"}
}

// BeginSegment begins an unbroken part of the recording: what follows does not
// continue what came before. Segments may share a name, as the parts of one
// flight around a gap do. x0 (K) is the exact state at the first sample where it
// is known, as in a simulation, else nil.
func (w *Writer) BeginSegment(name string, x0 []float64) error {
	if x0 != nil && len(x0) != w.K {
		panic("flightlog: x0 must hold one value for each state channel")
	}
	if err := w.text("segment name", name, MaxName); err != nil {
		return err
	}
	w.payload.Reset(w.payload.Bytes()[:0])
	w.payload.Array(2)
	w.payload.String(name)
	if x0 == nil {
		w.payload.Nil()
	} else {
		w.payload.Floats(x0)
	}
	return w.record(KindSegment)
}

// Sample writes what was measured at time t (ns): states x (K), inputs u (P), aux
// channels (A). NaN = not measured. Each slice may be nil where there is no such
// channel.
func (w *Writer) Sample(t int64, x, u, aux []float64) error {
	if len(x) != w.K || len(u) != w.P || len(aux) != w.A {
		panic("flightlog: a sample must hold one value for each channel of its role")
	}
	w.rec = Record{T: t, X: x, U: u, Aux: aux}
	f := sampleElements(&w.rec.T, &w.rec.X, &w.rec.U, &w.rec.Aux)
	return w.elements(KindSample, f[:])
}

// Plan writes the inputs that were planned at time t (ns): plan is rows×P, row i
// is held from t + i·step (ns) for one step.
func (w *Writer) Plan(t int64, rows int, plan []float64, step int64) error {
	if rows < 1 || len(plan) != rows*w.P {
		panic("flightlog: a plan must hold rows×P values, and one row or more")
	}
	if w.err != nil {
		return w.err
	}
	if err := checkPlan(step, rows, w.P); err != nil {
		return fmt.Errorf("flight log: plan at time %d ns cannot be written: %w", t, err)
	}
	w.rec = Record{T: t, Step: step, Rows: rows, Plan: plan}
	f := planElements(&w.rec, &w.rec.Plan)
	return w.elements(KindPlan, f[:])
}

// Note writes a remark for people about time t (ns).
func (w *Writer) Note(t int64, text string) error {
	if err := w.text("note", text, MaxText); err != nil {
		return err
	}
	f := noteElements(&t, &text)
	return w.elements(KindNote, f[:])
}

// Count writes how many records there are from the first Count on: nothing for the
// first one, after which readers expect another. A log whose last record is a
// second Count is known to be whole. CreateFile, AppendFile and Commit call it.
func (w *Writer) Count() error {
	w.counted = max(w.counted, 0)
	f := countElements(&w.counted)
	return w.elements(KindCount, f[:])
}

// Flush hands all records so far to the io.Writer.
func (w *Writer) Flush() error {
	if w.err != nil || w.records.Len() == 0 {
		return w.err
	}
	b := w.records.Bytes()
	n, err := w.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	w.records.Reset(b[:0])
	w.err = err
	return err
}

// elements appends the record whose payload has the elements.
func (w *Writer) elements(kind Kind, list []msgbin.Field) error {
	w.payload.Reset(w.payload.Bytes()[:0])
	w.payload.Elements(list)
	return w.record(kind)
}

func (w *Writer) record(kind Kind) error {
	if w.err != nil {
		return w.err
	}
	w.records.Record(uint8(kind), w.payload.Bytes())
	if w.counted >= 0 {
		w.counted++
	}
	if w.records.Len() >= flushAt {
		return w.Flush()
	}
	return nil
}

func (w *Writer) text(what, s string, limit int) error {
	switch {
	case w.err != nil:
		return w.err
	case len(s) > limit:
		return fmt.Errorf("flight log: %s of %d bytes cannot be written, the limit is %d", what, len(s), limit)
	}
	return nil
}
