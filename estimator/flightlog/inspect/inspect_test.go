package inspect_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/flightlog/inspect"
)

// sample writes a log with every oddity and returns its name.
func sample(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flight.msgpack")
	f, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: "v", Source: "test", Channels: []channel.Channel{
		{Name: "x", Unit: "m", Role: channel.State, Derivative: "v", Invariant: true, Frame: "ned", Noise: 0.01},
		{Name: "u", Role: channel.Input},
		{Name: "v", Unit: "m/s", Role: channel.State},
		{Name: "dead", Role: channel.Aux},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(f.BeginSegment("one", []float64{0, 0}))
	at := int64(1772682400_000000000)
	for i := range 100 {
		at += 5_000_000
		switch i {
		case 50:
			at += 200_000_000
		case 60:
			at -= 5_000_000
		case 70:
			at -= 7_000_000
		}
		v := 2.0
		if i == 5 {
			v = math.NaN()
		}
		if i == 6 {
			v = math.Inf(-1)
		}
		check(f.Sample(at, []float64{float64(i), v}, []float64{float64(i % 2)}, []float64{math.NaN()}))
	}
	check(f.Plan(at, 2, []float64{1, 2}, 10))
	check(f.BeginSegment("empty", nil))
	check(f.BeginSegment("two", nil))
	for i := range 11 {
		check(f.Sample(int64(i)*1_000_000, []float64{0, 2}, []float64{0}, []float64{math.NaN()}))
	}
	check(f.Note(5, "hello"))
	check(f.Commit())
	return path
}

func TestFile(t *testing.T) {
	path := sample(t)
	r, err := inspect.File(path)
	if err != nil {
		t.Fatal(err)
	}
	if r.Vehicle != "v" || r.States != 2 || r.Inputs != 1 || r.Aux != 1 || r.Samples != 111 || len(r.Segments) != 2 || len(r.Damage) != 0 {
		t.Errorf("report %+v", r)
	}
	s := r.Segments[0]
	if s.Name != "one" || s.Samples != 100 || math.Abs(s.Rate-200) > 1e-9 || s.Gaps != 1 || math.Abs(s.LongestGap-0.205) > 1e-9 ||
		s.Duplicates != 1 || s.Backwards != 1 || !s.Exact || s.Plans != 1 || math.Abs(s.Duration-(97*0.005+0.2-0.002)) > 1e-9 {
		t.Errorf("segment %+v", s)
	}
	if s := r.Segments[1]; s.Name != "two" || math.Abs(s.Rate-1000) > 1e-9 || s.Gaps != 0 || s.Exact || math.Abs(s.Duration-0.01) > 1e-9 {
		t.Errorf("segment %+v", s)
	}
	x, v, dead := r.Channels[0], r.Channels[2], r.Channels[3]
	if *x.Min != 0 || *x.Max != 99 || math.Abs(*x.Mean-4950.0/111) > 1e-9 || x.Measured != 111 || x.Derivative != "v" || x.Constant {
		t.Errorf("x %+v", x)
	}
	if v.Missing != 1 || v.Infinite != 1 || !v.Constant || *v.Max != 2 {
		t.Errorf("v %+v", v)
	}
	if dead.Missing != 111 || dead.Min != nil || dead.Constant {
		t.Errorf("dead %+v", dead)
	}
	// JSON refuses what is not finite.
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"vehicle v, 111 samples in 2 segments", "derivative v, invariant, noise 0.01, frame ned", "CONSTANT, INFINITE in 1 sample",
		"1 repeated time, 1 time backwards, 1 plan, exact start", "2026-03-05T03:46:40.005Z", "note at 5e-09 s: hello",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

// A segment lasts from its first stamp to its last, however the clock trembles, but
// a clock that was set does not change what had gone by.
func TestDurationOfAJitteringClock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flight.msgpack")
	f, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: "v", Channels: []channel.Channel{{Name: "x", Role: channel.State}}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(7, 0))
	check(f.BeginSegment("trembles", nil))
	first, last := int64(0), int64(0)
	for i := range 1000 {
		last = int64(1e9) + 10e6*int64(i) + int64(7e6*rng.NormFloat64())
		if i == 0 {
			first = last
		}
		check(f.Sample(last, []float64{0}, nil, nil))
	}
	check(f.BeginSegment("set", nil))
	for i := range 1000 {
		at := 10e6 * int64(i)
		if i >= 500 {
			at -= 2e9
		}
		check(f.Sample(at+5e9, []float64{0}, nil, nil))
	}
	check(f.Commit())
	r, err := inspect.File(path)
	if err != nil {
		t.Fatal(err)
	}
	if s := r.Segments[0]; math.Abs(s.Duration-1e-9*float64(last-first)) > 1e-6 || s.Backwards == 0 {
		t.Errorf("trembling: %+v, the stamps go over %d ns", s, last-first)
	}
	if s := r.Segments[1]; math.Abs(s.Duration-9.98) > 1e-6 || s.Backwards != 1 {
		t.Errorf("set: %+v", s)
	}
	if math.Abs(r.Duration-r.Segments[0].Duration-r.Segments[1].Duration) > 1e-9 {
		t.Errorf("%v s in all", r.Duration)
	}
}

// Damage is described, and what follows it counted.
func TestDamage(t *testing.T) {
	path := sample(t)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	raw = raw[:len(raw)-3]
	if err := os.WriteFile(path, raw, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := inspect.File(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Damage) != 2 || r.Damage[0].Tail || !r.Damage[1].Tail || r.Samples != 110 || len(r.Segments) != 3 || r.Segments[1].Name != "one" {
		t.Errorf("report %+v", r)
	}
	log, err := flightlog.ReadFile(path)
	if err != nil || len(log.Segments) != len(r.Segments) {
		t.Errorf("read as %d segments, described as %d, %v", len(log.Segments), len(r.Segments), err)
	}
	var text bytes.Buffer
	if err := r.WriteText(&text); err != nil || !strings.Contains(text.String(), "DAMAGE from byte") {
		t.Errorf("%v\n%s", err, text.String())
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := inspect.File(path); !errors.Is(err, flightlog.ErrEmpty) {
		t.Errorf("empty: %v", err)
	}
	if _, err := inspect.File(path + "nix"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

// Names, notes and the source are anybody's text: none of it reaches a terminal raw.
func TestTextIsPlain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flight.msgpack")
	const evil = "\x1b]0;owned\a\n\u202eend"
	f, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: "v", Source: evil, Channels: []channel.Channel{{Name: "x", Role: channel.State}}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if err := errors.Join(f.BeginSegment(evil, nil), f.Sample(1, []float64{1}, nil, nil), f.Note(2, evil), f.Commit()); err != nil {
		t.Fatal(err)
	}
	r, err := inspect.File(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); strings.ContainsAny(s, "\x1b\a\u202e") || strings.Count(s, "owned") != 3 {
		t.Errorf("%q", s)
	}
}

// Units have one spelling, whatever that of the log.
func TestUnitsHaveOneSpelling(t *testing.T) {
	r := inspect.Report{Channels: []inspect.Channel{{Name: "torque", Unit: "N m", Role: "input"}}}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil || !strings.Contains(b.String(), "torque   N·m ") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// What an import has reported is not repeated, but counted.
func TestNotesOfAnImport(t *testing.T) {
	rep := inspect.Report{Notes: []inspect.Note{{T: 1, Text: "Armed"}, {T: 2, Text: flightlog.ImportNote + "a gap"}, {T: 2, Text: flightlog.InvalidNote + "x"}}}
	var b strings.Builder
	if err := rep.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "Armed") || strings.Contains(text, "a gap") || !strings.Contains(text, "notes of the import: 2, which --json lists") {
		t.Error(text)
	}
}
