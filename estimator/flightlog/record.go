package flightlog

import (
	"errors"
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/msgbin"
)

// Kind is the kind of a record. The numbers are in logs and never change.
type Kind uint8

// The kinds of records. Readers skip others.
const (
	KindHeader  Kind = 1 // a copy of the header
	KindSegment Kind = 2
	KindSample  Kind = 3
	KindPlan    Kind = 4
	KindNote    Kind = 5
)

// String names the kind.
func (k Kind) String() string {
	switch k {
	case KindHeader:
		return "header"
	case KindSegment:
		return "segment"
	case KindSample:
		return "sample"
	case KindPlan:
		return "plan"
	case KindNote:
		return "note"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Record is one record. Its fields are set according to Kind. Slices are valid
// until the next call of Next.
type Record struct {
	Kind Kind
	T    int64     // sample, plan, note: time, ns
	Name string    // segment
	X0   []float64 // segment: K, the exact state at its start; nil = unknown
	X    []float64 // sample: K, NaN = not measured
	U    []float64 // sample: P, NaN = not measured
	Aux  []float64 // sample: A, NaN = not measured
	Step int64     // plan: ns between rows, > 0
	Rows int       // plan
	Plan []float64 // plan: Rows×P, row i holds from T + i·Step
	Text string    // note
}

// decoder reads payloads into its own buffers.
type decoder struct {
	K, P, A   int
	x, u, aux []float64 // K, P, A
	x0        []float64 // K
	plan      []float64 // grows to the longest plan seen
	r         *msgbin.Reader
	err       error // the first of the payload, a *msgbin.FieldError
}

func newDecoder(h *Header) decoder {
	K, P, A := h.dims()
	return decoder{K: K, P: P, A: A, r: msgbin.NewReader(nil),
		x: make([]float64, K), u: make([]float64, P), aux: make([]float64, A), x0: make([]float64, K)}
}

// decode reads the payload of a known kind. Elements that a newer writer added
// after the known ones are left unread.
func (d *decoder) decode(kind Kind, payload []byte) (Record, error) {
	rec := Record{Kind: kind}
	d.r.Reset(payload)
	d.err = nil
	switch kind {
	case KindSegment:
		d.array(2)
		rec.Name = d.text("name", MaxName)
		if d.err == nil && !d.r.Nil() {
			d.floats("x0", d.x0)
			rec.X0 = d.x0
		}
	case KindSample:
		d.array(4)
		rec.T = d.int("t")
		d.floats("x", d.x)
		d.floats("u", d.u)
		d.floats("aux", d.aux)
		rec.X, rec.U, rec.Aux = d.x, d.u, d.aux
	case KindPlan:
		d.array(4)
		rec.T = d.int("t")
		rec.Step = d.int("step")
		rows := d.int("rows")
		if d.err == nil {
			d.err = checkPlan(rec.Step, rows, d.P)
		}
		if d.err == nil {
			rec.Rows = int(rows)
			d.plan = msgbin.Resize(d.plan, rec.Rows*d.P)
			rec.Plan = d.plan
			d.floats("plan", rec.Plan)
		}
	case KindNote:
		d.array(2)
		rec.T = d.int("t")
		rec.Text = d.text("text", MaxText)
	}
	return rec, d.err
}

// checkPlan bounds the shape of a plan, before memory is allocated for it.
func checkPlan(step, rows int64, P int) error {
	switch {
	case P == 0:
		return within("plan", errors.New("the header has no input channel"))
	case step <= 0:
		return within("step", fmt.Errorf("%d ns must be positive", step))
	case rows < 1 || rows > int64(maxPlan/P):
		return within("rows", fmt.Errorf("%d rows of %d inputs, expected 1 to %d", rows, P, maxPlan/P))
	}
	return nil
}

// maxPlan is how many numbers a plan can hold in a payload, with room for the
// other fields.
const maxPlan = (MaxPayload - 64) / 8

func (d *decoder) array(min int) {
	n, err := d.r.Array(64)
	if err == nil && n < min {
		err = fmt.Errorf("%d elements, expected %d or more", n, min)
	}
	d.keep("payload", err)
}

func (d *decoder) int(field string) (v int64) {
	if d.err == nil {
		var err error
		v, err = d.r.Int64()
		d.keep(field, err)
	}
	return v
}

func (d *decoder) text(field string, max int) (s string) {
	if d.err == nil {
		var err error
		s, err = d.r.String(max)
		d.keep(field, err)
	}
	return s
}

func (d *decoder) floats(field string, dst []float64) {
	if d.err == nil {
		d.keep(field, d.r.Floats(dst))
	}
}

func (d *decoder) keep(field string, err error) {
	if err != nil {
		d.err = within(field, err)
	}
}
