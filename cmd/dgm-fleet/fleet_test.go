package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/dgm-fleet/chaos"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/firmware-sim/record"
	"github.com/dgm-robotics/dgm/trainer"
)

// call runs the command and returns its exit code and outputs.
func call(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	c := root()
	c.SetArgs(args)
	c.SetOut(&o)
	c.SetErr(&e)
	code = cli.Run(context.Background(), c)
	return code, o.String(), e.String()
}

// listen starts a server that stores no fleet, and returns its address.
func listen(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	return s.ClientURL()
}

func TestDays(t *testing.T) {
	for text, want := range map[string]time.Duration{"7d": 7 * 24 * time.Hour, "0.5d": 12 * time.Hour, "36h": 36 * time.Hour} {
		var d days
		if err := d.Set(text); err != nil || time.Duration(d) != want {
			t.Errorf("%s: %v, %v", text, time.Duration(d), err)
		}
	}
	for _, text := range []string{"", "d", "-1d", "NaNd", "1e9d", "-1h", "7"} {
		if err := new(days).Set(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestCommandsWithoutAndWithAFleet(t *testing.T) {
	url := listen(t)
	if code, _, errs := call("status", "--nats", url); code != cli.Failed || !bytes.Contains([]byte(errs), []byte("dgm-fleet setup")) {
		t.Errorf("no fleet: exit %d, %s", code, errs)
	}
	if code, _, errs := call("setup", "--keep", "90d", "--nats", url); code != cli.Done {
		t.Fatalf("exit %d, %s", code, errs)
	}
	code, out, errs := call("status", "--json", "--wait", "1ms", "--nats", url)
	var s fleet.Status
	if err := json.Unmarshal([]byte(out), &s); code != cli.Done || err != nil || s.Vehicles == nil || s.Jobs == nil || s.Robots == nil || s.Rollouts == nil {
		t.Errorf("exit %d, %v: %s%s", code, err, out, errs)
	}
	private, public := keyFiles(t, 1)
	_, other := keyFiles(t, 2)
	head := filepath.Join(t.TempDir(), "head")
	for _, c := range []struct {
		code int
		args []string
	}{
		{cli.Failed, []string{"train", "--vehicle", "drone-*"}},
		{cli.Wrong, []string{"train", "--vehicle", "["}},
		{cli.Wrong, []string{"train"}},
		{cli.Wrong, []string{"setup", "--replicas", "2"}},
		{cli.Failed, []string{"cancel", "0123"}},
		{cli.Wrong, []string{"promote", "--group", "drone-1"}},
		{cli.Wrong, []string{"promote", "--sign", "x.pem"}},
		{cli.Failed, []string{"rollback", "--group", "drone-1", "--sign", "x.pem"}},
		{cli.Wrong, []string{"rollout", "--group", "drone-1"}},
		{cli.Wrong, []string{"rollout", "--group", "drone-1", "--stop"}},
		{cli.Failed, []string{"rollout", "--group", "drone-1", "--stop", "--sign", private}},
		{cli.Wrong, []string{"pin", "--group", "drone-1", "--sign", "x.pem"}},
		{cli.Wrong, []string{"tag", "stable", "--model", "0123"}},
		{cli.Failed, []string{"tag", "stable", "--model", "0123", "--sign", private}},
		{cli.Wrong, []string{"group", "all", "drone-1", "drone-2"}},
		{cli.Done, []string{"group", "all", "drone-1", "drone-2", "--sign", private}},
		{cli.Wrong, []string{"revoke", "--model", "0123", "--sign", private}},
		{cli.Failed, []string{"revoke", "--model", "0123", "--reason", "r", "--sign", private}},
		{cli.Done, []string{"log", "--public-key", public, "--head", head}},
		{cli.Done, []string{"log", "--public-key", public, "--head", head, "--json"}},
		{cli.Failed, []string{"log", "--public-key", other}},
		{cli.Failed, []string{"fetch", "--vehicle", "drone-1", "--out", filepath.Join(t.TempDir(), "x.dgm")}},
	} {
		if code, _, errs := call(append(c.args, "--nats", url)...); code != c.code {
			t.Errorf("%v: exit %d, %s", c.args, code, errs)
		}
	}
}

// keyFiles writes a pair of keys as openssl does.
func keyFiles(t *testing.T, seed byte) (private, public string) {
	t.Helper()
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	dir := t.TempDir()
	private, public = filepath.Join(dir, "private.pem"), filepath.Join(dir, "public.pem")
	write := func(path, kind string, der []byte, err error) {
		if err == nil {
			err = os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	write(private, "PRIVATE KEY", der, err)
	der, err = x509.MarshalPKIXPublicKey(key.Public())
	write(public, "PUBLIC KEY", der, err)
	return private, public
}

// A job of another version, with settings that this one does not know, fails by their name.
func TestAJobOfAnotherVersion(t *testing.T) {
	job := fleet.NewJob("v1", []string{"l"}, "setting_of_later = 1\n", "later")
	if _, err := train(t.Context(), fleet.Training{Job: job}); err == nil || !strings.Contains(err.Error(), "setting_of_later") {
		t.Error(err)
	}
}

// small is a training of a second.
func small() trainer.Config {
	cfg := trainer.Quick()
	cfg.Horizon, cfg.Members, cfg.Features, cfg.Basis = trainer.Duration(500*time.Millisecond), 1, 8, 2
	cfg.Equation.Windows, cfg.Equation.Iterations = 50, 10
	cfg.Training.Steps, cfg.Training.Batch, cfg.Training.Rows = 4, 8, 300
	cfg.Stride, cfg.Filter, cfg.Folds.Temperature, cfg.Folds.ScaleFactor, cfg.Direct = trainer.Duration(50*time.Millisecond), "off", 0.3, false, false
	return cfg
}

// A job becomes a model by the trainer itself, with what its held-out data have shown.
func TestAJobIsTrained(t *testing.T) {
	if testing.Short() {
		t.Skip("trains: long under the race detector")
	}
	d := demo{segments: 5, samples: 301}
	dir := t.TempDir()
	log, out := filepath.Join(dir, "flight.msgpack"), filepath.Join(dir, "flight.dgm")
	if _, err := record.File(t.Context(), d.robot(0, 0), log, ""); err != nil {
		t.Fatal(err)
	}
	last := 0.0
	got, err := train(t.Context(), fleet.Training{
		Job: fleet.NewJob(name(0), []string{"l"}, small().TOML(), ""), Logs: []string{log}, Out: out,
		Progress: func(_ string, share float64) { last = share }, Log: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.ReadFile(out)
	if err != nil || m.ID != got.ID || m.Vehicle != name(0) || len(got.Units) != m.K || last < 0.9 {
		t.Errorf("%v: model %s of %q, units %q, progress %v", err, got.ID, name(0), got.Units, last)
	}
	if h := got.HeldOut; h.Verdict == "" || h.Partial != "" || h.Windows == 0 || !(h.Cover95[0] > 0 && h.Cover95[0] <= h.Cover95[1]) || len(h.Table) == 0 {
		t.Errorf("held out: %q, partial %q, %d windows, coverage %v", h.Verdict, h.Partial, h.Windows, h.Cover95)
	}
}

// Logs become models by the trainer itself, and the changed robot's new model is promoted.
func TestDemo(t *testing.T) {
	if os.Getenv("DGM_SLOW") == "" {
		t.Skip("trains three models and flies in real time for a minute; DGM_SLOW=1 runs it")
	}
	t.Parallel()
	d := demo{
		robots: 1, workers: 1, segments: 5, samples: 501, training: small(), payload: 2, after: 0,
		rule: fleet.Rule{Windows: 8, Alpha: 0.5, Band: 0.5, CanaryFor: 0, Longest: time.Hour},
	}
	var out bytes.Buffer
	if err := d.run(t.Context(), t.TempDir(), &out); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	t.Log(out.String())
}

// A fleet of processes that are killed loses nothing.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := chaos.Options{Program: program, Robots: 3, Workers: 2, Duration: 5 * time.Second, Scenarios: []string{"kill"}, Log: func(l string) { t.Log(l) }}
	if os.Getenv("DGM_SLOW") != "" {
		o.Scenarios = []string{"kill", "partition", "full", "disk"}
	}
	all, err := chaos.Run(t.Context(), o)
	if err != nil || len(all) == 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, r := range all {
		if !r.OK || r.Skip == "" && (r.Jobs == 0 || r.Logs == 0 || r.Latency.Pairs == 0) {
			t.Errorf("%+v", r)
		}
	}
}

// attacks runs scenarios on a server with accounts, in which one role may connect as another.
func attacks(t *testing.T, as map[string]string, names ...string) map[string]chaos.Outcome {
	t.Helper()
	o := chaos.Options{Scenarios: names, Log: func(l string) { t.Log(l) }, Train: train, Settings: trainer.Quick().TOML()}
	o.Accounts = func(ctx context.Context) (chaos.Server, error) {
		s, err := accountsForChaos(ctx)
		own := s.Connect
		s.Connect = func(role string) (*nats.Conn, error) { return own(cmp.Or(as[role], role)) }
		return s, err
	}
	all, err := chaos.Run(t.Context(), o)
	if err != nil || len(all) != len(names) {
		t.Fatalf("%+v, %v", all, err)
	}
	out := map[string]chaos.Outcome{}
	for _, r := range all {
		out[r.Scenario] = r
	}
	return out
}

// What is in wrong hands harms nobody else; where a robot has the operator's account, the scenarios find it.
func TestAttacks(t *testing.T) {
	t.Parallel()
	// The stolen ones try what the tests of the audit try, in the package of the fleet.
	names, found := []string{"forged-status", "clock-in-2100", "canary-in-silence"}, []string{"forged-status"}
	if os.Getenv("DGM_SLOW") != "" {
		names, found = append(names, "stolen-robot", "stolen-viewer", "poisoned-log"), append(found, "stolen-robot")
	}
	for name, r := range attacks(t, nil, names...) {
		if !r.OK || strings.HasPrefix(name, "stolen") && r.Tried < 500 {
			t.Errorf("%+v", r)
		}
	}
	for name, r := range attacks(t, map[string]string{fleet.RobotRole("drone-1"): fleet.RoleOperator}, found...) {
		if r.OK || r.Error == "" && len(r.Through) == 0 {
			t.Errorf("%s: a robot with the operator's account harms nobody: %+v", name, r)
		}
	}
}

// The test's program is also that of the processes of TestChaos.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == chaos.Command {
		if err := chaos.RunPart(context.Background(), os.Args[2]); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// What robots and workers have sent is shown, and not carried out by the terminal.
func TestTheStatusHoldsNoControlCharacters(t *testing.T) {
	hostile := "\x1b[2J\u009b1m\u202e\t\r\n"
	s := fleet.Status{
		Robots: []fleet.RobotStatus{{
			Vehicle: "v", Model: hostile, Coverage: map[string]float64{hostile: 1}, Alarms: []string{hostile}, Shadow: &fleet.Trial{Model: hostile},
			Decided: &fleet.Installation{Flown: &fleet.Ref{Model: hostile}, Pin: hostile},
		}},
		Vehicles: []fleet.VehicleStatus{{Vehicle: "v", Newest: &fleet.Model{ID: hostile}}},
		Jobs:     []fleet.JobStatus{{Worker: hostile, State: fleet.State(hostile)}},
		Faults:   []string{hostile},
	}
	var out bytes.Buffer
	if err := printStatus(&out, &s); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 10 {
		t.Errorf("%d lines", n)
	}
	if i := bytes.IndexFunc(out.Bytes(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' || r == 0x202e }); i >= 0 {
		t.Errorf("%q", out.Bytes()[i:])
	}
}

// A worker whose folder cannot be made takes no job.
func TestAWorkerWithoutAFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call("worker", "--nats", "nats://127.0.0.1:1", "--dir", filepath.Join(file, "x")); code != cli.Failed || !strings.Contains(errs, "not a directory") {
		t.Errorf("exit %d, %s", code, errs)
	}
}
