package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/flightlog/inspect"
)

// run runs the command with arguments.
func run(args ...string) (code int, stdout, stderr string) {
	return runUntil(context.Background(), args...)
}

// runUntil is run of a command that is interrupted when the context ends.
func runUntil(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	cmd := root()
	var out, errs bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&errs)
	cmd.SetArgs(args)
	code = cli.Run(ctx, cmd)
	return code, out.String(), errs.String()
}

// eventually waits for up to a minute until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not after a minute: %s", what)
		}
	}
}

const mapText = `
vehicle = "pend1"
[time]
column = "t"
unit = "s"
[[channel]]
name = "theta"
column = "theta"
unit = "rad"
role = "state"
[[channel]]
name = "omega"
column = "omega"
unit = "rad/s"
role = "state"
`

func TestImportAndInfo(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	var table strings.Builder
	table.WriteString("t,theta,omega\n")
	for i := range 1000 {
		s := 0.01 * float64(i)
		fmt.Fprintf(&table, "%.2f,%.6f,%.6f\n", s, math.Sin(s), math.Cos(s))
	}
	table.WriteString("9.99,1,\n") // repeats a time
	for name, text := range map[string]string{"map.toml": mapText, "a.csv": table.String(), "bad.csv": "t,theta,omega\n0,x,1\n"} {
		if err := os.WriteFile(in(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := run("import", "csv", "--map", in("map.toml"), in("a.csv"), "--out", in("f.msgpack"))
	if code != cli.Done || errs != "" {
		t.Fatalf("exit %d: %s", code, errs)
	}
	for _, want := range []string{"wrote " + in("f.msgpack") + ": vehicle pend1, 1000 rows in 1 segment, 9.99 s\n", "derivative of theta is omega, by the data (slope 1.0", "1 row with the time of the row before dropped, in a.csv line 1002"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	code, out, errs = run("info", in("f.msgpack"))
	if code != cli.Done || errs != "" || !strings.Contains(out, "vehicle pend1, 1000 samples in 1 segment, 9.99 s at 100 Hz") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	code, out, errs = run("info", "--json", in("f.msgpack"))
	var rep inspect.Report
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != cli.Done || errs != "" || rep.Samples != 1000 || rep.Channels[0].Derivative != "omega" {
		t.Errorf("exit %d, %v, %+v, %q", code, err, rep, errs)
	}

	wrong := []struct {
		code int
		line string
		args []string
	}{
		{cli.Failed, "bad.csv: line 2: column \"theta\": \"x\" is not a number", []string{"import", "csv", "--map", in("map.toml"), in("a.csv"), in("bad.csv"), "--out", in("g.msgpack")}},
		{cli.Failed, "no such file", []string{"import", "csv", "--map", in("nix.toml"), in("a.csv"), "--out", in("g.msgpack")}},
		{cli.Failed, "cannot be written", []string{"import", "csv", "--map", in("map.toml"), in("a.csv"), "--out", in("nix/g.msgpack")}},
		{cli.Wrong, "map.toml is read and would be replaced", []string{"import", "csv", "--map", in("map.toml"), in("a.csv"), "--out", in("map.toml")}},
		{cli.Wrong, "a.csv is read and would be replaced", []string{"import", "csv", "--map", in("map.toml"), in("a.csv"), "--out", in("a.csv")}},
		{cli.Failed, "no such file or directory; check the path\n", []string{"info", in("nix")}},
		{cli.Failed, "is a folder", []string{"info", dir}},
		{cli.Wrong, "name one log or several", []string{"import", "csv", "--map", in("map.toml"), "--out", in("g.msgpack")}},
		{cli.Wrong, `"map" not set`, []string{"import", "csv", in("a.csv"), "--out", in("g.msgpack")}},
		{cli.Wrong, `unknown command "xls"`, []string{"import", "xls"}},
		{cli.Wrong, "accepts 1 arg", []string{"info"}},
	}
	for _, command := range [][]string{{"topics"}, {"topics", "--suggest"}} {
		wrong = append(wrong, struct {
			code int
			line string
			args []string
		}{cli.Failed, "f.msgpack: this is a flight log: dgm-bridge info describes it", append(command, in("f.msgpack"))})
	}
	for _, command := range [][]string{{"info"}, {"info", "--json"}, {"play"}, {"upload"}, {"export", "csv", "--out", in("g.csv")}, {"export", "mcap", "--out", in("g.mcap")}} {
		line := "a.csv: not a flight log: this is a table or other text; for a table, dgm-bridge topics " + in("a.csv") + " --suggest > map.toml"
		wrong = append(wrong, struct {
			code int
			line string
			args []string
		}{cli.Failed, line, append(command, in("a.csv"))})
	}
	for _, c := range wrong {
		code, out, errs := run(c.args...)
		if code != c.code || !strings.Contains(errs, c.line) || strings.Count(errs, "\n") != 1 || out != "" {
			t.Errorf("%v: exit %d, %q, %q; want %d, %q", c.args, code, out, errs, c.code, c.line)
		}
	}
	if _, err := os.Stat(in("g.msgpack")); err == nil {
		t.Error("a failed import left a log")
	}
}

// The map in the help text is one.
func TestMapInHelp(t *testing.T) {
	_, text, _ := strings.Cut(importCommand(&tables[0]).Long, "\n\n")
	m, err := importer.ParseMap("help", []byte(text+"\n[[channel]]\nname=\"omega\"\ncolumn=\"w\"\nrole=\"state\"\n"))
	if err != nil || m.Vehicle != "pendulum" || m.Channels[0].Period == 0 {
		t.Errorf("%+v, %v", m, err)
	}
}
