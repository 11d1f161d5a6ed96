package wire_test

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

var (
	goldenQuery = wire.Query{
		Want: wire.WantSamples, States: []float64{0.5, -2}, U: []float64{1}, Plans: []float64{1, 2, 3, 4, 5, 6}, Rows: 3,
		Times: []float64{0.5, 1}, Samples: 2, Seed: 3, Timeout: 2e9, Dtype: "f4",
	}
	goldenHistory = func() wire.Query {
		q := goldenQuery
		q.History, q.HistoryT = wire.HistoryOfStream, []float64{-0.02, -0.01, 0}
		q.HistoryX, q.HistoryU = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, []float64{7, 8, 9}
		return q
	}()
	goldenTimed = func() wire.Query {
		q := goldenQuery
		q.P0, q.PlanDt, q.Parts, q.RequestDtype = []float64{0.25, 0, 0, 0.5}, 0.125, true, "f4"
		return q
	}()
	goldenPart = func() wire.Answer {
		a := goldenAnswer
		a.Flags, a.Part, a.Parts, a.First = wire.PlanHeld|wire.CarriedCovariance, 2, 3, 4
		return a
	}()
	goldenInfo = wire.ModelInfo{
		Vehicle: "pend1", Model: "a1b2c3d4e5f60718", Instance: "x7", Channels: []string{"theta", "omega"}, Units: []string{"rad", "rad/s"},
		InputChannels: []string{"torque"}, InputUnits: []string{"N·m"}, Layout: "adfbb9c2a7d4c235", ModelHorizon: 1, Points: 50,
		Horizon: []float64{0.5, 1}, History: 0.4, MaxPayload: 1 << 20,
	}
	goldenAnswer = wire.Answer{
		Vehicle: "pend1", Model: "a1b2c3d4e5f60718", Channels: []string{"theta", "omega"}, Inputs: "plan", Dtype: "f8",
		Horizon: []float64{0.5}, Mean: []float64{1, 2}, Std: []float64{0.1, 0.2}, ObsStd: []float64{0.3, 0.4}, OOD: []float64{0.5},
		F: []float64{7, 8}, SD: []float64{9, 10}, Samples: []float64{11, 12}, NoHistory: 1,
	}
	goldenCommand = wire.Command{Action: wire.Rollback}
	goldenOutcome = wire.Outcome{Model: "a1b2c3d4e5f60718", Error: "there is none"}
)

func TestGoldenQueries(t *testing.T) {
	for file, want := range map[string][]byte{
		"query-v1.msgpack":         goldenQuery.Append(nil),
		"query-v1-history.msgpack": goldenHistory.Append(nil),
		"query-v1-timed.msgpack":   goldenTimed.Append(nil),
		"answer-v1.msgpack":        goldenAnswer.Append(nil),
		"answer-v1-part.msgpack":   goldenPart.Append(nil),
		"model-v1.msgpack":         goldenInfo.Append(nil),
		"command-v1.msgpack":       goldenCommand.Append(nil),
		"outcome-v1.msgpack":       goldenOutcome.Append(nil),
	} {
		path := filepath.Join("testdata", file)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: this program writes other bytes for the same message", path)
		}
	}
	var q, withHistory, timed wire.Query
	var a, part wire.Answer
	var info wire.ModelInfo
	var c wire.Command
	var o wire.Outcome
	for _, err := range []error{
		withHistory.Decode(goldenHistory.Append(nil)), timed.Decode(goldenTimed.Append(nil)), part.Decode(goldenPart.Append(nil)), info.Decode(goldenInfo.Append(nil)), q.Decode(goldenHistory.Append(nil)), q.Decode(goldenQuery.Append(nil)), a.Decode(goldenAnswer.Append(nil)), c.Decode(goldenCommand.Append(nil)), o.Decode(goldenOutcome.Append(nil)),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	if d := cmp.Diff(goldenQuery, q, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(goldenHistory, withHistory); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(goldenTimed, timed, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(goldenPart, part); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(goldenInfo, info); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(goldenAnswer, a); d != "" {
		t.Error(d)
	}
	if !cmp.Equal(c, goldenCommand, cmpopts.EquateEmpty()) || o != goldenOutcome {
		t.Errorf("%+v, %+v", c, o)
	}
	short := goldenAnswer
	short.Dtype = "f4"
	if err := a.Decode(short.Append(nil)); err != nil || a.Mean[1] != 2 || a.Std[0] != float64(float32(0.1)) {
		t.Errorf("in 32 bits: %+v, %v", a, err)
	}
}

// The page names what can be asked and answered, and the smallest question is
// understood, from a sender that writes plain arrays.
func TestQueryFields(t *testing.T) {
	text := page(t)
	for _, b := range [][]byte{goldenHistory.Append(nil), goldenTimed.Append(nil), goldenPart.Append(nil), goldenInfo.Append(nil), goldenCommand.Append(nil), goldenOutcome.Append(nil)} {
		var m map[string]any
		if err := msgpack.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		for field := range m {
			if !strings.Contains(text, "`"+field+"`") {
				t.Errorf("field %s is not on the page", field)
			}
		}
	}
	var q wire.Query
	if err := q.Decode(message(t, map[string]any{"v": 1, "states": []any{1, 2.5}})); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(wire.Query{States: []float64{1, 2.5}}, q, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	for name, m := range map[string]map[string]any{
		"another key":   {"v": 1, "states": []any{1}, "plan": []any{1}},
		"version":       {"v": 2, "states": []any{1}},
		"negative rows": {"v": 1, "states": []any{1}, "rows": -1},
		"many rows":     {"v": 1, "states": []any{1}, "rows": 1 << 30},
		"a text":        {"v": 1, "states": "none"},
	} {
		var e *wire.Error
		if err := q.Decode(message(t, m)); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var e *wire.Error
	if err := q.Decode(message(t, map[string]any{"v": 1, "states": []any{1}, "plan": []any{1}})); !errors.As(err, &e) || e.Field != "plan" || !strings.Contains(e.Text, "plans") {
		t.Errorf("an unknown key: %v", err)
	}
}

// A value of 0 is refused by the name of its key where an absent one has another meaning.
func TestQueryOfZero(t *testing.T) {
	plans := map[string]any{"plans": []any{1, 2}, "rows": 2}
	for _, c := range []struct {
		m    map[string]any
		with map[string]any
		key  string // refused; empty: read
	}{
		{map[string]any{"plan_dt": 0}, plans, "plan_dt"},
		{map[string]any{"plan_dt": 0.0}, nil, "plan_dt"},
		{map[string]any{"plan_dt": nil}, nil, ""},
		{map[string]any{"plan_dt": 0.25}, plans, ""},
		{map[string]any{"want": "samples", "samples": 0}, nil, "samples"},
		{map[string]any{"want": []any{"mean", "violation"}, "samples": 0}, nil, "samples"},
		{map[string]any{"want": "samples", "samples": nil}, nil, ""},
		{map[string]any{"want": "samples"}, nil, ""},
		{map[string]any{"samples": 0}, nil, ""}, // as releases before wrote every query
		{map[string]any{"want": []any{}}, nil, "want"},
	} {
		m := map[string]any{"v": 1, "states": []any{1}}
		maps.Copy(m, c.m)
		maps.Copy(m, c.with)
		q := wire.Query{PlanDt: 3, Samples: 3}
		err := q.Decode(message(t, m))
		var e *wire.Error
		if c.key == "" {
			if err != nil || q.PlanDt == 3 || q.Samples == 3 {
				t.Errorf("%v: %+v, %v", m, q, err)
			}
		} else if !errors.As(err, &e) || e.Field != c.key {
			t.Errorf("%v: %v, want a refusal of %s", m, err, c.key)
		}
	}
}

// An answer says of what width its floats are, whatever its Dtype is.
func TestAnAnswerHasADtype(t *testing.T) {
	for dtype, want := range map[string]string{"": "f8", "f8": "f8", "f4": "f4", "f2": "f8"} {
		a := goldenAnswer
		a.Dtype = dtype
		var m struct {
			Dtype string `msgpack:"dtype"`
		}
		var again wire.Answer
		if err := msgpack.Unmarshal(a.Append(nil), &m); err != nil || m.Dtype != want {
			t.Errorf("dtype %q is written as %q, %v; want %q", dtype, m.Dtype, err, want)
		}
		if err := again.Decode(a.Append(nil)); err != nil {
			t.Errorf("dtype %q: %v", dtype, err)
		}
	}
}

// The numbers of an answer fit into its floats, or it is not sent.
func TestAnAnswerFits(t *testing.T) {
	for _, c := range []struct {
		x     float64
		dtype string
		fits  bool
	}{{1e38, "f4", true}, {1e39, "f4", false}, {-1e39, "f4", false}, {1e39, "f8", true}, {math.Inf(1), "f8", false}, {math.NaN(), "f8", false}, {math.NaN(), "f4", false}} {
		a := wire.Answer{Dtype: c.dtype, Mean: []float64{0, 1}, Samples: []float64{1, c.x}}
		if a.Fits() != c.fits {
			t.Errorf("%v as %s fits: %v", c.x, c.dtype, a.Fits())
		}
	}
}
