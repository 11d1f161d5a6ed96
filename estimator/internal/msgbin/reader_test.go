package msgbin_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

func TestIntegersInEveryForm(t *testing.T) {
	number := func(v float64) []byte { return encoded(func(w *msgbin.Writer) { w.Float64(v) }) }
	for _, c := range []struct {
		b    []byte
		want int64
		ok   bool
	}{
		{[]byte{0x05}, 5, true},
		{[]byte{0xff}, -1, true},
		{[]byte{0xcc, 0xff}, 255, true},
		{[]byte{0xd0, 0xff}, -1, true},
		{[]byte{0xd1, 0x80, 0x00}, -32768, true},
		{[]byte{0xd2, 0x80, 0x00, 0x00, 0x00}, math.MinInt32, true},
		{[]byte{0xcf, 0x80, 0, 0, 0, 0, 0, 0, 0}, 0, false},
		{number(1e15), 1e15, true},
		{number(1.5), 0, false},
		{number(math.NaN()), 0, false},
		{number(math.Inf(1)), 0, false},
		{number(9.3e18), 0, false},
		{[]byte{0xa1, '5'}, 0, false},
		{[]byte{0xc0}, 0, false},
	} {
		r := msgbin.NewReader(c.b)
		got, err := r.Int64()
		if (err == nil) != c.ok || got != c.want {
			t.Errorf("% x: %d, %v", c.b, got, err)
		}
		if !c.ok && r.Offset() != 0 {
			t.Errorf("% x: the cursor moved to %d in spite of the error", c.b, r.Offset())
		}
		r.Reset(c.b)
		u, err := r.Uint64()
		if ok := c.ok && c.want >= 0; ok && (err != nil || u != uint64(c.want)) {
			t.Errorf("% x unsigned: %d, %v", c.b, u, err)
		} else if c.want < 0 && err == nil {
			t.Errorf("% x unsigned: %d", c.b, u)
		}
	}
}

func TestSkipDepth(t *testing.T) {
	deep := append(bytes.Repeat([]byte{0x91}, 1<<20), 0xc0)
	r := msgbin.NewReader(deep)
	if err := r.Skip(); err != nil || r.Left() != 0 {
		t.Errorf("a million nested arrays: %v, %d left", err, r.Left())
	}
	r.Reset(deep[:len(deep)-1])
	if err := r.Skip(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut off: %v", err)
	}
	exts := [][]byte{
		{0xd4, 1, 0},
		{0xd5, 1, 0, 0},
		{0xd8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		{0xc7, 2, 1, 0, 0},
		{0xc8, 0, 1, 1, 0},
		{0xc9, 0, 0, 0, 0, 1},
	}
	for _, e := range exts {
		for n := range e {
			r.Reset(e[:n])
			if err := r.Skip(); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("% x cut at %d: %v", e, n, err)
			}
		}
		r.Reset(e)
		if err := r.Skip(); err != nil || r.Left() != 0 {
			t.Errorf("% x: %v, %d left", e, err, r.Left())
		}
	}
}

func TestErrorsNameWhatWasFound(t *testing.T) {
	r := msgbin.NewReader([]byte{0x01, 0xa3, 'a', 'b', 'c'})
	if _, err := r.Int64(); err != nil {
		t.Fatal(err)
	}
	_, err := r.Map(10)
	var e *msgbin.Error
	if !errors.As(err, &e) || e.Offset != 1 || e.Short || !strings.Contains(err.Error(), "expected a map, found a string") {
		t.Errorf("error %v", err)
	}
	_, err = r.String(2)
	if err == nil || !strings.Contains(err.Error(), "3 bytes, more than the limit of 2") {
		t.Errorf("error %v", err)
	}
	if s, err := r.String(3); err != nil || s != "abc" {
		t.Errorf("read %q, %v after errors", s, err)
	}
	if _, err := r.Bool(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v at the end", err)
	}
}

// Whatever the bytes are, nothing panics, the cursor stays inside, and Skip
// agrees with the other library on what one value is.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0xdd, 0x7f, 0xff, 0xff, 0xff})
	f.Add([]byte{0x82, 0xa1, 'a', 0xc4, 2, 1, 2, 0xa1, 'b', 0x92, 0xc0, 0xcb, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add([]byte{0xd4})
	f.Add([]byte{0xc7, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := msgbin.NewReader(nil)
		for op := range 15 {
			r.Reset(b)
			for range 100 {
				before := r.Offset()
				var err error
				switch op {
				case 0:
					_, err = r.Map(100)
				case 1:
					_, err = r.Array(100)
				case 2:
					_, err = r.String(100)
				case 3:
					_, err = r.Bin(100)
				case 4:
					_, err = r.Int64()
				case 5:
					_, err = r.Uint64()
				case 6:
					_, err = r.Float64()
				case 7:
					_, err = r.Bool()
				case 8:
					err = r.Floats(make([]float64, 2))
				case 9:
					_, err = r.AppendFloats32(nil, 5)
				case 10:
					_, err = r.AppendFloats(nil, 5)
				case 11:
					err = r.Skip()
				case 12:
					_, err = r.Raw()
				case 13:
					_, err = r.Record(100)
				case 14:
					var text string
					var list []string
					var raw msgbin.Raw
					err = r.Fields([]msgbin.Field{msgbin.Optional("a", &text), msgbin.Optional("b", &list), msgbin.Required("c", &raw)})
				}
				if r.Left() < 0 || r.Offset() < before {
					t.Fatalf("operation %d: offset %d after %d", op, r.Offset(), before)
				}
				if err != nil {
					var e *msgbin.Error
					var field *msgbin.FieldError
					if !errors.As(err, &e) && !errors.As(err, &field) {
						t.Fatalf("operation %d: error of type %T", op, err)
					}
					break
				}
			}
		}
		r.Reset(b)
		if err := r.Skip(); err == nil {
			dec := msgpack.NewDecoder(bytes.NewReader(b))
			if err := dec.Skip(); err != nil && !strings.Contains(err.Error(), "unknown ext") {
				t.Fatalf("% x: skipped here, refused elsewhere: %v", b, err)
			}
		}
	})
}
