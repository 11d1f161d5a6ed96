package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/evaluate"
	"github.com/dgm-robotics/dgm/trainer/report"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// scores is the document of an evaluation.
type scores struct {
	report.Verdict
	evaluate.Table
}

func evaluated(t *testing.T, dir string, args ...string) (doc scores, messages string) {
	t.Helper()
	code, out, errs := eval(t, dir, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &doc); code != 0 || err != nil {
		t.Fatalf("%v: exit %d, %v: %s", args, code, err, errs)
	}
	return doc, errs
}

// All logs count, not the last one alone.
func TestSeveralLogsAreScoredTogether(t *testing.T) {
	dir := folder(t)
	writeLog(t, filepath.Join(dir, "c.msgpack"), shaft, 1000)
	one, _ := evaluated(t, dir, "--model", "a.dgm", "--log", "b.msgpack")
	other, _ := evaluated(t, dir, "--model", "a.dgm", "--log", "c.msgpack")
	both, _ := evaluated(t, dir, "--model", "a.dgm", "--log", "b.msgpack", "--log", "c.msgpack")
	if both.Windows != one.Windows+other.Windows || !strings.Contains(both.Log, "b.msgpack") || !strings.Contains(both.Log, "c.msgpack") {
		t.Errorf("%d windows of %s, expected %d and %d", both.Windows, both.Log, one.Windows, other.Windows)
	}
	if !slices.Contains([]report.Level{report.Use, report.Care, report.No}, both.Level) || both.Reason == "" || both.Next == "" {
		t.Errorf("verdict %+v", both.Verdict)
	}
}

// A log that the model was trained on is reported, whatever it is called.
func TestALogThatWasTrainedOnIsReported(t *testing.T) {
	dir := folder(t)
	m, err := model.ReadFile(filepath.Join(dir, "a.dgm"))
	if err != nil {
		t.Fatal(err)
	}
	log, err := flightlog.ReadFile(filepath.Join(dir, "b.msgpack"))
	if err != nil {
		t.Fatal(err)
	}
	m.Provenance.Segments = []string{"0123456789abcdef", window.Fingerprint(&log.Segments[0])}
	if err := model.WriteFile(filepath.Join(dir, "trained.dgm"), m); err != nil {
		t.Fatal(err)
	}
	doc, errs := evaluated(t, dir, "--model", "trained.dgm", "--log", "b.msgpack")
	if len(doc.Trained) != 1 || doc.Level == report.Use || !strings.Contains(errs, "was trained on 1 segment") {
		t.Errorf("%v, %s, %q", doc.Trained, doc.Level, errs)
	}
	writeLog(t, filepath.Join(dir, "c.msgpack"), shaft, 1000)
	if doc, errs := evaluated(t, dir, "--model", "trained.dgm", "--log", "c.msgpack"); len(doc.Trained) != 0 || errs != "" {
		t.Errorf("another log: %v, %q", doc.Trained, errs)
	}
}

func TestCompareModelsAndLogs(t *testing.T) {
	dir := folder(t)
	writeModel(t, filepath.Join(dir, "z.dgm"))
	writeLog(t, filepath.Join(dir, "c.msgpack"), shaft, 1000)
	args := []string{"--compare", "--model", "a.dgm", "--model", "z.dgm", "--log", "b.msgpack", "--log", "c.msgpack"}
	code, out, errs := eval(t, dir, slices.Clone(args)...)
	if lines := strings.Split(out, "\n"); code != 0 || errs != "" || len(lines) < 5 || !strings.Contains(lines[2], "z.dgm") || !strings.Contains(lines[3], "c.msgpack") {
		t.Errorf("exit %d, %q:\n%s", code, errs, out)
	}
	code, out, _ = eval(t, dir, append(args, "--json")...)
	var doc struct{ Evaluations []scores }
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || len(doc.Evaluations) != 4 || doc.Evaluations[3].Reason == "" || len(doc.Evaluations[3].Horizons) == 0 {
		t.Errorf("exit %d, %v: %.300s", code, err, out)
	}
	if code, _, errs := eval(t, dir, "--model", "a.dgm", "--model", "z.dgm", "--log", "b.msgpack"); code != 2 || !strings.Contains(errs, "--compare") {
		t.Errorf("two models: exit %d, %q", code, errs)
	}
}
