package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// writeJump writes a log again with an offset of the angle from a sample on.
func writeJump(t *testing.T, from, to string, sample int, offset float64) {
	t.Helper()
	log, err := flightlog.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w, err := flightlog.NewWriter(&b, log.Header)
	if err != nil {
		t.Fatal(err)
	}
	seg := &log.Segments[0]
	if err := w.BeginSegment(seg.Name, nil); err != nil {
		t.Fatal(err)
	}
	for i, at := range seg.T {
		x := seg.X[2*i : 2*i+2]
		if i >= sample {
			x[0] += offset
		}
		if err := w.Sample(at, x, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestFaults(t *testing.T) {
	dir := folder(t)
	writeLog(t, filepath.Join(dir, "nominal.msgpack"), shaft, 9000)
	writeJump(t, filepath.Join(dir, "b.msgpack"), filepath.Join(dir, "jump.msgpack"), 1000, 0.15)
	code, out, errs := eval(t, dir, "--model", "a.dgm", "--log", "jump.msgpack", "--faults", "--nominal", "nominal.msgpack", "--json")
	var doc attributed
	if err := json.Unmarshal([]byte(out), &doc); code != 0 || err != nil {
		t.Fatalf("code %d, %v, %q\n%s", code, err, errs, out)
	}
	if len(doc.Faults) != 1 || filepath.Base(doc.Faults[0].Log) != "jump.msgpack" || doc.Faults[0].Name != "angle" || math.Abs(doc.Faults[0].Amount-0.15) > 0.05 || math.Abs(doc.Faults[0].Since-5) > 0.1 {
		t.Errorf("faults %+v, expected an offset of the angle by 0.15 rad at 5 s", doc.Faults)
	}
	if doc.Nominal < 40 || doc.Watched < 5 || doc.Watched > 6 || doc.Rate != 0.1 {
		t.Errorf("%+v", doc)
	}
	code, out, errs = eval(t, dir, "--model", "a.dgm", "--log", "b.msgpack", "--faults", "--nominal", "nominal.msgpack")
	if code != 0 || !strings.HasPrefix(out, "no actuator and no sensor changed\n") {
		t.Errorf("code %d, %q\n%s", code, errs, out)
	}
	// The first half of the log is too short to know what is usual.
	if code, _, errs = eval(t, dir, "--model", "a.dgm", "--log", "b.msgpack", "--faults"); code == 0 || !strings.Contains(errs, "--nominal") {
		t.Errorf("code %d, %q", code, errs)
	}
	for _, args := range [][]string{{"--faults", "--compare"}, {"--faults", "--plot", "p.svg"}, {"--nominal", "nominal.msgpack"}} {
		if code, _, errs := eval(t, dir, append([]string{"--model", "a.dgm", "--log", "b.msgpack"}, args...)...); code != 2 || errs == "" {
			t.Errorf("%v: code %d, %q", args, code, errs)
		}
	}
}
