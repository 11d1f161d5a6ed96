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
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
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
	code, out, errs := call("--log", log, "--check", "--json", "--horizon", "90s")
	if err := json.Unmarshal([]byte(out), &doc); code != cli.Failed || err != nil || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit %d, %v: %s%s", code, err, out, errs)
	}
	if p := doc.Problems[0]; p.Kind != datacheck.Short || p.Severity != datacheck.Stop {
		t.Errorf("%+v", p)
	}
}

// What passes the check can be trained on, and the check says where a finding is.
func TestCheckRefusesWhatTrainingRefuses(t *testing.T) {
	dir := t.TempDir()
	good, short, shorter := filepath.Join(dir, "good.msgpack"), filepath.Join(dir, "short.msgpack"), filepath.Join(dir, "shorter.msgpack")
	writeLog(t, good, 20)
	writeLog(t, short, 6)
	writeLog(t, shorter, 0.5)
	for _, c := range []struct {
		name   string
		args   []string
		refuse string   // "" = none
		say    []string // on standard output
	}{
		{"good", []string{"--log", good}, "", []string{"Data check of good.msgpack: nothing to report.\n"}},
		{"a horizon that is longer", []string{"--log", good, "--horizon", "90s"}, "the longest lasts 19.98 s", []string{"stop", "short", `segment "one", 0.000-19.980 s: This segment lasts`}},
		{"few horizons", []string{"--log", short}, "fewer than 8 horizons", []string{"Data check of short.msgpack: nothing", "All logs together:\n  stop     short "}},
		{"a log without a window", []string{"--log", shorter, "--log", good}, "the longest lasts 480 ms", []string{"shorter.msgpack: 2 findings", "good.msgpack: nothing"}},
	} {
		code, out, errs := call(append(c.args, "--check")...)
		for _, s := range c.say {
			if !strings.Contains(out, s) {
				t.Errorf("%s: it does not say %q:\n%s", c.name, s, out)
			}
		}
		if c.refuse == "" {
			if code != cli.Done || errs != "" {
				t.Errorf("%s: exit %d, %s", c.name, code, errs)
			}
			continue
		}
		if code != cli.Failed || !strings.Contains(errs, "cannot be trained on: ") || !strings.Contains(errs, c.refuse) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d, %s", c.name, code, errs)
		}
		// And so says training, in the same words.
		reason := errs[strings.Index(errs, "cannot be trained on: ")+len("cannot be trained on: "):]
		if code, _, errs := call(append(c.args, "--out", filepath.Join(dir, "x.dgm"))...); code != cli.Failed || !strings.HasSuffix(errs, reason) {
			t.Errorf("%s: training ends with %d, %s", c.name, code, errs)
		}
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
	quick := trainer.Quick()
	quick.Seed, quick.Horizon = 7, trainer.Duration(250*time.Millisecond)
	for _, c := range []struct {
		want trainer.Config
		args []string
	}{
		{trainer.Default(), nil},
		{trainer.Quick(), []string{"--preset", "quick"}},
		{quick, []string{"--preset", "quick", "--seed", "7", "--horizon", "250ms"}},
	} {
		code, out, _ := call(append(c.args, "--print-config")...)
		if err := os.WriteFile(path, []byte(out), 0o666); err != nil || code != cli.Done {
			t.Fatal(code, err)
		}
		o := options{config: path, preset: "default"}
		cfg, err := o.settings()
		if err != nil || cfg.TOML() != c.want.TOML() {
			t.Errorf("%v: %v: %s", c.args, err, cfg.TOML())
		}
		if strings.Count(out, "#") != strings.Count(trainer.Template, "#") || strings.Count(out, "\n") != strings.Count(trainer.Template, "\n") {
			t.Errorf("%v: comments are lost:\n%s", c.args, out)
		}
		if c.args == nil && out != trainer.Template {
			t.Error("the defaults differ from the commented file")
		}
	}
	// A file that was printed is laid under flags like any other.
	code, out, _ := call("--config", path, "--print-config", "--points", "33")
	if code != cli.Done || !strings.Contains(out, "points = 33\n") || !strings.Contains(out, "seed = 7\n") || !strings.Contains(out, "batch = 60               # windows a step\n") {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

func TestWrongSettingsFileIsWrongUsage(t *testing.T) {
	dir := t.TempDir()
	for text, say := range map[string]string{"horizn = \"1s\"\n": `unknown key "horizn"`, "points = 0\n": "points", "points = \n": "points.toml"} {
		path := filepath.Join(dir, "points.toml")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := call("--config", path); code != cli.Wrong || !strings.Contains(errs, say) {
			t.Errorf("%q: exit %d, %s", text, code, errs)
		}
	}
	if code, _, errs := call("--config", filepath.Join(dir, "none.toml")); code != cli.Failed || !strings.Contains(errs, "none.toml") {
		t.Errorf("no file: exit %d, %s", code, errs)
	}
}

// heard is an output that says when a text was written to it.
type heard struct {
	mu   sync.Mutex
	b    bytes.Buffer
	wait string
	then func()
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.b.Write(p)
	if h.then != nil && strings.Contains(h.b.String(), h.wait) {
		go h.then()
		h.then = nil
	}
	return len(p), nil
}

// Ctrl-C is answered before what there is has been rounded off, and once.
func TestInterruptIsAcknowledged(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "swing.msgpack")
	writeLog(t, log, 40)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	errs := &heard{wait: "%", then: cancel}
	var out bytes.Buffer
	c := command()
	c.SetArgs([]string{"--log", log, "--preset", "quick", "--horizon", "500ms"})
	c.SetOut(&out)
	c.SetErr(errs)
	if code := cli.Run(ctx, c); code != cli.Done {
		t.Fatalf("exit %d: %s", code, errs.b.String())
	}
	said := errs.b.String()
	if strings.Count(said, "Stopping: ") != 1 || !strings.Contains(out.String(), "PARTIAL: ") {
		t.Errorf("it says %s\n%s", said, out.String())
	}
	// What was taken untried is told, on the page too, and marked where the candidates are.
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
		t.Errorf("no candidate is marked as taken untried: %+v", page.Candidates)
	}
}

// A folder that fails after the training (taken away, full) does not cost the
// training: the error says where the model is.
func TestFolderThatFailsDoesNotCostTheModel(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	log, drive := filepath.Join(dir, "swing.msgpack"), filepath.Join(dir, "drive")
	writeLog(t, log, 40)
	if err := os.Mkdir(drive, 0o777); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	errs := &heard{wait: "%", then: func() { os.Remove(drive); cancel() }}
	c := command()
	c.SetArgs([]string{"--log", log, "--preset", "quick", "--horizon", "500ms", "--out", filepath.Join(drive, "swing.dgm")})
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
	// One id, that of the sealed file, wherever the model is named; the held-out
	// table says that it is of the model before it had seen these data.
	b, err := os.ReadFile(filepath.Join(dir, "swing.report.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		HeldOut []struct {
			ModelID  string `json:"model_id"`
			JudgedID string `json:"judged_id"`
		} `json:"held_out"`
		Provenance []report.Item
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	if h := doc.HeldOut; len(h) != 1 || h[0].ModelID != m.ID || len(h[0].JudgedID) != 16 || h[0].JudgedID == m.ID {
		t.Errorf("the model is %s, the report says %+v", m.ID, h)
	}
	if !slices.Contains(doc.Provenance, report.Item{Name: "model", Value: m.ID}) || !strings.Contains(out, "swing.dgm ("+m.ID+",") ||
		!strings.Contains(out, "evaluated the same networks, conditioned without these data ("+doc.HeldOut[0].JudgedID+")") {
		t.Errorf("the model is %s; printed\n%s", m.ID, out)
	}
	if s := m.Provenance.Scores; strings.Contains(s, m.ID) || !strings.Contains(s, doc.HeldOut[0].JudgedID) {
		t.Errorf("scores in the file: %.200s", s)
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
