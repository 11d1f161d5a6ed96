package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
)

// writeLog records an undamped swing, θ̈ = −9 θ, with a little noise.
func writeLog(t *testing.T, path string, seconds float64) {
	t.Helper()
	f, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: "swing", Channels: []channel.Channel{
		{Name: "angle", Unit: "rad", Role: channel.State, Derivative: "rate"}, {Name: "rate", Unit: "rad/s", Role: channel.State},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	rng := rand.New(rand.NewPCG(1, 2))
	if err := f.BeginSegment("one", nil); err != nil {
		t.Fatal(err)
	}
	for i := range int(seconds * 50) {
		s, c := math.Sincos(3 * float64(i) * 0.02)
		x := []float64{s + 0.002*rng.NormFloat64(), 3*c + 0.01*rng.NormFloat64()}
		if err := f.Sample(int64(i)*20e6, x, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
}

// call runs the command and returns its exit code and outputs.
func call(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	c := command()
	c.SetArgs(args)
	c.SetOut(&o)
	c.SetErr(&e)
	code = cli.Run(context.Background(), c)
	return code, o.String(), e.String()
}

func TestWhatMustFailFailsBeforeWork(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "swing.msgpack")
	writeLog(t, log, 4)
	empty := filepath.Join(dir, "empty.msgpack")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	// Logs that stand where an output would.
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"z.report.json", "flight.dgm"} {
		writeLog(t, in(name), 4)
	}
	if err := errors.Join(os.WriteFile(in("w.report.json"), nil, 0o666), os.Mkdir(in("o.report.html"), 0o777)); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, says string
		code       int
		args       []string
	}{
		{"log as the model", "swing.msgpack is read and would be replaced", cli.Wrong, []string{"--log", log, "--out", log}},
		{"log named like a model", "flight.dgm is read", cli.Wrong, []string{"--log", in("flight.dgm")}},
		{"log named like a report", "z.report.json is read", cli.Wrong, []string{"--log", in("z.report.json"), "--out", in("z.dgm")}},
		{"settings named like a report", "w.report.json is read", cli.Wrong, []string{"--log", log, "--config", in("w.report.json"), "--out", in("w.dgm")}},
		{"a folder as the model", "is not a regular file", cli.Failed, []string{"--log", log, "--out", dir}},
		{"a device as the model", os.DevNull, cli.Failed, []string{"--log", log, "--out", os.DevNull}},
		{"a folder as the report", "o.report.html", cli.Failed, []string{"--log", log, "--out", in("o.dgm")}},
		{"no log", "no log given", cli.Wrong, nil},
		{"unknown flag", "--bogus", cli.Wrong, []string{"--bogus"}},
		{"setting that cannot be", "horizon", cli.Wrong, []string{"--log", log, "--horizon", "-1s"}},
		{"unknown preset", "slow", cli.Wrong, []string{"--log", log, "--preset", "slow"}},
		{"no such log", "nope", cli.Failed, []string{"--log", filepath.Join(dir, "nope")}},
		{"empty log", "empty", cli.Failed, []string{"--log", empty}},
		{"horizon longer than the log", "horizon", cli.Failed, []string{"--log", log, "--horizon", "10s"}},
		{"folder that is not there", "--out", cli.Failed, []string{"--log", log, "--out", filepath.Join(dir, "no", "x.dgm")}},
	} {
		code, _, errs := call(c.args...)
		last := strings.TrimSpace(errs)
		if i := strings.LastIndexByte(last, '\n'); i >= 0 {
			last = last[i+1:]
		}
		if code != c.code || !strings.Contains(last, c.says) {
			t.Errorf("%s: exit %d, expected %d; said %q", c.name, code, c.code, last)
		}
	}
	if left, _ := filepath.Glob(in("*.dgm")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if after, err := os.ReadFile(log); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the log was changed: %d bytes, %v", len(after), err)
	}
}

func TestCheckAsJSON(t *testing.T) {
	log := filepath.Join(t.TempDir(), "swing.msgpack")
	writeLog(t, log, 20)
	code, out, _ := call("--log", log, "--check", "--json")
	var doc struct {
		Problems []trainer.Problem `json:"problems"`
	}
	if err := json.Unmarshal([]byte(out), &doc); code != cli.Done || err != nil || doc.Problems == nil {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
}

// full is a standard output without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestFullOutputIsAFailure(t *testing.T) {
	log := filepath.Join(t.TempDir(), "swing.msgpack")
	writeLog(t, log, 20)
	for _, args := range [][]string{{"--print-config"}, {"--log", log, "--check"}, {"--log", log, "--check", "--json"}} {
		var errs bytes.Buffer
		c := command()
		c.SetArgs(args)
		c.SetOut(full{})
		c.SetErr(&errs)
		if code := cli.Run(context.Background(), c); code != cli.Failed || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%v: exit %d, %q", args, code, errs.String())
		}
	}
}

func TestPrintedConfigIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.toml")
	code, out, _ := call("--print-config")
	if err := os.WriteFile(path, []byte(out), 0o666); err != nil || code != cli.Done {
		t.Fatal(code, err)
	}
	o := options{config: path, preset: "default"}
	cfg, err := o.settings()
	if err != nil || cfg.TOML() != trainer.Default().TOML() {
		t.Errorf("%v: %s", err, cfg.TOML())
	}
}

// TestTrainWritesWhatItSays goes the whole way on a small log.
func TestTrainWritesWhatItSays(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds: minutes under the race detector")
	}
	dir := t.TempDir()
	log, config := filepath.Join(dir, "swing.msgpack"), filepath.Join(dir, "small.toml")
	writeLog(t, log, 40)
	small := "horizon = \"500ms\"\nfeatures = 20\nmembers = 1\ncore = \"linear\"\n[training]\nsteps = 30\nbatch = 30\nrows = 1000\n"
	if err := os.WriteFile(config, []byte(small), 0o666); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call("--log", log, "--config", config)
	if code != cli.Done {
		t.Fatalf("exit %d: %s", code, errs)
	}
	m, err := model.ReadFile(filepath.Join(dir, "swing.dgm"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Vehicle != "swing" || m.Provenance.Scores == "" || m.Provenance.Verdict == "" || !strings.Contains(out, m.Provenance.Verdict) {
		t.Errorf("vehicle %q, verdict %q; printed %s", m.Vehicle, m.Provenance.Verdict, out)
	}
	for _, name := range []string{"swing.report.html", "swing.report.json"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() < 1000 {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(out, name) {
			t.Errorf("%s is not named in the summary", name)
		}
	}
}
