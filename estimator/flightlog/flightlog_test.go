package flightlog_test

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

var update = flag.Bool("update", false, "write the golden file anew")

var header = flightlog.Header{
	Vehicle: "pend1",
	Source:  "golden",
	Channels: []channel.Channel{
		{Name: "theta", Unit: "rad", Role: channel.State, Derivative: "omega", Period: channel.Angle, Noise: 0.01},
		{Name: "tau", Unit: "N m", Role: channel.Input},
		{Name: "omega", Unit: "rad/s", Role: channel.State},
		{Name: "x", Unit: "m", Role: channel.State, Invariant: true, Frame: "ned"},
		{Name: "temp", Unit: "°C", Role: channel.Aux},
	},
}

// t0 is a time whose nanoseconds a float64 cannot hold.
const t0 = 1772682400399326321

var nan = math.NaN()

// write writes the records of the golden log.
func write(t testing.TB, w *flightlog.Writer) {
	t.Helper()
	for _, err := range []error{
		w.BeginSegment("first", []float64{0.1, -0.2, 3}),
		w.Sample(t0, []float64{0.1, -0.2, 3}, []float64{0.5}, []float64{21.5}),
		w.Plan(t0, 3, []float64{0.5, 0.25, 0}, 10_000_000),
		w.Sample(t0+5_000_000, []float64{0.09, nan, 3}, []float64{0.5}, []float64{nan}),
		w.Note(t0+6_000_000, "touched the table"),
		w.BeginSegment("second", nil),
		w.Sample(t0-1, []float64{1, 2, math.Inf(1)}, []float64{nan}, []float64{0}),
		w.Sample(t0-1, []float64{1, 2, 4}, []float64{-0.5}, []float64{0}),
		w.Flush(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// want is the golden log.
var want = flightlog.Log{
	Header: header,
	Segments: []flightlog.Segment{{
		Name:  "first",
		X0:    []float64{0.1, -0.2, 3},
		T:     []int64{t0, t0 + 5_000_000},
		X:     []float64{0.1, -0.2, 3, 0.09, nan, 3},
		U:     []float64{0.5, 0.5},
		Aux:   []float64{21.5, nan},
		Plans: []flightlog.Plan{{T: t0, Step: 10_000_000, U: []float64{0.5, 0.25, 0}}},
	}, {
		Name: "second",
		T:    []int64{t0 - 1, t0 - 1},
		X:    []float64{1, 2, math.Inf(1), 1, 2, 4},
		U:    []float64{nan, -0.5},
		Aux:  []float64{0, 0},
	}},
	Notes: []flightlog.Note{{T: t0 + 6_000_000, Text: "touched the table"}},
}

// golden returns the bytes of the golden log, made anew.
func golden(t testing.TB) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := flightlog.NewWriter(&buf, header)
	if err != nil {
		t.Fatal(err)
	}
	write(t, w)
	return buf.Bytes()
}

// onDisk puts bytes into a file.
func onDisk(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flight.msgpack")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// same compares logs without their damage.
func same(want, got *flightlog.Log) string {
	return cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(flightlog.Log{}, "Path", "Damage", "Damages"))
}

func TestGolden(t *testing.T) {
	path := filepath.Join("testdata", "v1.msgpack")
	if *update {
		if err := os.WriteFile(path, golden(t), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	log, err := flightlog.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := same(&want, log); diff != "" {
		t.Errorf("the golden log reads differently (-want +got):\n%s", diff)
	}
	if log.Damage != nil || len(log.Damages) != 0 {
		t.Errorf("damage in the golden log: %v", log.Damage)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(raw, golden(t)) {
		t.Error("writing the golden log gives other bytes")
	}
	if !bytes.Equal(raw, rewrite(t, raw)) {
		t.Error("reading and writing the golden log again gives other bytes")
	}
}

// rewrite reads a log record by record and writes it anew.
func rewrite(t *testing.T, raw []byte) []byte {
	t.Helper()
	r, err := flightlog.NewReader(bytes.NewReader(raw), "golden")
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	w, err := flightlog.NewWriter(&buf, r.Header())
	if err != nil {
		t.Fatal(err)
	}
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		err = again(w, rec)
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// Bytes that arrive one at a time read the same.
func TestSlowStream(t *testing.T) {
	raw := golden(t)
	r, err := flightlog.NewReader(iotestOneByte{bytes.NewReader(raw)}, "slow")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for {
		_, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 8 || r.Offset() != int64(len(raw)) {
		t.Errorf("%d records, %d bytes", n, r.Offset())
	}
}

type iotestOneByte struct{ r io.Reader }

func (o iotestOneByte) Read(b []byte) (int, error) { return o.r.Read(b[:min(1, len(b))]) }

func TestReadFails(t *testing.T) {
	raw := golden(t)
	broken := errors.New("cable pulled")
	for _, n := range []int{0, 10, len(raw) / 2, len(raw) - 1} {
		r, err := flightlog.NewReader(io.MultiReader(bytes.NewReader(raw[:n]), failing{broken}), "net")
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "net: ") {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestMisusePanics(t *testing.T) {
	w, err := flightlog.NewWriter(io.Discard, header)
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"x0":    func() { _ = w.BeginSegment("", []float64{1}) },
		"x":     func() { _ = w.Sample(0, []float64{1}, []float64{1}, []float64{1}) },
		"u":     func() { _ = w.Sample(0, []float64{1, 2, 3}, nil, []float64{1}) },
		"plan":  func() { _ = w.Plan(0, 2, []float64{1}, 1) },
		"empty": func() { _ = w.Plan(0, 0, nil, 1) },
	} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.HasPrefix(s, "flightlog: ") {
					t.Errorf("%s of a wrong length: %q", name, s)
				}
			}()
			f()
		}()
	}
}

func TestWriterRefusesWhatNoReaderTakes(t *testing.T) {
	long := strings.Repeat("x", 300)
	bad := map[string]func(*flightlog.Header){
		"vehicle":                   func(h *flightlog.Header) { h.Vehicle = "" },
		`vehicle: "a.b" holds '.'`:  func(h *flightlog.Header) { h.Vehicle = "a.b" },
		"vehicle: 300 bytes":        func(h *flightlog.Header) { h.Vehicle = long },
		"source":                    func(h *flightlog.Header) { h.Source = strings.Repeat("x", 5000) },
		"channels[0]":               func(h *flightlog.Header) { h.Channels[0].Unit = long },
		"no channel has the role":   func(h *flightlog.Header) { h.Channels = nil },
		"channels: 1025 channels":   func(h *flightlog.Header) { h.Channels = make([]channel.Channel, 1025) },
		`role "stat" is none of`:    func(h *flightlog.Header) { h.Channels[0].Role = "stat" },
		`derivative "nix" is not a`: func(h *flightlog.Header) { h.Channels[0].Derivative = "nix" },
	}
	for want, spoil := range bad {
		h := header
		h.Channels = append([]channel.Channel{}, header.Channels...)
		spoil(&h)
		var buf bytes.Buffer
		_, err := flightlog.NewWriter(&buf, h)
		var e *flightlog.FormatError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || buf.Len() > 0 {
			t.Errorf("error %v with %d bytes written, want %s", err, buf.Len(), want)
		}
	}
	w, err := flightlog.NewWriter(io.Discard, header)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.BeginSegment(long, nil); err == nil {
		t.Error("a long segment name was written")
	}
	if err := w.Note(0, strings.Repeat("x", 70000)); err == nil {
		t.Error("a long note was written")
	}
	if err := w.Plan(0, 1, []float64{1}, 0); err == nil {
		t.Error("a plan without a step was written")
	}
	if err := w.Plan(0, 200000, make([]float64, 200000), 1); err == nil {
		t.Error("a plan longer than a record was written")
	}
	if err := w.Note(0, "still fine"); err != nil {
		t.Errorf("refusals must not break the writer: %v", err)
	}
}

func TestWriteErrorsStay(t *testing.T) {
	full := errors.New("disk full")
	w, err := flightlog.NewWriter(&budget{1000, full}, header)
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		if err = w.Sample(0, make([]float64, 3), make([]float64, 1), make([]float64, 1)); err != nil {
			break
		}
	}
	if !errors.Is(err, full) || !errors.Is(w.Flush(), full) || !errors.Is(w.Note(0, "x"), full) {
		t.Errorf("error %v, then %v", err, w.Flush())
	}
}

// budget is a writer that takes n bytes.
type budget struct {
	n   int
	err error
}

func (b *budget) Write(p []byte) (int, error) {
	if len(p) > b.n {
		return b.n, b.err
	}
	b.n -= len(p)
	return len(p), nil
}

func TestSampleAllocatesNothing(t *testing.T) {
	w, err := flightlog.NewWriter(io.Discard, header)
	if err != nil {
		t.Fatal(err)
	}
	x, u, aux, plan := make([]float64, 3), make([]float64, 1), make([]float64, 1), make([]float64, 50)
	var at int64 = t0
	if n := testing.AllocsPerRun(5000, func() {
		at += 5_000_000
		if w.Sample(at, x, u, aux) != nil || w.Plan(at, 50, plan, 1000) != nil {
			t.Fatal("write failed")
		}
	}); n != 0 {
		t.Errorf("%v allocations per sample", n)
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	var buf bytes.Buffer
	w, err := flightlog.NewWriter(&buf, header)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20000 {
		if err := w.Sample(int64(i), make([]float64, 3), make([]float64, 1), make([]float64, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := flightlog.NewReader(&buf, "log")
	if err != nil {
		t.Fatal(err)
	}
	var i int64
	n := testing.AllocsPerRun(19000, func() {
		rec, err := r.Next()
		if err != nil || rec.T != i {
			t.Fatalf("record %d: time %d, %v", i, rec.T, err)
		}
		i++
	})
	// A record that straddles the window costs one error value.
	if n > 0.01 {
		t.Errorf("%v allocations per record", n)
	}
}
