package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// kept starts a server with an empty fleet and a vehicle v1 that sends states, and returns what starts its keeper and
// what lists stored logs.
func kept(t *testing.T) (nc *nats.Conn, begin func(k *keeper) (end func()), all func() []fleet.Log) {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not come up")
	}
	if nc, err = nats.Connect(s.ClientURL()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	if err := fleet.Setup(t.Context(), nc, fleet.Settings{}); err != nil {
		t.Fatal(err)
	}
	logs, err := fleet.OpenLogs(t.Context(), nc)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for seq := uint64(1); t.Context().Err() == nil; seq++ {
			x := wire.State{Seq: seq, T: time.Now().UnixNano(), X: []float64{1, 2}}
			_ = nc.Publish(wire.StateSubject("v1"), x.Append(nil))
			time.Sleep(5 * time.Millisecond)
		}
	}()
	begin = func(k *keeper) (end func()) {
		k.vehicle, k.around, k.megabyte, k.nc, k.wait = "v1", 200*time.Millisecond, 100, nc, time.Minute
		if k.log == nil {
			k.log = func(line string) { t.Log(line) }
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- k.run(ctx) }()
		return func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	return nc, begin, func() []fleet.Log {
		all, unreadable, err := logs.List(t.Context())
		if err != nil || len(unreadable) > 0 {
			t.Fatal(unreadable, err)
		}
		for _, l := range all {
			if l.Vehicle != "v1" || l.Samples == 0 || l.Damages > 0 {
				t.Fatalf("%+v", l)
			}
		}
		return all
	}
}

// recordings returns the logs in a folder.
func recordings(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.msgpack"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Without an alarm nothing is stored; with one, logs are, and what a stop has left undecided is stored after the next start.
func TestUploadAroundAlarms(t *testing.T) {
	nc, begin, all := kept(t)
	dir := t.TempDir()
	end := begin(&keeper{when: alarm, dir: dir})
	seen := map[string]bool{}
	eventually(t, "five recordings", func() bool {
		for _, path := range recordings(t, dir) {
			seen[path] = true
		}
		return len(seen) >= 5
	})
	if n := len(all()); n > 0 {
		t.Fatalf("%d logs without an alarm", n)
	}
	s := wire.Status{Vehicle: "v1", Model: "m", Miscalibrated: 1, Channels: []string{"a", "b"}, Checks: []float64{30, 10}, Coverage: []float64{0.9, 0.5}}
	if len(s.Alarms()) == 0 {
		t.Fatal("the status has no alarm")
	}
	eventually(t, "a log is stored", func() bool {
		if err := nc.Publish(wire.StatusSubject("v1"), s.Append(nil)); err != nil {
			t.Fatal(err)
		}
		return len(all()) > 0
	})
	end()
	left, before := recordings(t, dir), len(all())
	if len(left) == 0 {
		t.Fatal("the stop has left no log")
	}
	empty := filepath.Join(dir, "v1.msgpack")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	end = begin(&keeper{when: alarm, dir: dir})
	eventually(t, "what was left is stored", func() bool { return len(all()) >= before+len(left) })
	end()
	if !slices.ContainsFunc(all(), func(l fleet.Log) bool {
		return slices.Equal(l.Models, []string{"m"}) && slices.Equal(l.Alarms, []string{"miscalibrated"}) && l.Coverage != nil && *l.Coverage == 0.8
	}) {
		t.Errorf("no log has what the estimator reported: %+v", all())
	}
	if _, err := os.Stat(empty); err != nil {
		t.Error(err)
	}
}

// What was stored is removed from the folder; a file that is no log keeps nothing else.
func TestUploadAlways(t *testing.T) {
	_, begin, all := kept(t)
	dir := t.TempDir()
	for _, err := range []error{os.Mkdir(filepath.Join(dir, "upload"), 0o777), os.WriteFile(filepath.Join(dir, "upload", "a.msgpack"), []byte("no log"), 0o666)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	end := begin(&keeper{when: always, dir: dir})
	eventually(t, "three logs are stored", func() bool { return len(all()) >= 3 })
	end()
	left, before := recordings(t, filepath.Join(dir, "upload")), len(all())
	end = begin(&keeper{when: always, dir: dir})
	eventually(t, "what waited is stored, but for the one", func() bool {
		left = slices.DeleteFunc(left, func(path string) bool { _, err := os.Stat(path); return err != nil })
		return len(left) == 1 && len(all()) > before
	})
	end()
}

// With the settings of dgm-estimator and one of them changed, its vehicle is uploaded.
func TestUploadByTheSettingsOfTheEstimator(t *testing.T) {
	nc, _, all := kept(t)
	template, err := os.ReadFile("../dgm-estimator/estimator.toml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "estimator.toml")
	m := artificial.New(artificial.Size{K: 2, Features: 8, Points: 5, Horizon: 1}, 1)
	m.Vehicle = "v1"
	file, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	settings := strings.NewReplacer(`"flight.dgm"`, strconv.Quote(filepath.Join(dir, "flight.dgm")), `"nats://127.0.0.1:4222"`, strconv.Quote(nc.ConnectedUrl()),
		`"uploads"`, strconv.Quote(dir), `"2m"`, `"1s"`).Replace(string(template))
	for _, err := range []error{os.WriteFile(path, []byte(settings), 0o666), os.WriteFile(filepath.Join(dir, "flight.dgm"), file, 0o666)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if code, _, errs := run("upload", "--config", path); code != 0 || !strings.Contains(errs, "nothing is uploaded") {
		t.Errorf("as installed: exit %d, %s", code, errs)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(settings, `when = "never"`, `when = "always"`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	cmd := root()
	cmd.SetArgs([]string{"upload", "--config", path})
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	eventually(t, "a log is stored", func() bool { return len(all()) > 0 })
	if l := all()[0]; !slices.Equal(l.Channels, []string{m.Channels[0].Name, m.Channels[1].Name}) {
		t.Errorf("%+v", l)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// The oldest logs beyond the limit are removed.
func TestWaitingLogsAreLimited(t *testing.T) {
	k := keeper{dir: t.TempDir(), megabyte: 1, log: func(string) {}}
	if err := os.Mkdir(k.outbox(), 0o777); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"c", "a", "b"} {
		path := filepath.Join(k.outbox(), name)
		at := time.Unix(int64(1000+i), 0)
		if err := os.WriteFile(path, make([]byte, 400_000), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.limit(); err != nil {
		t.Fatal(err)
	}
	all, err := k.waiting()
	if err != nil || len(all) != 2 || all[0].Name() != "a" || all[1].Name() != "b" {
		t.Errorf("%v, %v", all, err)
	}
}

func TestFlagsOfUpload(t *testing.T) {
	for line, want := range map[string]string{
		"":                                   "no flight log is given",
		"--vehicle v1":                       "no flight log is given",
		"--vehicle v1 f.msgpack":             "need --when",
		"--when often":                       "neither always nor alarm",
		"--when alarm f.msgpack":             "cannot be given",
		"--when alarm --vehicle v1":          "needs a folder",
		"--when alarm --dir d":               "--vehicle",
		"--when alarm --vehicle a.b --dir d": "--vehicle",
		"--when alarm --vehicle v1 --dir d --around 1ms": "at least 1s",
		"--when alarm --vehicle v1 --dir d --most-mb 0":  "at least 1",
	} {
		if code, _, errs := run(append([]string{"upload"}, strings.Fields(line)...)...); code != cli.Wrong || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %s", line, code, errs)
		}
	}
}
