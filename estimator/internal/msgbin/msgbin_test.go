package msgbin_test

import (
	"bytes"
	"math"
	"runtime"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"

	"github.com/dgm-robotics/dgm/estimator/internal/msgbin"
)

func encoded(write func(w *msgbin.Writer)) []byte { return msgbin.Append(nil, write) }

// The library, used in its own way, must read what is appended here.
func TestAppendIsReadByAnotherLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.Int64().Draw(t, "i")
		u := rapid.Uint64().Draw(t, "u")
		f := rapid.Float64().Draw(t, "f")
		s := rapid.StringN(0, 400, -1).Draw(t, "s")
		raw := rapid.SliceOfN(rapid.Byte(), 0, 70000).Draw(t, "raw")
		yes, none, value := true, msgbin.Raw{Bytes: []byte{0xc0}}, msgbin.Raw{Bytes: encoded(func(w *msgbin.Writer) { w.Bin(raw) })}
		fields := []msgbin.Field{
			msgbin.Required("i", &i), msgbin.Required("u", &u), msgbin.OmitZero("f", &f), msgbin.Optional("s", &s).Limit(2000),
			msgbin.Required("raw", &value), msgbin.Required("yes", &yes), msgbin.Optional("none", &none),
		}
		b := encoded(func(w *msgbin.Writer) { w.Fields(fields) })
		got := struct {
			I    int64   `msgpack:"i"`
			U    uint64  `msgpack:"u"`
			F    float64 `msgpack:"f"`
			S    string  `msgpack:"s"`
			Raw  []byte  `msgpack:"raw"`
			Yes  bool    `msgpack:"yes"`
			None *int    `msgpack:"none"`
		}{}
		if err := msgpack.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if got.I != i || got.U != u || got.F != f || got.S != s || !bytes.Equal(got.Raw, raw) || !got.Yes || got.None != nil {
			t.Fatalf("read %+v", got)
		}
	})
}

// What the library writes in its own way, in whatever width it chooses, must be read here.
func TestReadsMessagesOfTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := rapid.Int64().Draw(t, "i")
		s := rapid.StringN(0, 400, -1).Draw(t, "s")
		f := rapid.Float32().Draw(t, "f")
		v := rapid.SliceOfN(rapid.Float64(), 0, 40).Draw(t, "v")
		compact := rapid.Bool().Draw(t, "compact")
		var buf bytes.Buffer
		enc := msgpack.NewEncoder(&buf)
		enc.UseCompactInts(compact)
		for _, x := range []any{i, s, f, v, map[string]any{"a": []any{i, nil, true}, "t": s}, []byte(s)} {
			if err := enc.Encode(x); err != nil {
				t.Fatal(err)
			}
		}
		r := msgbin.NewReader(buf.Bytes())
		if got, err := r.Int64(); err != nil || got != i {
			t.Fatalf("int %d, %v; want %d", got, err, i)
		}
		if got, err := r.String(2000); err != nil || got != s {
			t.Fatalf("string %q, %v; want %q", got, err, s)
		}
		if got, err := r.Float64(); err != nil || got != float64(f) {
			t.Fatalf("float %v, %v; want %v", got, err, f)
		}
		got := make([]float64, len(v))
		if err := r.Floats(got); err != nil {
			t.Fatal(err)
		}
		for k := range v {
			if got[k] != v[k] {
				t.Fatalf("element %d: %v, want %v", k, got[k], v[k])
			}
		}
		if err := r.Skip(); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Bin(2000); err != nil || string(got) != s {
			t.Fatalf("bin %q, %v; want %q", got, err, s)
		}
		if r.Left() != 0 {
			t.Fatalf("%d bytes left", r.Left())
		}
	})
}

// A few bytes that claim gigabytes must cost neither memory nor time.
func TestClaimsAreCheckedBeforeAnythingIsAllocated(t *testing.T) {
	claims := map[string][]byte{
		"array":     {0xdd, 0x7f, 0xff, 0xff, 0xff},
		"map":       {0xdf, 0x7f, 0xff, 0xff, 0xff},
		"string":    {0xdb, 0x7f, 0xff, 0xff, 0xff, 'a'},
		"bin":       {0xc6, 0x7f, 0xff, 0xff, 0xff, 0},
		"extension": {0xc9, 0xff, 0xff, 0xff, 0xff, 1, 0},
	}
	for name, b := range claims {
		r := msgbin.NewReader(nil)
		reads := map[string]func() error{
			"Map":          func() error { _, err := r.Map(math.MaxInt); return err },
			"Array":        func() error { _, err := r.Array(math.MaxInt); return err },
			"String":       func() error { _, err := r.String(math.MaxInt); return err },
			"Bin":          func() error { _, err := r.Bin(math.MaxInt); return err },
			"Floats":       func() error { return r.Floats(make([]float64, 3)) },
			"AppendFloats": func() error { _, err := r.AppendFloats(nil, math.MaxInt); return err },
			"Skip":         r.Skip,
			"Raw":          func() error { _, err := r.Raw(); return err },
			"Record":       func() error { _, err := r.Record(math.MaxInt); return err },
			"Fields":       func() error { return r.Fields(nil) },
		}
		for read, f := range reads {
			r.Reset(b)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := f()
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Errorf("%s of a %s that claims gigabytes: no error", read, name)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 1<<16 {
				t.Errorf("%s of a %s that claims gigabytes took %d bytes", read, name, took)
			}
		}
	}
}

func TestDecodingAllocatesNothing(t *testing.T) {
	x := []float64{1, 2, 3, 4}
	b := encoded(func(w *msgbin.Writer) {
		w.Map(4)
		w.String("t")
		w.Int(1772682400399326324)
		w.String("x")
		w.Floats(x)
		w.String("y")
		w.Floats32(x)
		w.String("other")
		w.Float64(1)
	})
	out := make([]byte, 0, 2*len(b))
	dst, plan := make([]float64, 4), make([]float64, 0, 8)
	var sum int64
	var y msgbin.Raw
	n := testing.AllocsPerRun(100, func() {
		r := msgbin.AcquireReader(b)
		defer r.Release()
		fields := [...]msgbin.Field{msgbin.Required("t", &sum), msgbin.Required("x", &plan), msgbin.Required("y", &y)}
		if err := r.Fields(fields[:]); err != nil {
			t.Fatal(err)
		}
		r.ResetRaw(y)
		if err := r.Floats(dst); err != nil {
			t.Fatal(err)
		}
		out = msgbin.Append(out[:0], func(w *msgbin.Writer) { w.Fields(fields[:2]) })
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
	if sum != 1772682400399326324 || plan[3] != 4 || dst[2] != 3 {
		t.Errorf("read %d, %v, %v", sum, plan, dst)
	}
}
