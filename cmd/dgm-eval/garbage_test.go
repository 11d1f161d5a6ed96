package main

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
)

// Stamps out of order and a burst of wrong values are listed and not scored.
func TestExcludedValuesAreListed(t *testing.T) {
	dir := folder(t)
	rng := rand.New(rand.NewPCG(5, 6))
	f, err := flightlog.CreateFile(filepath.Join(dir, "g.msgpack"), flightlog.Header{Vehicle: "shaft", Channels: shaft})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if err := f.BeginSegment("one", nil); err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		at := i
		if i%20 < 2 { // two change places
			at = i + 1 - 2*(i%20)
		}
		x := []float64{math.Remainder(0.02*float64(at), channel.Angle) + 0.01*rng.NormFloat64(), 4 + 0.01*rng.NormFloat64()}
		if i >= 1005 && i < 1011 {
			x[1] = 900
		}
		if err := f.Sample(int64(at)*5_000_000, x, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	code, out, errs := eval(t, dir, "--model", "a.dgm", "--log", "g.msgpack", "--json")
	var clean, raw evaluate.Table
	if err := json.Unmarshal([]byte(out), &clean); code != 0 || err != nil {
		t.Fatalf("code %d, %v: %s", code, err, errs)
	}
	for _, want := range []string{"data check: backwards: segment 1 (\"one\")", "data check: outlier: segment 1 (\"one\"), 5.02"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is missing in %s", want, errs)
		}
	}
	code, out, errs = eval(t, dir, "--model", "a.dgm", "--log", "g.msgpack", "--json", "--raw")
	if err := json.Unmarshal([]byte(out), &raw); code != 0 || err != nil || errs != "" {
		t.Fatalf("code %d, %v: %s", code, err, errs)
	}
	if clean.Excluded <= raw.Excluded || raw.Excluded <= 0 || clean.Excluded > 0.2 {
		t.Errorf("excluded: %v, raw %v", clean.Excluded, raw.Excluded)
	}
	if a, b := clean.Horizons[0].Channels[1].RMSE, raw.Horizons[0].Channels[1].RMSE; a > 0.1 || b < 10 {
		t.Errorf("error of the rate: %v, of the raw log %v", a, b)
	}
}

// An implausible sample is listed and excluded: it must not dominate the scores, nor make
// numbers that JSON cannot hold.
func TestImplausibleValuesAreExcluded(t *testing.T) {
	dir := folder(t)
	_, clean, _ := eval(t, dir, "--model", "a.dgm", "--log", "b.msgpack")
	log, err := flightlog.ReadFile(filepath.Join(dir, "b.msgpack"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := flightlog.CreateFile(filepath.Join(dir, "huge.msgpack"), log.Header)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	s := log.Segments[0]
	s.X[2*700+1], s.X[2*900], s.X[2*901] = -1e200, 1e300, 1e16
	if err := f.BeginSegment(s.Name, nil); err != nil {
		t.Fatal(err)
	}
	for i := range s.T {
		if err := f.Sample(s.T[i], s.X[2*i:2*i+2], nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	code, out, errs := eval(t, dir, "--model", "a.dgm", "--log", "huge.msgpack")
	for _, want := range []string{"huge.msgpack: segment 1 (\"one\") at 3.500 s: rate is -1e+200", "1 value of rate", "at 4.500 s: angle is 1e+300", "2 values of angle"} {
		if code != cli.Done || !strings.Contains(errs, want) {
			t.Errorf("code %d, %q, want %q", code, errs, want)
		}
	}
	if strings.Contains(out, "Inf") || strings.Contains(out, "NaN") || strings.Contains(out, "e+") {
		t.Errorf("without them\n%s\nwith them\n%s", clean, out)
	}
	code, out, errs = eval(t, dir, "--model", "a.dgm", "--log", "huge.msgpack", "--json")
	if !json.Valid([]byte(out)) || code != cli.Done {
		t.Errorf("code %d, %q, %q", code, errs, out)
	}
}

func TestDamagedLogIsScoredToItsLastRecord(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, "b.msgpack")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, raw[:len(raw)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := eval(t, dir, "--model", "a.dgm", "--log", "b.msgpack")
	if code != 0 || !strings.Contains(errs, "warning") || !strings.Contains(out, "angle") {
		t.Errorf("code %d, %q", code, errs)
	}
}
