package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
)

// document is what scripts read of import --json.
type document struct {
	Rows     int `json:"rows"`
	Segments int `json:"segments"`
	Channels []struct {
		Name     string  `json:"name"`
		Measured int     `json:"measured"`
		Rate     float64 `json:"rate_hz"`
	} `json:"channels"`
	Remarks []struct {
		Kind, Severity, Topic, Text, Remedy string
	} `json:"remarks"`
	Clocks []struct {
		Name   string  `json:"name"`
		Offset float64 `json:"offset_s"`
		Rate   float64 `json:"rate"`
		Jumps  int     `json:"jumps"`
	} `json:"clocks"`
}

// imported runs an import with --json and returns its exit code and document.
func imported(t *testing.T, args ...string) (code int, d document) {
	t.Helper()
	code, out, errs := run(append(append([]string{"import"}, args...), "--json")...)
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	return code, d
}

// An import that would leave most rows or all inputs out writes nothing and says why; a flag
// permits it. What is measured is in the document.
func TestLossFails(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var whole, coarse, idle strings.Builder
	for i := range 300 {
		fmt.Fprintf(&whole, "%v,%d,%d\n", 0.01*float64(i), i%17, i%5)
		fmt.Fprintf(&coarse, "%v,%d,%d\n", 0.05*float64(i/10), i%17, i%5) // of a slower topic
		fmt.Fprintf(&idle, "%v,%d,\n", 0.01*float64(i), i%17)
	}
	m := file("map.toml", "vehicle = \"v\"\n[time]\ncolumn = \"t\"\nunit = \"s\"\n[[channel]]\nname = \"x\"\ncolumn = \"x\"\nrole = \"state\"\n[[channel]]\nname = \"u\"\ncolumn = \"u\"\nrole = \"input\"\n")
	for _, c := range []struct {
		name, text, kind string
		rows             int
	}{{"whole", whole.String(), "", 300}, {"coarse", coarse.String(), "rows-lost", 30}, {"idle", idle.String(), "inputs-lost", 300}} {
		in, out := file(c.name+".csv", "t,x,u\n"+c.text), filepath.Join(dir, c.name+".msgpack")
		code, d := imported(t, "csv", "--map", m, in, "--out", out)
		_, err := os.Stat(out)
		lost := ""
		for _, r := range d.Remarks {
			if r.Severity == "loss" && lost == "" {
				lost = r.Kind
			}
		}
		if refused := c.kind != ""; (code == cli.Refused) != refused || (err != nil) != refused || lost != c.kind || d.Rows != c.rows || d.Segments != 1 {
			t.Errorf("%s: exit %d, %v, %+v", c.name, code, err, d)
		}
		if code, d := imported(t, "csv", "--map", m, in, "--out", out, "--allow-loss"); code != cli.Done || d.Rows != c.rows {
			t.Errorf("%s: --allow-loss: exit %d, %+v", c.name, code, d)
		}
		if c.kind == "" && (len(d.Channels) != 2 || d.Channels[0].Name != "x" || d.Channels[0].Measured != 300 || d.Channels[0].Rate < 99 || d.Channels[0].Rate > 101 || d.Clocks == nil) {
			t.Errorf("%+v", d)
		}
	}
	if _, _, errs := run("import", "csv", "--map", m, filepath.Join(dir, "coarse.csv"), "--out", filepath.Join(dir, "a")); !strings.Contains(errs, "refused, nothing is written: 270 of 300 rows are left out, because they have the time of the row before") || !strings.Contains(errs, "--allow-loss writes") {
		t.Error(errs)
	}
}

// A channel that the map asks for and that is not in a log fails the import; with --allow-loss
// it is left out, and that is reported as a loss.
func TestChannelThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	m := filepath.Join(dir, "map.toml")
	text := "vehicle = \"v\"\n[[channel]]\nname = \"z\"\ntopic = \"vehicle_local_position\"\nfield = \"z\"\nrole = \"state\"\n[[channel]]\nname = \"u\"\ntopic = \"nix\"\nfield = \"u\"\nrole = \"input\"\n"
	if err := os.WriteFile(m, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"ulog", "--map", m, filepath.Join(committed, "flight.ulg"), "--out", filepath.Join(dir, "out")}
	if code, _, errs := run(append([]string{"import"}, args...)...); code == cli.Done || !strings.Contains(errs, "channel u: topic nix is not in flight.ulg") {
		t.Errorf("exit %d, %s", code, errs)
	}
	code, d := imported(t, append(args, "--allow-loss")...)
	if code != cli.Done || len(d.Channels) != 1 || d.Rows == 0 {
		t.Errorf("exit %d, %+v", code, d)
	}
	for _, r := range d.Remarks {
		if r.Kind == "absent" && r.Severity == "loss" && strings.Contains(r.Text, "u left out") {
			return
		}
	}
	t.Errorf("no loss in %+v", d.Remarks)
}
