package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/trainer"
	"github.com/dgm-robotics/dgm/trainer/datacheck"
)

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

// What passes the check can be trained on; what it refuses, training refuses for the
// same reason. Findings have log, kind, severity and place.
func TestCheckRefusesWhatTrainingRefuses(t *testing.T) {
	type finding struct {
		Log      string
		Kind     datacheck.Kind
		Severity datacheck.Severity
		From, To float64
	}
	dir := t.TempDir()
	good, short, shorter := filepath.Join(dir, "good.msgpack"), filepath.Join(dir, "short.msgpack"), filepath.Join(dir, "shorter.msgpack")
	writeLog(t, good, 20)
	writeLog(t, short, 6)
	writeLog(t, shorter, 0.5)
	for _, c := range []struct {
		name string
		args []string
		want []finding
	}{
		{"good", []string{"--log", good}, nil},
		{"a horizon that is longer", []string{"--log", good, "--horizon", "90s"}, []finding{{good, datacheck.Short, datacheck.Stop, 0, 19.98}}},
		{"few horizons", []string{"--log", short}, []finding{{"", datacheck.Short, datacheck.Stop, 0, 0}}},
		{"a log without a window", []string{"--log", shorter, "--log", good}, []finding{{shorter, datacheck.Short, datacheck.Stop, 0, 0.48}}},
	} {
		code, out, errs := call(append(c.args, "--check", "--json")...)
		var doc struct{ Problems []trainer.Problem }
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatalf("%s: %v: %s", c.name, err, out)
		}
		var got []finding
		for _, p := range doc.Problems {
			if p.Severity == datacheck.Stop {
				got = append(got, finding{p.Log, p.Kind, p.Severity, p.From, p.To})
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %+v", c.name, got)
		}
		textCode, text, _ := call(append(c.args, "--check")...)
		for _, p := range doc.Problems {
			if !strings.Contains(text, p.Text) {
				t.Errorf("%s: the text lacks %q:\n%s", c.name, p.Text, text)
			}
		}
		if c.want == nil {
			if code != cli.Done || textCode != cli.Done || errs != "" {
				t.Errorf("%s: exit %d and %d, %s", c.name, code, textCode, errs)
			}
			continue
		}
		_, reason, ok := strings.Cut(errs, "cannot be trained on: ")
		if code != cli.Failed || textCode != cli.Failed || !ok || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d and %d, %s", c.name, code, textCode, errs)
		}
		if code, _, errs := call(append(c.args, "--out", filepath.Join(dir, "x.dgm"))...); code != cli.Failed || !strings.HasSuffix(errs, reason) {
			t.Errorf("%s: training ends with %d, %s", c.name, code, errs)
		}
	}
}
