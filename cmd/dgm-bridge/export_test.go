package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
)

func TestExport(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	m := artificial.New(artificial.Size{K: 2, P: 1, Features: 8, Points: 5, Horizon: 1}, 1)
	if err := model.WriteFile(in("m.dgm"), m); err != nil {
		t.Fatal(err)
	}
	w, err := flightlog.CreateFile(in("f.msgpack"), flightlog.Header{Vehicle: "v1", Channels: m.Channels})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		if err := w.Sample(int64(i)*1e7, []float64{0.01 * float64(i), 1}, []float64{0}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	code, out, errs := run("export", "mcap", in("f.msgpack"), "--model", in("m.dgm"), "--out", in("f.mcap"), "--horizons", "200ms,1s", "--foxglove", in("l.json"), "--plotjuggler", in("l.xml"))
	if code != cli.Done || errs != "" || out != "wrote "+in("f.mcap")+": 30 samples, 60 predictions\n" {
		t.Errorf("exit %d, %s%s", code, errs, out)
	}
	for _, name := range []string{"l.json", "l.xml"} {
		if text, err := os.ReadFile(in(name)); err != nil || !strings.Contains(string(text), "/dgm/v1/predict/1s") {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	if code, out, errs = run("topics", in("f.mcap")); code != cli.Done || !strings.Contains(out, "/dgm/v1/predict/200ms") {
		t.Errorf("exit %d, %s%s", code, errs, out)
	}
	// A log of one sample has one topic, and is reported as one.
	if w, err = flightlog.CreateFile(in("one.msgpack"), flightlog.Header{Vehicle: "v1", Channels: m.Channels[:2]}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Sample(0, []float64{0, 1}, nil, nil), w.Commit()); err != nil {
		t.Fatal(err)
	}
	if code, out, errs = run("export", "mcap", in("one.msgpack"), "--out", in("one.mcap")); code != cli.Done || !strings.HasSuffix(out, ": 1 sample\n") {
		t.Errorf("exit %d, %s%s", code, errs, out)
	}
	if code, out, errs = run("topics", in("one.mcap")); code != cli.Done || !strings.HasPrefix(out, "mcap, 1 topic\n") {
		t.Errorf("exit %d, %s%s", code, errs, out)
	}
	if code, out, errs = run("export", "csv", in("f.msgpack"), "--out", in("f.csv")); code != cli.Done || !strings.Contains(out, "30 samples") {
		t.Errorf("exit %d, %s%s", code, errs, out)
	}
	for _, c := range []struct {
		code int
		line string
		args []string
	}{
		{cli.Wrong, "--schema \"xml\" is not known", []string{"mcap", in("f.msgpack"), "--out", in("g"), "--schema", "xml"}},
		{cli.Wrong, "--horizons needs --model", []string{"mcap", in("f.msgpack"), "--out", in("g"), "--horizons", "1s"}},
		{cli.Wrong, "is negative", []string{"mcap", in("f.msgpack"), "--out", in("g"), "--every", "-1s"}},
		{cli.Wrong, `"out" not set`, []string{"csv", in("f.msgpack")}},
		{cli.Wrong, "would be replaced by what is written", []string{"csv", in("f.msgpack"), "--out", in("f.msgpack")}},
		{cli.Failed, "not a flight log", []string{"csv", in("m.dgm"), "--out", in("g")}},
		{cli.Failed, "no such file", []string{"mcap", in("nix"), "--out", in("g")}},
		{cli.Failed, "up to the model's 1s", []string{"mcap", in("f.msgpack"), "--model", in("m.dgm"), "--out", in("g"), "--horizons", "3s"}},
	} {
		code, out, errs := run(append([]string{"export"}, c.args...)...)
		if code != c.code || !strings.Contains(errs, c.line) || strings.Count(errs, "\n") != 1 || out != "" {
			t.Errorf("%v: exit %d, %q, %q; want %d, %q", c.args, code, out, errs, c.code, c.line)
		}
	}
	if _, err := os.Stat(in("g")); err == nil {
		t.Error("a failed export left a file")
	}
}
