package flightlog

import (
	"errors"
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/msgbin"
)

// Kind says what a record holds. The numbers stand in logs and never change.
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

// Record is one record. Kind says which fields mean something. Slices are valid
// until the next call of Next.
type Record struct {
	Kind Kind
	T    int64     // sample, plan, note: time, ns
	Name string    // segment
	X0   []float64 // segment: K, the exact state at its start; nil = not known
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
}

func newDecoder(h *Header) decoder {
	K, P, A := h.dims()
	return decoder{K: K, P: P, A: A,
		x: make([]float64, K), u: make([]float64, P), aux: make([]float64, A), x0: make([]float64, K)}
}

// fieldError is a fault in a payload, with its field.
type fieldError struct {
	field string
	err   error
}

func (e *fieldError) Error() string { return e.field + ": " + e.err.Error() }
func (e *fieldError) Unwrap() error { return e.err }

// decode reads the payload of a known kind. Elements that a newer writer put
// behind the known ones are left unread.
func (d *decoder) decode(kind Kind, payload []byte) (Record, error) {
	rec := Record{Kind: kind}
	p := payloadReader{r: msgbin.NewReader(payload)}
	switch kind {
	case KindSegment:
		p.array(2)
		rec.Name = p.str("name", MaxName)
		if p.err == nil && !p.r.Nil() {
			p.floats("x0", d.x0)
			rec.X0 = d.x0
		}
	case KindSample:
		p.array(4)
		rec.T = p.int("t")
		p.floats("x", d.x)
		p.floats("u", d.u)
		p.floats("aux", d.aux)
		rec.X, rec.U, rec.Aux = d.x, d.u, d.aux
	case KindPlan:
		p.array(4)
		rec.T = p.int("t")
		rec.Step = p.int("step")
		rows := p.int("rows")
		if p.err == nil {
			p.err = checkPlan(rec.Step, rows, d.P)
		}
		if p.err == nil {
			rec.Rows = int(rows)
			if need := rec.Rows * d.P; cap(d.plan) < need {
				d.plan = make([]float64, need)
			}
			rec.Plan = d.plan[:rec.Rows*d.P]
			p.floats("plan", rec.Plan)
		}
	case KindNote:
		p.array(2)
		rec.T = p.int("t")
		rec.Text = p.str("text", MaxText)
	}
	return rec, p.err
}

// checkPlan bounds the shape of a plan, before memory is taken for it.
func checkPlan(step, rows int64, P int) error {
	switch {
	case P == 0:
		return &fieldError{"plan", errors.New("the header has no input channel")}
	case step <= 0:
		return &fieldError{"step", fmt.Errorf("%d ns must be positive", step)}
	case rows < 1 || rows > int64(maxPlan/P):
		return &fieldError{"rows", fmt.Errorf("%d rows of %d inputs, expected 1 to %d", rows, P, maxPlan/P)}
	}
	return nil
}

// maxPlan is how many numbers a plan can hold in a payload, with room for the
// other fields.
const maxPlan = (MaxPayload - 64) / 8

// payloadReader reads the elements of a payload's array in order and keeps the
// first error.
type payloadReader struct {
	r   msgbin.Reader
	err error
}

func (p *payloadReader) array(min int) {
	n, err := p.r.Array(64)
	if err == nil && n < min {
		err = fmt.Errorf("%d elements, expected %d or more", n, min)
	}
	p.keep("payload", err)
}

func (p *payloadReader) int(field string) (v int64) {
	if p.err == nil {
		var err error
		v, err = p.r.Int64()
		p.keep(field, err)
	}
	return v
}

func (p *payloadReader) str(field string, max int) (s string) {
	if p.err == nil {
		var err error
		s, err = p.r.String(max)
		p.keep(field, err)
	}
	return s
}

func (p *payloadReader) floats(field string, dst []float64) {
	if p.err == nil {
		p.keep(field, p.r.Floats(dst))
	}
}

func (p *payloadReader) keep(field string, err error) {
	if err != nil {
		p.err = &fieldError{field, err}
	}
}
