package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
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
func bench(out io.Writer, args ...string) (code int, errs string) {
	var messages bytes.Buffer
	root := command()
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(&messages)
	code = cli.Run(context.Background(), root)
	return code, messages.String()
}

func TestLatencyDocument(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if code, errs := bench(&out, "latency", "--json", "--rate", "50,100", "--points", "3", "--duration", "100ms", "--load", "both"); code != cli.Done {
		t.Fatalf("code %d: %s", code, errs)
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
		if strings.Join(keys, " ") != "adapt echo_p50_us echo_p999_us echo_p99_us echo_ratio late loaded missing p50_us p999_us p99_us points rate_hz resident_growth_mb resident_mb shortened states" {
			t.Errorf("row %d: fields %v", i, keys)
		}
		p50, p99, p999 := row["p50_us"].(float64), row["p99_us"].(float64), row["p999_us"].(float64)
		if row["rate_hz"] != []float64{50, 100}[i%2] || row["points"] != 3.0 || row["loaded"] != (i >= 2) || row["states"] != []float64{5, 10}[i%2] || !(row["echo_p50_us"].(float64) > 0) || !(p50 > 0 && p50 <= p99 && p99 <= p999) {
			t.Errorf("row %d: %v", i, row)
		}
	}
}

func TestLatencySummary(t *testing.T) {
	ns := make([]int64, 1000)
	for i := range ns {
		ns[i] = int64(i+1) * 1000 // 1 … 1000 µs
	}
	ns[3] = 0
	ns[4] = 1_500_000
	r := study.NewRow(study.Key{Set: "x"})
	summarise(r, 1000, ns)
	for name, want := range map[string]float64{"missing": 1, "late": 1, "p50_us": 502, "p99_us": 992, "p999_us": 1500} {
		if got := r.Number(name); got != want {
			t.Errorf("%s is %v, expected %v", name, got, want)
		}
	}
	none := study.NewRow(study.Key{Set: "x"})
	if summarise(none, 1000, make([]int64, 2)); none.Number("missing") != 2 || none.Number("p50_us") != 0 {
		t.Errorf("%v missing, p50 %v", none.Number("missing"), none.Number("p50_us"))
	}
}

// A change is recovered from when the mean of its flights is.
func TestRecoveredOfFlights(t *testing.T) {
	flight := func(crps ...float64) *study.Row {
		return study.NewRow(study.Key{Set: "x"}).Put("since_s", []float64{0, 1, 5, 10}).Put("since_crps", crps)
	}
	if got := recovered(study.Group{flight(1, 0.5, 0.3, 0.25), flight(1, 0.26, 0.25, 0.25)}); got != "5" {
		t.Errorf("from %s s, expected 5", got)
	}
	if got := recovered(study.Group{study.NewRow(study.Key{Set: "x"})}); got != "" {
		t.Errorf("of no flight from %q", got)
	}
}

// Every row is of its own setting.
func TestLatencyOfSettings(t *testing.T) {
	jobs, err := latencyJob{points: 100, duration: time.Second}.jobs([]float64{200, 500}, "both", []string{"off", "on"})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[latencyJob]bool{}
	for _, j := range jobs {
		seen[j] = true
	}
	if len(jobs) != 8 || len(seen) != 8 || !seen[latencyJob{rate: 200, points: 100, duration: time.Second, adapt: "off"}] {
		t.Errorf("%v", jobs)
	}
}

func TestWrongUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"speed"}, {"latency", "--points", "0"}, {"latency", "--rate", "0"}, {"latency", "--rate", "fast"}, {"latency", "--duration", "1ms"},
		{"latency", "--load", "some"}, {"latency", "--adapt", "maybe"}, {"latency", "--priority", "99"}, {"adapt", "--seeds", "0"}, {"chaos", "--only", "rain"}, {"chaos", "--day", "1s"}, {"chaos", "--soak", "1s"},
	} {
		if code, errs := bench(io.Discard, args...); code != cli.Wrong || errs == "" {
			t.Errorf("%v: code %d, %q", args, code, errs)
		}
	}
	if code, errs := bench(io.Discard, "latency", "--model", "missing.dgm"); code != cli.Failed || !strings.Contains(errs, "missing.dgm") {
		t.Errorf("missing model: code %d, %q", code, errs)
	}
}

// A few scenarios in earnest, each with a document of its own, the whole table by name.
func TestChaosDocument(t *testing.T) {
	if testing.Short() {
		t.Skip("scenarios of chaos: left out of short runs, they take seconds")
	}
	if len(scenarios) < 12 {
		t.Errorf("only %d scenarios", len(scenarios))
	}
	var out bytes.Buffer
	if code, _ := bench(&out, "chaos", "--list"); code != cli.Done || strings.Count(out.String(), "\n") != len(scenarios) {
		t.Errorf("listed %q", out.String())
	}
	for _, names := range [][]string{{"disk full", "corrupt model offered"}, {"sender starts again"}, {"soak"}} {
		t.Run(names[0], func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			code, errs := bench(&out, "chaos", "--json", "--soak", "8s", "--only", strings.Join(names, ","))
			if code != cli.Done {
				t.Fatalf("code %d: %s; %s", code, errs, out.String())
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
		})
	}
}

// The planner of the scenarios counts every wrong prediction.
func TestThePlannerCountsWrongPredictions(t *testing.T) {
	c := newClock(0)
	now := c.unix()
	good := wire.Prediction{
		Vehicle: vehicle, Seq: 1, T: now, ValidUntil: now + 1e9, Channels: []string{"a"}, Units: []string{""}, Horizon: []float64{1},
		Mean: []float64{1}, Std: []float64{1}, ObsStd: []float64{1},
	}
	p := &planner{clock: c, answers: map[uint64]time.Time{}, late: map[uint64]bool{}, models: map[string]int{}, unread: map[string]uint64{}}
	p.watch(&sender{was: map[uint64]sending{1: {t: now}}})
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
		n, _ := p.count()
		if want := [][3]int{{0, 0, 0}, {0, 1, 0}, {0, 2, 0}, {1, 2, 0}, {2, 2, 0}, {2, 2, 1}}[i]; [3]int{n.stale, n.nonfinite, n.dropped} != want || len(p.answers) != 1 {
			t.Errorf("after message %d: %+v, %d answers", i, n, len(p.answers))
		}
	}
	at := time.Now()
	tr := &rig{planner: p, robot: &sender{was: map[uint64]sending{1: {at: at}, 2: {at: at}, 3: {at: at.Add(time.Second)}, 4: {at: at.Add(time.Second), reordered: true}}}}
	tr.account(at) // none was sent before
	if tr.lost != 0 || len(tr.robot.was) != 4 {
		t.Errorf("%d lost, %d states left", tr.lost, len(tr.robot.was))
	}
	tr.faults = []fault{{at.Add(-time.Millisecond), at}}
	tr.account(at.Add(time.Minute))
	if tr.lost != 1 || tr.reordered != 1 || len(tr.robot.was)+len(p.answers) != 0 {
		t.Errorf("%d lost and %d reordered outside the fault, %d states left", tr.lost, tr.reordered, len(tr.robot.was))
	}
}

// A scenario ends where something fails, and what it started ends with it.
func TestRigEndsAfterAFailure(t *testing.T) {
	s, err := newRig(context.Background(), lasts{})
	if err != nil {
		t.Fatal(err)
	}
	var ended []int
	err = s.guard(func() {
		for i := range 3 {
			s.later(func() error { ended = append(ended, i); return nil })
		}
		s.require(true, "not this")
		s.require(false, "this, %d", 7)
		t.Error("the scenario goes on")
	})
	if err == nil || err.Error() != "this, 7" {
		t.Errorf("error %v", err)
	}
	if err := s.close(); err != nil || !slices.Equal(ended, []int{2, 1, 0}) {
		t.Errorf("ended %v, %v", ended, err)
	}
}

// What a robot is changed to, it can be.
func TestAdaptSystems(t *testing.T) {
	for _, s := range adaptSystems() {
		for _, c := range s.changes[1:] {
			before, after := s.robot(), s.robot()
			c.make(&after)
			a, b := robot.New(before), robot.New(after)
			a.Start(0, 0)
			b.Start(0, 0)
			if !a.Step() || !b.Step() || slices.Equal(a.Truth(), b.Truth()) {
				t.Errorf("%s, %s: nothing changes", s.plant.Name, c.name)
			}
		}
		if f := s.fly(s.robot(), 1, 2); len(f) != 1 || f[0].N() != int(2*s.rate) || f[0].K != len(s.plant.States) {
			t.Errorf("%s: %d flights", s.plant.Name, len(f))
		}
	}
}

// Each condition of a change that is followed counts by itself.
func TestAdaptChecksEachCondition(t *testing.T) {
	c := change{rmse: 0.5, width: 1.1}
	for name, v := range map[string]struct {
		ok    bool
		field string
		value float64
	}{
		"good": {true, "rmse", 0.5}, "error": {false, "rmse", 0.51}, "width": {false, "width", 1.2},
		"too narrow": {false, "coverage", 0.92}, "too wide": {false, "coverage", 0.985}, "not reverted": {false, "reverted_rmse", 1.1},
	} {
		r := study.NewRow(study.Key{Set: "x"}).Put("rmse", 0.4).Put("width", 1.0).Put("coverage", 0.95).Put("factor_coverage", 0.95).Put("reverted_rmse", 1.01)
		if r.Put(v.field, v.value); c.follows(r) != v.ok {
			t.Errorf("%s: ok is %v", name, c.follows(r))
		}
	}
}

// The pages hold what the stored results make of their tables.
func TestPagesAreTheResults(t *testing.T) {
	store, err := study.Open("results")
	if err != nil {
		t.Fatal(err)
	}
	all, err := study.TablesOf(store, studies())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range study.Pages {
		path = filepath.Join("..", "..", path)
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := study.Rewrite(page, all)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if !bytes.Equal(page, want) {
			t.Errorf("%s differs from the results: run go run ./cmd/dgm-bench tables", path)
		}
	}
	if lines := study.LeftOut(store, studies()); len(lines) > 0 {
		t.Errorf("results that no study shows: %s", strings.Join(lines, "; "))
	}
}
