package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/dgm-robotics/dgm/cmd/dgm-demo/judge"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/trainer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// buffer may be written and read at once.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.b.Write(p) }

func (b *buffer) String() string { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }

// tiny is the scene of a system, all of it, in seconds: what it learns is no good.
func tiny(t *testing.T, system string) *scene {
	t.Helper()
	sc, ok := sceneOf(system)
	if !ok {
		t.Fatal(system)
	}
	sc.segments, sc.length, sc.flight = 5, 3*time.Second, 3*time.Second
	c := &sc.training
	c.Horizon, c.Points, c.Members, c.Features = trainer.Duration(100*time.Millisecond), 5, 1, 6
	c.Net.Core, c.Net.Dynamics, c.Core, c.Prior, c.Stride = []int{4}, []int{4}, "net", "none", trainer.Duration(50*time.Millisecond)
	c.Training.Steps, c.Training.Batch = 3, 10
	sc.robot.PlanHorizon = c.Horizon.Seconds()
	// A robot sends no states of a time for which its computer stands still: a tenth of a second remains, or more.
	sc.limits = judge.Limits{Flight: 100 * time.Millisecond, Overdue: 1, Low: 0, High: 1}
	return sc
}

// bare is the tiny scene of a pendulum without filter, direct map and calibration, for tests that do not look at it.
func bare(t *testing.T) *scene {
	t.Helper()
	sc := tiny(t, "pendulum")
	c := &sc.training
	c.Filter, c.Dynamics.Members, c.Direct, c.Folds.ScaleFactor, c.Folds.Temperature = "off", 0, false, false, 0.3
	return sc
}

func TestWholePath(t *testing.T) {
	for _, system := range []string{"pendulum", "quadrotor"} {
		t.Run(system, func(t *testing.T) {
			if testing.Short() {
				t.Skip("trains: long under the race detector, which TestKeepServesOtherClients has")
			}
			if system == "quadrotor" && os.Getenv("DGM_SLOW") == "" {
				t.Skip("quadrotor: its training takes seconds; DGM_SLOW=1 runs it")
			}
			t.Parallel()
			wholePath(t, system)
		})
	}
}

func wholePath(t *testing.T, system string) {
	var out buffer
	o := options{out: filepath.Join(t.TempDir(), "new", "folder"), seed: 3}
	sc := tiny(t, system)
	if err := run(t.Context(), o, sc, &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	log, err := flightlog.ReadFile(filepath.Join(o.out, logName))
	if err != nil || len(log.Segments) != 5 || log.Vehicle != system {
		t.Errorf("the log: %v", err)
	}
	m, err := model.ReadFile(filepath.Join(o.out, modelName))
	if err != nil || m.Vehicle != system || m.K != len(sc.robot.Plant.States) || m.P != len(sc.robot.Plant.Inputs) {
		t.Errorf("the model: %v", err)
	}
	for _, part := range []string{"Recorded 5 flights", "Trained with the quick preset", "in 95%", "Flew ", "0 not finite", "Written to " + o.out, modelName, pageName, dataName, "Done in"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("it does not print %q:\n%s", part, out.String())
		}
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, part := range []string{"Verdict on the model: ", filepath.Join(o.out, pageName), "go run ./cmd/dgm-bridge topics"} {
		if line := lines[len(lines)-3+i]; !strings.Contains(line, part) {
			t.Errorf("%q is not in line %d from its end: %s", part, 3-i, line)
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("a sequence for terminals")
	}
	left, err := os.ReadDir(o.out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if strings.HasPrefix(e.Name(), ".") {
			t.Errorf("%s is left over", e.Name())
		}
	}
}

func TestBrokenLimitsFail(t *testing.T) {
	if testing.Short() {
		t.Skip("trains: long under the race detector, which TestKeepServesOtherClients has")
	}
	t.Parallel()
	sc := bare(t)
	sc.limits = judge.Limits{Flight: time.Hour, Overdue: 1, Low: 0, High: 1}
	var out buffer
	err := run(t.Context(), options{out: t.TempDir()}, sc, &out)
	if err == nil || !strings.Contains(err.Error(), "the flight lasted ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("it ends with %v", err)
	}
	if s := out.String(); !strings.Contains(s, "Flew ") || !strings.Contains(s, "Written to") || strings.Contains(s, "Done") {
		t.Errorf("it says\n%s", s)
	}
	// The command prints its error, once.
	if strings.Contains(out.String(), err.Error()) {
		t.Errorf("the error is printed twice:\n%s", out.String())
	}
}

// Limits that are not kept are named when they are known, though the flight continues,
// and not again at its end.
func TestKeepReportsBrokenLimitsOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("trains: long under the race detector, which TestKeepServesOtherClients has")
	}
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sc := bare(t)
	sc.limits = judge.Limits{Flight: time.Hour, Overdue: 1, Low: 0, High: 1}
	var out buffer
	done := make(chan error, 1)
	go func() { done <- run(ctx, options{out: t.TempDir(), keep: true}, sc, &out) }()
	waitFor(t, &out, `Limits not met: the flight lasted \d[^\n]*\nThe flight continues`)
	cancel()
	if err := <-done; err == nil || strings.Contains(err.Error(), "the flight lasted") || !strings.Contains(err.Error(), "did not meet the limits") {
		t.Errorf("it ends with %v", err)
	}
	if s := out.String(); strings.Count(s, "the flight lasted") != 1 || strings.Count(s, "\nFlew ") != 2 {
		t.Errorf("it says\n%s", s)
	}
}

// longest is how long a test waits for what must come, on a busy computer too; nothing is measured by it.
const longest = 10 * time.Minute

// waitFor returns what a pattern matches in what the demo says.
func waitFor(t *testing.T, out *buffer, pattern string) []string {
	t.Helper()
	expr := regexp.MustCompile(pattern)
	for end := time.Now().Add(longest); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if m := expr.FindStringSubmatch(out.String()); m != nil {
			return m
		}
	}
	t.Fatalf("it never says %s:\n%s", pattern, out.String())
	return nil
}

func TestKeepServesOtherClients(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sc := bare(t)
	var out buffer
	done := make(chan error, 1)
	go func() { done <- run(ctx, options{out: t.TempDir(), keep: true}, sc, &out) }()
	// It listens, and says where, before it trains.
	url := waitFor(t, &out, `^A NATS server listens at (nats://127\.0\.0\.1:\d+) until Ctrl-C`)[1]
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	sub, err := nc.SubscribeSync(wire.AllPredictions)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, &out, `The flight continues`)
	for range 5 {
		msg, err := sub.NextMsg(time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		var p wire.Prediction
		if err := p.Decode(msg.Data); err != nil || p.Vehicle != "pendulum" || p.Inputs != "plan" {
			t.Errorf("%v: %+v", err, p)
		}
	}
	nc.Close()
	cancel()
	if err := <-done; err != nil {
		t.Errorf("stopped by hand after it was judged, it ends with %v", err)
	}
	if s := out.String(); strings.Count(s, "examples/planner-go "+url) != 2 || strings.LastIndex(s, "examples/planner-go") < strings.Index(s, "The flight continues") {
		t.Errorf("how to subscribe is not printed behind the judgement:\n%s", s)
	}
	// It was summed up when it was judged, and all of it at the end.
	if s := out.String(); !strings.Contains(s, "Done in") || strings.Count(s, "\nFlew ") != 2 || strings.LastIndex(s, "\nFlew ") < strings.Index(s, "The flight continues") {
		t.Errorf("no summary of the whole flight:\n%s", s)
	}
}

// Ctrl-C at any time: it ends soon, leaves no goroutine (TestMain), lists what
// stands, and calls nothing done.
func TestInterrupted(t *testing.T) {
	for name, when := range map[string]string{
		"recording": `^`,
		"training":  `training`,
		"flying":    `predictions at`,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		sc := bare(t)
		sc.flight = time.Minute
		if name == "training" {
			sc.training.Training.Steps = 1_000_000
		}
		var out buffer
		done := make(chan error, 1)
		go func() { done <- run(ctx, options{out: t.TempDir()}, sc, &out) }()
		waitFor(t, &out, when)
		cancel()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: it ends with %v", name, err)
			}
		case <-time.After(longest):
			t.Fatalf("%s: it does not end", name)
		}
		s := out.String()
		if strings.Contains(s, "Done") || strings.Contains(s, modelName) != (name == "flying") {
			t.Errorf("%s: it says\n%s", name, s)
		}
	}
}

func TestExitCodes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	for name, c := range map[string]struct {
		args []string
		code int
		part string
	}{
		"unknown system":   {[]string{"--system", "submarine"}, cli.Wrong, "neither pendulum nor quadrotor"},
		"an argument":      {[]string{"pendulum"}, cli.Wrong, "pendulum"},
		"unknown flag":     {[]string{"--systme", "a"}, cli.Wrong, "--systme"},
		"port of nobody":   {[]string{"--port", "4222"}, cli.Wrong, "--keep"},
		"unknown change":   {[]string{"--fault", "rust=1"}, cli.Wrong, "rust"},
		"a late change":    {[]string{"--fault", "payload=0.3:30s"}, cli.Wrong, "changes at 30 s"},
		"no port":          {[]string{"--keep", "--port", "70000"}, cli.Wrong, "is not within"},
		"a file as folder": {[]string{"--out", file}, cli.Failed, "choose another folder with --out"},
		"port taken":       {[]string{"--keep", "--port", port, "--out", t.TempDir()}, cli.Failed, "choose another --port"},
	} {
		var out, messages bytes.Buffer
		root := command()
		root.SetArgs(c.args)
		root.SetOut(&out)
		root.SetErr(&messages)
		if code := cli.Run(t.Context(), root); code != c.code || !strings.Contains(messages.String(), c.part) || strings.Count(messages.String(), "\n") != 1 {
			t.Errorf("%s: code %d, said %q", name, code, messages.String())
		}
	}
}

func TestScenes(t *testing.T) {
	for system, want := range map[string]struct{ K, P int }{"pendulum": {2, 1}, "quadrotor": {12, 4}} {
		sc, ok := sceneOf(system)
		if !ok || len(sc.robot.Plant.States) != want.K || len(sc.robot.Plant.Inputs) != want.P {
			t.Fatalf("%s: %+v", system, sc)
		}
		if err := sc.training.Check(); err != nil {
			t.Errorf("%s: %v", system, err)
		}
		if sc.limits != (judge.Limits{Flight: 30 * time.Second, Overdue: 0.02, Low: 0.88, High: 0.995}) {
			t.Errorf("%s: limits %+v", system, sc.limits)
		}
		if sc.robot.Noise == nil || sc.robot.Rate != 100 || sc.robot.PlanHorizon != sc.horizon().Seconds() {
			t.Errorf("%s: robot %+v", system, sc.robot)
		}
		// Predictions are compared with measurements: their times must be the
		// same, and the last one must come before the flight is over.
		var times []float64
		for i := range sc.training.Points {
			times = append(times, sc.horizon().Seconds()*float64(i+1)/float64(sc.training.Points))
		}
		judge.New(judge.Config{K: want.K, Period: sc.period(), Horizon: times}) // panics otherwise
		if sc.flight-sc.horizon() < sc.limits.Flight {
			t.Errorf("%s: %v of flight leave less than %v with all intervals scored", system, sc.flight, sc.limits.Flight)
		}
	}
}
