package flightlog_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// Whatever the bytes are: no panic, no endless loop, errors of the named types,
// places that go forward, and what was read can be written again.
func FuzzRead(f *testing.F) {
	raw := golden(f)
	_, ends := boundaries(f, raw)
	f.Add(raw)
	f.Add(raw[:ends[3]+7])
	f.Add(append(append([]byte{}, raw[:ends[2]]...), make([]byte, 50)...))
	f.Add(append(append([]byte{}, raw[:ends[2]]...), raw[ends[2]+3:]...))
	f.Add([]byte("\x85\xa5magic\xaddgm.flightlog\xa7version\x02"))
	f.Add([]byte("\xdf\x7f\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := flightlog.NewReader(bytes.NewReader(b), "fuzz")
		if err != nil {
			var e *flightlog.FormatError
			if !errors.As(err, &e) {
				t.Fatalf("error of type %T: %v", err, err)
			}
			return
		}
		w, err := flightlog.NewWriter(io.Discard, r.Header())
		if err != nil {
			t.Fatalf("a header that was read cannot be written: %v", err)
		}
		last := int64(-1)
		for {
			rec, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if r.Offset() <= last && last > 0 {
				t.Fatalf("byte %d after byte %d", r.Offset(), last)
			}
			last = r.Offset()
			var damage *flightlog.DamageError
			var format *flightlog.FormatError
			switch {
			case errors.As(err, &damage):
				// A log may begin with the copy: the header is missing, in 0 bytes.
				if damage.Offset >= max(1, damage.End) || damage.End > int64(len(b)) {
					t.Fatalf("damage from %d to %d of %d bytes", damage.Offset, damage.End, len(b))
				}
				// The next record starts where this ended; it moves on from here.
				last = -1
			case errors.As(err, &format):
			case err != nil:
				t.Fatalf("error of type %T: %v", err, err)
			default:
				if err := again(w, rec); err != nil {
					t.Fatalf("%v was read and cannot be written: %v", rec.Kind, err)
				}
			}
		}
		if r.Offset() != int64(len(b)) {
			t.Fatalf("ended at byte %d of %d", r.Offset(), len(b))
		}
	})
}

// again writes a record that was read.
func again(w *flightlog.Writer, rec flightlog.Record) error {
	switch rec.Kind {
	case flightlog.KindSegment:
		return w.BeginSegment(rec.Name, rec.X0)
	case flightlog.KindSample:
		return w.Sample(rec.T, rec.X, rec.U, rec.Aux)
	case flightlog.KindPlan:
		return w.Plan(rec.T, rec.Rows, rec.Plan, rec.Step)
	default:
		return w.Note(rec.T, rec.Text)
	}
}
