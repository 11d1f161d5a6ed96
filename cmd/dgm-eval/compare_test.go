package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
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
	WithoutPlan *evaluate.Table `json:"without_plan"`
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

// The verdicts beside each other are of the horizons that all models have, and the document
// and the text state which.
func TestCompareNamesTheCommonHorizon(t *testing.T) {
	dir := folder(t)
	writeModelOf(t, filepath.Join(dir, "short.dgm"), shaft, 0.2)
	doc, out := compared(t, dir, "--model", "a.dgm", "--model", "short.dgm", "--log", "b.msgpack")
	if doc.Horizon != 0.2 || len(doc.Evaluations) != 2 || len(doc.LeftOut) != 0 {
		t.Errorf("%+v", doc)
	}
	for _, e := range doc.Evaluations {
		if last := e.Horizons[len(e.Horizons)-1].T; last != 0.2 {
			t.Errorf("%s is scored up to %g s", e.Model, last)
		}
	}
	if !strings.Contains(out, "verdict up to 0.2 s") || !strings.Contains(out, "Longer horizons of a.dgm are left out") || strings.Contains(out, "Longer horizons of short.dgm") {
		t.Error(out)
	}
}

// Horizons that are shorter than a sample of a log are named once, alone and beside another log.
func TestHorizonsShorterThanASampleAreNamed(t *testing.T) {
	dir := folder(t)
	writeSlowLog(t, filepath.Join(dir, "slow.msgpack"), shaft, 12000, 33)
	const left = "Not scored: 0.05 s and 0.1 s are shorter than the 0.165 s between samples."
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"--log", "slow.msgpack"}, left, 0},
		{[]string{"--compare", "--log", "slow.msgpack", "--log", "b.msgpack"}, "a.dgm on slow.msgpack: " + left, 0},
		{[]string{"--log", "slow.msgpack", "--horizons", "50ms,0.1s"}, "choose horizons of 0.165 s or more (--horizons)", 1},
	} {
		code, out, errs := eval(t, dir, append([]string{"--model", "a.dgm"}, c.args...)...)
		if code != c.code || strings.Count(out+errs, c.want) != 1 {
			t.Errorf("%v: exit %d, %s%s", c.args, code, out, errs)
		}
	}
}

// Models of other channels are compared at the states that all have; one that has none of a
// log's is left out by name.
func TestCompareModelsOfOtherChannels(t *testing.T) {
	dir := folder(t)
	current := channel.Channel{Name: "current", Unit: "A", Role: channel.State}
	writeModelOf(t, filepath.Join(dir, "wide.dgm"), []channel.Channel{shaft[1], current, shaft[0]}, 0.5)
	writeModelOf(t, filepath.Join(dir, "other.dgm"), []channel.Channel{{Name: "phi", Unit: "rad", Role: channel.State}}, 0.1)
	log := slices.Concat(shaft, []channel.Channel{current})
	f, err := flightlog.CreateFile(filepath.Join(dir, "wide.msgpack"), flightlog.Header{Vehicle: "shaft", Channels: log})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	err = f.BeginSegment("one", nil)
	for i := range 2000 {
		if err == nil {
			err = f.Sample(int64(i)*5_000_000, []float64{math.Remainder(0.02*float64(i), channel.Angle), 4, math.Sin(0.01 * float64(i))}, nil, nil)
		}
	}
	if err == nil {
		err = f.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	doc, out := compared(t, dir, "--model", "a.dgm", "--model", "wide.dgm", "--model", "other.dgm", "--log", "wide.msgpack")
	if !slices.Equal(doc.Channels, []string{"angle", "rate"}) || !slices.Equal(doc.Unscored, []string{"current"}) || doc.Horizon != 0.5 {
		t.Errorf("%v, %v, %g", doc.Channels, doc.Unscored, doc.Horizon)
	}
	if len(doc.LeftOut) != 1 || !strings.Contains(doc.LeftOut[0].Model, "other.dgm") || !strings.Contains(doc.LeftOut[0].Reason, "phi") {
		t.Errorf("%+v", doc.LeftOut)
	}
	if len(doc.Evaluations) != 2 {
		t.Fatalf("%d evaluations", len(doc.Evaluations))
	}
	for _, e := range doc.Evaluations {
		for _, h := range e.Horizons {
			if len(h.Channels) != 2 || math.Abs(h.Coverage95-(h.Channels[0].Coverage95+h.Channels[1].Coverage95)/2) > 1e-12 {
				t.Errorf("%s: %+v", e.Model, h)
			}
		}
	}
	if a, b := doc.Evaluations[0].Geo, doc.Evaluations[1].Geo; math.Abs(a.Model-b.Model) > 1e-9 {
		t.Errorf("two equal models: %+v, %+v", a, b)
	}
	if !strings.Contains(out, "Left out: other.dgm on wide.msgpack") || !strings.Contains(out, "Left out: current") {
		t.Error(out)
	}
	// The log alone lacks a channel of one model, and no log has those of the other.
	if doc, _ := compared(t, dir, "--model", "a.dgm", "--model", "wide.dgm", "--log", "b.msgpack"); len(doc.Evaluations) != 1 || len(doc.LeftOut) != 1 || len(doc.Unscored) != 0 {
		t.Errorf("%+v", doc)
	}
	// Files of one name are distinguished.
	if err := os.Mkdir(filepath.Join(dir, "new"), 0o777); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "a.dgm"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "new/a.dgm"), data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, out := compared(t, dir, "--model", "a.dgm", "--model", "new/a.dgm", "--log", "b.msgpack"); !strings.Contains(out, "new/a.dgm on b.msgpack: ") {
		t.Error(out)
	}
	if code, _, errs := eval(t, dir, "--compare", "--model", "other.dgm", "--log", "b.msgpack"); code != 1 || !strings.Contains(errs, "other.dgm") {
		t.Errorf("exit %d, %q", code, errs)
	}
}

// compared returns the document and the text of a comparison.
func compared(t *testing.T, dir string, args ...string) (doc struct {
	Horizon            float64
	Channels, Unscored []string
	LeftOut            []leftOut `json:"left_out"`
	Evaluations        []scores
}, text string) {
	t.Helper()
	args = append([]string{"--compare"}, args...)
	code, out, errs := eval(t, dir, append(slices.Clone(args), "--json")...)
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 {
		t.Fatalf("exit %d, %v, %s", code, err, errs)
	}
	code, text, errs = eval(t, dir, args...)
	if code != 0 {
		t.Fatalf("exit %d, %s", code, errs)
	}
	return doc, text
}
