package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/report"
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

func TestFailuresBeforeWork(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "swing.msgpack")
	writeLog(t, log, 4)
	empty := filepath.Join(dir, "empty.msgpack")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	table := filepath.Join(dir, "table.csv")
	if err := os.WriteFile(table, []byte("t,angle\n0,1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	// Logs under the name of an output.
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"z.report.json", "flight.dgm"} {
		writeLog(t, in(name), 4)
	}
	if err := errors.Join(os.WriteFile(in("w.report.json"), nil, 0o666), os.Mkdir(in("o.report.html"), 0o777)); err != nil {
		t.Fatal(err)
	}
	key := in("private.pem")
	writeKey(t, key, 1)
	before, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
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
		{"signed for two", "--vehicle and --fleet are both given", cli.Wrong, []string{"--log", log, "--sign", key, "--vehicle", "a", "--fleet", "b", "--horizon", "500ms", "--preset", "quick"}},
		{"a vehicle that nothing is signed for", "need --sign", cli.Wrong, []string{"--log", log, "--vehicle", "a"}},
		{"unknown flag", "--bogus", cli.Wrong, []string{"--bogus"}},
		{"setting that cannot be", "horizon", cli.Wrong, []string{"--log", log, "--horizon", "-1s"}},
		{"unknown preset", "slow", cli.Wrong, []string{"--log", log, "--preset", "slow"}},
		{"no such log", "nope", cli.Failed, []string{"--log", filepath.Join(dir, "nope")}},
		{"a table", "this is a table or other text; for a table, dgm-bridge topics", cli.Failed, []string{"--log", table, "--check"}},
		{"a folder", "is a folder; give its files", cli.Failed, []string{"--log", dir, "--check"}},
		{"a flag without dashes", "did you mean --check?", cli.Wrong, []string{"check", "--log", log}},
		{"a log without its flag", "did you mean --log " + log, cli.Wrong, []string{log}},
		{"a model without its flag", "did you mean --model x.dgm?", cli.Wrong, []string{"x.dgm"}},
		{"empty log", "empty", cli.Failed, []string{"--log", empty}},
		{"horizon longer than the log", "horizon", cli.Failed, []string{"--log", log, "--horizon", "10s"}},
		{"folder that is not there", "--out", cli.Failed, []string{"--log", log, "--out", filepath.Join(dir, "no", "x.dgm")}},
	} {
		code, _, errs := call(c.args...)
		last := strings.TrimSpace(errs)
		if i := strings.LastIndexByte(last, '\n'); i >= 0 {
			last = last[i+1:]
		}
		if code != c.code || !strings.Contains(last, c.want) {
			t.Errorf("%s: exit %d, expected %d; message %q", c.name, code, c.code, last)
		}
	}
	if left, _ := filepath.Glob(in("*.dgm")); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if after, err := os.ReadFile(log); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the log was changed: %d bytes, %v", len(after), err)
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

// trigger is an output that calls a function when a text was written to it.
type trigger struct {
	mu   sync.Mutex
	b    bytes.Buffer
	wait string
	then func()
}

func (h *trigger) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.b.Write(p)
	if h.then != nil && strings.Contains(h.b.String(), h.wait) {
		go h.then()
		h.then = nil
	}
	return len(p), nil
}

// Ctrl-C is acknowledged once, before the model is completed.
func TestInterruptIsAcknowledged(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "swing.msgpack")
	writeLog(t, log, 40)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	errs := &trigger{wait: "%", then: cancel}
	var out bytes.Buffer
	c := command()
	c.SetArgs([]string{"--log", log, "--config", smallConfig(t, strings.Replace(small, "temper = 0.3", "", 1))})
	c.SetOut(&out)
	c.SetErr(errs)
	if code := cli.Run(ctx, c); code != cli.Done {
		t.Fatalf("exit %d: %s", code, errs.b.String())
	}
	messages := errs.b.String()
	if strings.Count(messages, "Stopping: ") != 1 || !strings.Contains(out.String(), "PARTIAL: ") {
		t.Errorf("messages %s\n%s", messages, out.String())
	}
	// The page has the same warning as the terminal, and marks the untried candidate.
	_, warning, _ := strings.Cut(out.String(), "\nWARNING: ")
	warning, _, _ = strings.Cut(warning, "\n")
	if !strings.HasPrefix(warning, "There was no time to choose") || !strings.Contains(warning, "temper") {
		t.Errorf("no warning of what was not chosen: %s", out.String())
	}
	b, err := os.ReadFile(filepath.Join(dir, "swing.report.json"))
	var page report.Report
	if err == nil {
		err = json.Unmarshal(b, &page)
	}
	if err != nil || !slices.Contains(page.Warnings, warning) {
		t.Errorf("%v: %q does not have %q", err, page.Warnings, warning)
	}
	untried := slices.IndexFunc(page.Candidates, func(c report.Candidate) bool { return c.Untried })
	if untried < 0 || !page.Candidates[untried].Chosen {
		t.Errorf("no candidate is marked as untried: %+v", page.Candidates)
	}
}

// If the folder fails after the training (removed, full), the model is saved elsewhere and
// the error names the place.
func TestModelIsSavedWhereItsFolderFails(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	log, drive := filepath.Join(dir, "swing.msgpack"), filepath.Join(dir, "drive")
	writeLog(t, log, 40)
	if err := os.Mkdir(drive, 0o777); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	errs := &trigger{wait: "%", then: func() { os.Remove(drive); cancel() }}
	c := command()
	c.SetArgs([]string{"--log", log, "--config", smallConfig(t, small), "--out", filepath.Join(drive, "swing.dgm")})
	c.SetOut(io.Discard)
	c.SetErr(errs)
	if code := cli.Run(ctx, c); code != cli.Failed {
		t.Fatalf("exit %d: %s", code, errs.b.String())
	}
	saved, err := filepath.Glob(filepath.Join(temp, "*", "swing.dgm"))
	if err != nil || len(saved) != 1 || !strings.Contains(errs.b.String(), "swing.dgm: cannot be written: no such file or directory; the model was saved as "+saved[0]) {
		t.Fatalf("%v, %v: %s", saved, err, errs.b.String())
	}
	if _, err := model.ReadFile(saved[0]); err != nil {
		t.Error(err)
	}
}

// small is a training of a second.
const small = `horizon = "500ms"
direct_windows = 400
stride = "50ms"
filter = "off"
features = 8
members = 1
core = "linear"
basis = 2
[equation]
windows = 50
iterations = 10
motion_windows = 40
[training]
steps = 4
batch = 8
rows = 300
[dynamics]
members = 0
[folds]
temper = 0.3
windows = 100
`

// smallConfig writes settings to a file.
func smallConfig(t *testing.T, settings string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "small.toml")
	if err := os.WriteFile(path, []byte(settings), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A whole training on a small log: the files hold one model, and agree.
func TestTrainWritesModelAndReports(t *testing.T) {
	if testing.Short() {
		t.Skip("trains: long under the race detector")
	}
	dir := t.TempDir()
	log, config := filepath.Join(dir, "swing.msgpack"), smallConfig(t, small)
	writeLog(t, log, 30)
	code, out, errs := call("--log", log, "--config", config, "--json")
	if code != cli.Done {
		t.Fatalf("exit %d: %s", code, errs)
	}
	m, err := model.ReadFile(filepath.Join(dir, "swing.dgm"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "swing.report.json"))
	if err != nil || string(b) != out {
		t.Fatalf("--json prints %d bytes, the file has %d, %v", len(out), len(b), err)
	}
	var page report.Report
	if err := json.Unmarshal(b, &page); err != nil {
		t.Fatal(err)
	}
	if len(m.Latency) != m.P || len(page.Latency) != m.P || !(page.CPUSeconds > 0) {
		t.Errorf("latency %+v of %+v, %v s", page.Latency, m.Latency, page.CPUSeconds)
	}
	if m.Vehicle != "swing" || m.Provenance.Verdict == "" || m.Provenance.Verdict != page.Line() || page.Next == "" {
		t.Errorf("vehicle %q, verdict %q; the report has %q", m.Vehicle, m.Provenance.Verdict, page.Line())
	}
	// The ID of the sealed file names the model; the table is of one that was
	// conditioned without the held-out data.
	if len(page.HeldOut) != 1 {
		t.Fatalf("%d tables", len(page.HeldOut))
	}
	table := page.HeldOut[0]
	if table.ModelID != m.ID || len(table.EvaluatedID) != 16 || table.EvaluatedID == m.ID || !slices.Contains(page.Provenance, report.Item{Name: "model", Value: m.ID}) {
		t.Errorf("the model is %s, the table of %s and %s", m.ID, table.ModelID, table.EvaluatedID)
	}
	if n := table.Networks; n == nil || !(n.RMSERatio > 0) || !slices.Contains(page.Details, n.Brief()) {
		t.Errorf("networks: %v", n)
	}
	var scores evaluate.Table
	if err := json.Unmarshal([]byte(m.Provenance.Scores), &scores); err != nil || scores.ModelID != "" || scores.EvaluatedID != table.EvaluatedID || !reflect.DeepEqual(scores.Horizons, table.Horizons) {
		t.Errorf("scores in the file: %v, %.200s", err, m.Provenance.Scores)
	}
	if html, err := os.ReadFile(filepath.Join(dir, "swing.report.html")); err != nil || !bytes.Contains(html, []byte(m.ID)) {
		t.Errorf("the page does not name the model: %v", err)
	}
}
