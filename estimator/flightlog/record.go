package flightlog

import (
	"errors"
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
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
	KindCount   Kind = 6 // of the records, for readers alone
)

var kindNames = [...]string{KindHeader: "header", KindSegment: "segment", KindSample: "sample", KindPlan: "plan", KindNote: "note", KindCount: "count"}

// String names the kind.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
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
	K, P, A       int
	x0, x, u, aux []float64
	plan          []float64 // of the length of the longest plan so far
	rec           Record
	r             *msgbin.Reader
}

func newDecoder(h *Header) decoder {
	K, P, A := h.dims()
	return decoder{K: K, P: P, A: A, r: msgbin.NewReader(nil)}
}

// decode reads the payload of a known kind. Elements that a newer writer added
// after the known ones are left unread. The error is a *msgbin.FieldError.
func (d *decoder) decode(kind Kind, payload []byte) (Record, error) {
	rec := &d.rec
	*rec = Record{Kind: kind}
	d.r.Reset(payload)
	var err error
	switch kind {
	case KindSegment:
		f := [...]msgbin.Field{msgbin.Required("name", &rec.Name).Limit(MaxName), msgbin.Optional("x0", &d.x0).Exactly(d.K)}
		if err = d.r.Elements(f[:]); len(d.x0) > 0 {
			rec.X0 = d.x0
		}
	case KindSample:
		f := sampleElements(&rec.T, &d.x, &d.u, &d.aux)
		f[1], f[2], f[3] = f[1].Exactly(d.K), f[2].Exactly(d.P), f[3].Exactly(d.A)
		err = d.r.Elements(f[:])
		rec.X, rec.U, rec.Aux = d.x, d.u, d.aux
	case KindPlan:
		f := planElements(rec, &d.plan)
		if err = d.r.Elements(f[:3]); err == nil {
			err = checkPlan(rec.Step, rec.Rows, d.P)
		}
		if err == nil {
			d.r.Reset(payload)
			f[3] = f[3].Exactly(rec.Rows * d.P)
			err = d.r.Elements(f[:])
			rec.Plan = d.plan
		}
	case KindNote:
		f := noteElements(&rec.T, &rec.Text)
		err = d.r.Elements(f[:])
	}
	return *rec, err
}

func sampleElements(t *int64, x, u, aux *[]float64) [4]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("t", t), msgbin.Required("x", x), msgbin.Required("u", u), msgbin.Required("aux", aux),
	}
}

func planElements(rec *Record, plan *[]float64) [4]msgbin.Field {
	return [...]msgbin.Field{
		msgbin.Required("t", &rec.T), msgbin.Required("step", &rec.Step), msgbin.Required("rows", &rec.Rows), msgbin.Required("plan", plan),
	}
}

func noteElements(t *int64, text *string) [2]msgbin.Field {
	return [...]msgbin.Field{msgbin.Required("t", t), msgbin.Required("text", text).Limit(MaxText)}
}

func countElements(n *int64) [1]msgbin.Field { return [...]msgbin.Field{msgbin.Required("records", n)} }

// checkPlan bounds the shape of a plan, before memory is allocated for it.
func checkPlan(step int64, rows, P int) error {
	switch {
	case P == 0:
		return msgbin.Within("plan", errors.New("the header has no input channel"))
	case step <= 0:
		return msgbin.Within("step", fmt.Errorf("%d ns must be positive", step))
	case rows < 1 || rows > maxPlan/P:
		return msgbin.Within("rows", fmt.Errorf("%d rows of %d inputs, expected 1 to %d", rows, P, maxPlan/P))
	}
	return nil
}

// maxPlan is how many numbers a plan can hold in a payload, with room for the
// other fields.
const maxPlan = (MaxPayload - 64) / 8

// The limits of readers and writers. Every length in a log is compared with its
// limit and with the bytes that are left before memory is allocated for it.
const (
	MaxHeader   = 1 << 20         // bytes of the encoded header
	MaxChannels = 1024            // channels of all roles
	MaxName     = 256             // bytes of a vehicle's, channel's or segment's name, a unit or a frame
	MaxSource   = 4096            // bytes of the header's source
	MaxText     = 64 << 10        // bytes of a note
	MaxPayload  = 1 << 20         // bytes of one record's payload
	recordMax   = MaxPayload + 32 // bytes of one record, all of it
)
