package msgbin_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
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

func TestVectorsInEveryForm(t *testing.T) {
	want := []float64{1, -2.5, 0.25}
	forms := map[string][]byte{
		"float64 bin": encoded(func(w *msgbin.Writer) { w.Floats(want) }),
		"float32 bin": encoded(func(w *msgbin.Writer) { w.Floats32(want) }),
		"array": encoded(func(w *msgbin.Writer) {
			w.Array(3)
			w.Int(1)
			w.Float64(-2.5)
			w.Float64(0.25)
		}),
	}
	for name, b := range forms {
		got := make([]float64, 3)
		r := msgbin.NewReader(b)
		if err := r.Floats(got); err != nil || r.Left() != 0 || !slices.Equal(got, want) {
			t.Errorf("%s: read %v, %v, %d left", name, got, err, r.Left())
		}
		for _, n := range []int{0, 1, 2, 4, 7} {
			r.Reset(b)
			if err := r.Floats(make([]float64, n)); err == nil {
				t.Errorf("%s of 3 numbers read as %d", name, n)
			}
		}
	}
	r := msgbin.NewReader([]byte{0x92, 0xc0, 0x01})
	got := make([]float64, 2)
	if err := r.Floats(got); err != nil || !math.IsNaN(got[0]) || got[1] != 1 {
		t.Errorf("nil in an array: %v, %v", got, err)
	}
	for _, empty := range [][]byte{{0xc0}, {0x90}, {0xc4, 0}} {
		r.Reset(empty)
		if err := r.Floats(nil); err != nil {
			t.Errorf("% x as no numbers: %v", empty, err)
		}
	}
	for name, read := range map[string]func(dst []float64, max int) ([]float64, error){"float64 bin": r.AppendFloats, "float32 bin": r.AppendFloats32} {
		for _, b := range [][]byte{forms[name], forms["array"]} {
			r.Reset(b)
			if got, err := read([]float64{7}, 3); err != nil || !slices.Equal(got, append([]float64{7}, want...)) {
				t.Errorf("unknown length: %v, %v", got, err)
			}
			r.Reset(b)
			if _, err := read(nil, 2); err == nil {
				t.Error("a vector longer than the limit was read")
			}
		}
	}
}

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

func TestFields(t *testing.T) {
	type value struct {
		name string
		n    int64
		list []float64
		on   bool
	}
	read := func(b []byte) (value, error) {
		v := value{name: "old", n: 7, list: []float64{7}, on: true}
		err := msgbin.NewReader(b).Fields([]msgbin.Field{
			msgbin.Required("v", 3), msgbin.Required("name", &v.name).Limit(5),
			msgbin.Optional("n", &v.n), msgbin.Optional("list", &v.list).Limit(2), msgbin.OmitZero("on", &v.on),
		})
		return v, err
	}
	for name, c := range map[string]struct {
		m    []any // keys and values in turn
		want value
		err  string
	}{
		"whole":         {[]any{"v", 3, "name", "abc", "n", 1, "list", []any{1, 2}, "on", true}, value{"abc", 1, []float64{1, 2}, true}, ""},
		"another order": {[]any{"on", true, "name", "abc", "later", []any{nil}, "v", 3.0}, value{"abc", 0, nil, true}, ""},
		"nil is absent": {[]any{"v", 3, "name", "", "n", nil, "list", nil, "on", nil}, value{}, ""},
		"nil is needed": {[]any{"v", 3, "name", nil}, value{}, "name: byte 9: expected a string, found nil"},
		"missing":       {[]any{"v", 3}, value{}, "name: is missing"},
		"twice":         {[]any{"v", 3, "v", 3}, value{}, "v: appears twice"},
		"constant":      {[]any{"v", 4, "name", ""}, value{}, "v: 4, expected 3"},
		"long name":     {[]any{"v", 3, "name", "abcdef"}, value{}, "name: byte 9: a string of 6 bytes, more than the limit of 5"},
		"long list":     {[]any{"v", 3, "name", "", "list", []any{1, 2, 3}}, value{}, "list: byte 15: an array of 3 entries, more than the limit of 2"},
		"number as key": {[]any{3, 3}, value{}, "byte 1: expected a string, found an integer"},
	} {
		b := []byte{0x80 | byte(len(c.m)/2)}
		for _, x := range c.m {
			one, err := msgpack.Marshal(x)
			if i, ok := x.(int); ok {
				one, err = []byte{byte(i)}, nil
			}
			if err != nil {
				t.Fatal(err)
			}
			b = append(b, one...)
		}
		got, err := read(b)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: error %v, want %s", name, err, c.err)
			}
			continue
		}
		if err != nil || got.name != c.want.name || got.n != c.want.n || !slices.Equal(got.list, c.want.list) || got.on != c.want.on {
			t.Errorf("%s: read %+v, %v", name, got, err)
		}
	}
}

func TestElements(t *testing.T) {
	var n int
	var raw []byte
	var list []float64
	var name string
	fields := []msgbin.Field{
		msgbin.Required("n", &n), msgbin.Required("raw", &raw), msgbin.Required("list", &list).Exactly(2), msgbin.Optional("name", &name),
	}
	n, raw, list, name = -3, []byte{1, 2}, []float64{0.5, 4}, "abc"
	b := encoded(func(w *msgbin.Writer) { w.Elements(fields) })
	for want, in := range map[string][]byte{
		"":                b,
		"raw: is missing": {0x91, 1},
		"byte 0: expected an array, found an integer":                   {1},
		"list: byte 4: a vector of 1 numbers, expected 2":               {0x93, 1, 0xc4, 0, 0x91, 1},
		"raw: byte 2: a bin of 2000 bytes, more than the limit of 1024": append([]byte{0x92, 1, 0xc5, 0x07, 0xd0}, make([]byte, 2000)...),
	} {
		n, raw, list, name = 0, nil, nil, "old"
		err := msgbin.NewReader(in).Elements(fields)
		if want == "" && (err != nil || n != -3 || !slices.Equal(raw, []byte{1, 2}) || !slices.Equal(list, []float64{0.5, 4}) || name != "abc") {
			t.Errorf("read %d, %v, %v, %q, %v", n, raw, list, name, err)
		}
		if want != "" && (err == nil || err.Error() != want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	// Elements of later writers are left unread, optional ones of earlier writers empty.
	r := msgbin.NewReader([]byte{0x95, 1, 0xc4, 0, 0x92, 1, 2, 0xa0, 0xc3})
	if err := r.Elements(fields); err != nil || r.Left() != 1 {
		t.Errorf("a later writer: %v, %d left", err, r.Left())
	}
	r.Reset([]byte{0x93, 1, 0xc4, 0, 0x92, 1, 2})
	if err := r.Elements(fields); err != nil || name != "" {
		t.Errorf("an earlier writer: %v, name %q", err, name)
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
		{0xd4, 1, 0}, {0xd5, 1, 0, 0}, {0xd8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		{0xc7, 2, 1, 0, 0}, {0xc8, 0, 1, 1, 0}, {0xc9, 0, 0, 0, 0, 1},
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
