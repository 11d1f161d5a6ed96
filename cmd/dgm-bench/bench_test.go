package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
)

// TestMain is also what this program is as a child of itself.
func TestMain(m *testing.M) {
	if os.Getenv(asChild) != "" {
		main()
		return
	}
	// A connection that closes while JetStream begins to watch it leaves the library waiting
	// for a channel that is never made: nothing here could end that.
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats%2ego.(*js).resetPendingAcksOnReconnect"))
}

// bench runs the command with arguments.
func bench(out io.Writer, args ...string) (code int, said string) {
	var messages bytes.Buffer
	root := command()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(&messages)
	code = cli.Run(context.Background(), root)
	return code, messages.String()
}

func TestLatencyDocument(t *testing.T) {
	var out bytes.Buffer
	if code, said := bench(&out, "latency", "--json", "--rate", "20,40", "--points", "3", "--duration", "250ms", "--load", "both"); code != cli.Done {
		t.Fatalf("code %d: %s", code, said)
	}
	var doc map[string][]map[string]any
	d := json.NewDecoder(&out)
	if err := d.Decode(&doc); err != nil || d.More() || len(doc) != 1 || len(doc["latency"]) != 4 {
		t.Fatalf("%v: %v", err, doc)
	}
	for i, row := range doc["latency"] {
		var keys []string
		for k := range row {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		if strings.Join(keys, " ") != "late loaded missing p50_us p999_us p99_us points rate_hz resident_growth_mb resident_mb shortened" {
			t.Errorf("row %d: fields %v", i, keys)
		}
		p50, p99, p999 := row["p50_us"].(float64), row["p99_us"].(float64), row["p999_us"].(float64)
		if row["rate_hz"] != []float64{20, 40}[i%2] || row["points"] != 3.0 || row["loaded"] != (i >= 2) || !(p50 > 0 && p50 <= p99 && p99 <= p999) {
			t.Errorf("row %d: %v", i, row)
		}
	}
}

func TestLatencyTable(t *testing.T) {
	var out bytes.Buffer
	if err := printLatency(&out, []latencyRow{{Rate: 100, Points: 20, P50: 310.4, Missing: 3}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "p99.9/µs") || !strings.Contains(out.String(), "310") {
		t.Error(out.String())
	}
}

func TestLatencySummary(t *testing.T) {
	r := latencyRow{Rate: 1000}
	var ns []int64
	for i := range 1000 {
		ns = append(ns, int64(i+1)*1000) // 1 … 1000 µs
	}
	ns[3], ns[4] = 0, 1_500_000
	r.fill(ns)
	if r.Missing != 1 || r.Late != 1 || r.P50 != 502 || r.P99 != 992 || r.P999 != 1500 {
		t.Errorf("%+v", r)
	}
	var none latencyRow
	none.fill([]int64{0, 0})
	if none.Missing != 2 || none.P50 != 0 {
		t.Errorf("%+v", none)
	}
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"speed"}, {"latency", "--points", "0"}, {"latency", "--rate", "0"}, {"latency", "--rate", "fast"}, {"latency", "--duration", "1ms"},
		{"latency", "--load", "some"}, {"latency", "--priority", "99"}, {"chaos", "--only", "rain"}, {"chaos", "--day", "1s"},
	} {
		if code, said := bench(io.Discard, args...); code != cli.Wrong || said == "" {
			t.Errorf("%v: code %d, %q", args, code, said)
		}
	}
	if code, said := bench(io.Discard, "latency", "--model", "missing.dgm"); code != cli.Failed || !strings.Contains(said, "missing.dgm") {
		t.Errorf("missing model: code %d, %q", code, said)
	}
}

// A few scenarios in earnest, the whole table by name.
func TestChaosDocument(t *testing.T) {
	if testing.Short() {
		t.Skip("scenarios of chaos: left out of short runs, they take seconds")
	}
	if len(scenarios) < 12 {
		t.Errorf("only %d scenarios", len(scenarios))
	}
	names := []string{"disk full", "corrupt model offered", "sender starts again"}
	var out bytes.Buffer
	code, said := bench(&out, "chaos", "--json", "--only", strings.Join(names, ","))
	if code != cli.Done {
		t.Fatalf("code %d: %s; %s", code, said, out.String())
	}
	var doc map[string][]map[string]any
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || len(doc["chaos"]) != len(names) {
		t.Fatalf("%v: %s", err, out.String())
	}
	for i, row := range doc["chaos"] {
		for _, key := range []string{"lost", "stale", "nonfinite"} {
			if row[key] != 0.0 {
				t.Errorf("%s: %v", names[i], row)
			}
		}
		if row["scenario"] != names[i] || row["ok"] != true || row["answered"].(float64) < 10 {
			t.Errorf("%s: %v", names[i], row)
		}
	}
	out.Reset()
	if code, _ := bench(&out, "chaos", "--list"); code != cli.Done || strings.Count(out.String(), "\n") != len(scenarios) {
		t.Errorf("listed %q", out.String())
	}
}

// The planner of the scenarios sees what it is there to see.
func TestThePlannerSeesLies(t *testing.T) {
	c := newClock(0)
	now := c.unix()
	good := wire.Prediction{
		Vehicle: vehicle, Seq: 1, T: now, ValidUntil: now + 1e9, Channels: []string{"a"}, Units: []string{""}, Horizon: []float64{1},
		Mean: []float64{1}, Std: []float64{1}, ObsStd: []float64{1},
	}
	p := &planner{clock: c, answers: map[uint64]bool{}, models: map[string]int{}, replaced: map[string]uint64{}}
	p.watch(&sender{t: map[uint64]int64{1: now}})
	for i, change := range []func(q *wire.Prediction){
		func(*wire.Prediction) {},
		func(q *wire.Prediction) { q.Mean = []float64{math.NaN()} },
		func(q *wire.Prediction) { q.Std = []float64{-1} },
		func(q *wire.Prediction) { q.ValidUntil = now + 5e9 },
		func(q *wire.Prediction) { q.T, q.ValidUntil = now+3e8, now+13e8 }, // of a state that was measured at now
		func(q *wire.Prediction) { q.ValidUntil = now - 1 },
	} {
		q := good
		change(&q)
		p.prediction(q.Append(nil))
		stale, nonfinite, dropped := p.lies()
		if want := [][3]int{{0, 0, 0}, {0, 1, 0}, {0, 2, 0}, {1, 2, 0}, {2, 2, 0}, {2, 2, 1}}[i]; [3]int{stale, nonfinite, dropped} != want || len(p.answers) != 1 {
			t.Errorf("after message %d: %d stale, %d not finite, %d dropped, %d answers", i, stale, nonfinite, dropped, len(p.answers))
		}
	}
	at := time.Now()
	tr := &trial{planner: p, robot: &sender{at: map[uint64]time.Time{1: at, 2: at, 3: at.Add(time.Second)}}}
	if lost, answered := tr.lost(); lost != 2 || answered != 1 {
		t.Errorf("%d lost, %d answered", lost, answered)
	}
	tr.faults = []fault{{at.Add(-time.Millisecond), at}}
	if lost, _ := tr.lost(); lost != 1 {
		t.Errorf("%d lost outside the fault", lost)
	}
	p.replaced["x"] = 1
	if lost, _ := tr.lost(); lost != 0 {
		t.Errorf("%d lost without a reason", lost)
	}
}

// What a planner counts: shares over series of different weight, the worst by
// distance from 95 %.
func TestCoverageShares(t *testing.T) {
	c := newCoverage()
	c.n[0], c.raw[0], c.again[0] = 100, 40, 97
	c.n[1], c.raw[1], c.again[1] = 300, 150, 276
	raw, again, worst := c.shares()
	if math.Abs(raw-190./400) > 1e-12 || math.Abs(again-373./400) > 1e-12 || math.Abs(worst-0.92) > 1e-12 {
		t.Errorf("%v, %v, %v", raw, again, worst)
	}
	var out bytes.Buffer
	if err := printAdapt(&out, &adaptRow{Change: "rain", RawAfter: 0.5, Flag: 3}, true); err != nil || !strings.Contains(out.String(), "rain") {
		t.Errorf("%s, %v", out.String(), err)
	}
}

// What is predicted is measured: every point of a horizon falls on a state. And what
// a robot is changed to, it can be.
func TestAdaptSystems(t *testing.T) {
	for _, s := range adaptSystems() {
		if steps := s.horizon.Seconds() * s.rate / float64(s.points); steps != math.Round(steps) || s.rows < 1 {
			t.Errorf("%s: a point every %v states", s.plant.Name, steps)
		}
		for _, c := range s.changes {
			before, after := s.robot(), s.robot()
			c.make(&after)
			a, b := robot.New(before), robot.New(after)
			a.Start(0, 0)
			b.Start(0, 0)
			if !a.Step() || !b.Step() || slices.Equal(a.Truth(), b.Truth()) {
				t.Errorf("%s, %s: nothing changes", s.plant.Name, c.name)
			}
		}
	}
}

// Each condition of a change that is taken well counts by itself.
func TestAdaptJudges(t *testing.T) {
	good := adaptRow{RawBefore: 0.94, RawAfter: 0.5, RecalibratedAfter: 0.96, Flag: 8, Settled: 40}
	for name, c := range map[string]struct {
		ok     bool
		change func(r *adaptRow)
	}{
		"good":          {true, func(*adaptRow) {}},
		"nothing fell":  {false, func(r *adaptRow) { r.RawAfter = 0.94 }},
		"no flag":       {false, func(r *adaptRow) { r.Flag = -1 }},
		"flag too late": {false, func(r *adaptRow) { r.Flag = 41 }},
		"false flag":    {false, func(r *adaptRow) { r.FalseFlag = true }},
		"too narrow":    {false, func(r *adaptRow) { r.RecalibratedAfter = 0.925 }},
		"too wide":      {false, func(r *adaptRow) { r.RecalibratedAfter = 0.975 }},
	} {
		r := good
		c.change(&r)
		if r.judge(); r.OK != c.ok {
			t.Errorf("%s: ok is %v", name, r.OK)
		}
	}
}
