package wire_test

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

var update = flag.Bool("update", false, "write the golden files of the present version")

// The messages of the golden files, which never change for a version. They are
// also the worked examples of PROTOCOL.md.
var (
	goldenState = wire.State{
		Seq: 7, T: 1772682400399326324, X: []float64{0.5, -2},
		P0: []float64{1e-4, 0, 0, 0.0025}, U: []float64{0.25}, Plan: []float64{0.25, 0, -0.25},
		Layout: "ba317c1a93e33836",
	}
	timedState      = func() wire.State { s := goldenState; s.PlanDt = 0.25; return s }()
	smallState      = wire.State{Seq: 7, T: 1772682400399326324, X: []float64{0.5, -2}}
	smallPrediction = wire.Prediction{
		Vehicle: "pend1", Model: "a1b2c3d4e5f60718", Instance: "x7", Seq: 7,
		T: 1772682400399326324, ValidUntil: 1772682401399326324,
		Channels: []string{"theta", "omega"}, Units: []string{"rad", "rad/s"},
		Horizon: []float64{0.5, 1},
		Mean:    []float64{-0.5, -1.5, -1, 0.25},
		Std:     []float64{0.125, 0.25, 0.25, 0.5},
		ObsStd:  []float64{0.25, 0.5, 0.5, 0.75},
		Inputs:  "hold", Flags: wire.OutOfDistribution | wire.CarriedCovariance, OOD: 1.5,
	}
	goldenStatus = wire.Status{
		Vehicle: "pend1", Model: "a1b2c3d4e5f60718", Instance: "x7", T: 1772682401000000000,
		Uptime: 12.5, Input: wire.InputLive, InputAge: 0.0025, Received: 1250, Published: 1247, Late: 1, Missed: 2,
		StateRate: 100, PredictRate: 99, LatencyP50: 0.0003, LatencyP99: 0.001, LatencyMax: 0.002, Allocs: 3, Reconnects: 1,
		Reasons: []wire.ReasonCount{{Reason: "nan", Count: 3, Text: wire.NotANumber.Description(), Last: "field x: element 1 is NaN"}},
		Others:  []wire.Other{{Instance: "q9", Model: "a1b2c3d4e5f60718", Age: 0.5}},
	}
)

// What later programs of the version write: with the fields that were added.
var (
	fullPrediction = func() wire.Prediction {
		p := smallPrediction
		p.Tick, p.Age, p.Factor = 12, 0.0625, []float64{1, 1.5, 2, 0.5}
		p.Flags = wire.Stale | wire.Shortened | wire.Miscalibrated | wire.Chained | wire.Widened | wire.NoHistory | wire.Adapted
		return p
	}()
	fullStatus = func() wire.Status {
		s := goldenStatus
		s.Mode, s.Rate, s.Ticks, s.Used, s.Shortened, s.Widened = wire.ModeRate, 500, 6000, 1247, 2, 3
		s.Silent = []wire.ReasonCount{{Reason: "overrun", Count: 2, Text: wire.Overrun.Description(), Age: 1.5}}
		s.Phases = []wire.Phase{{Name: "decode", P50: 1e-6, P99: 2e-6, Max: 3e-6}, {Name: "predict", P50: 1e-4, P99: 2e-4, Max: 3e-4}}
		s.ClockOffset, s.Delay, s.Miscalibrated = -12.5, 0.001, 1
		s.Buckets, s.Checks = []float64{0.5, 1}, []float64{10, 10, 5, 5}
		s.Coverage, s.Recalibrated = []float64{0.9, 1, -1, -1}, []float64{1, 1, -1, -1}
		s.Nees, s.Factor, s.Health = []float64{1.5, 0.5, -1, -1}, []float64{1.25, 1, 1, 1}, 0.75
		s.Recording, s.Unrecorded, s.Swaps, s.Refused, s.Memory, s.Goroutines = "on", 4, 1, "checksum", 12<<20, 15
		s.History, s.NoHistory, s.HistoryGaps, s.HistoryBackward = 8, 20, 2, 1
		s.PlansUnused, s.PlansHeld, s.PlansCut = 5, 6, 7
		s.Channels = []string{"theta", "omega"}
		s.InputReason, s.InputRefused, s.UnknownKeys, s.UnknownKey = "nan", 3, 4, "planz"
		s.Reported = []wire.Alarm{{Name: "miscalibrated", Text: "95 % intervals cover too little"}}
		s.Ages = []wire.CounterAge{{Name: "plans_unused", Age: 2}, {Name: "late", Age: 0.5}}
		s.Adapt, s.AdaptNote, s.AdaptShare, s.Adapted = wire.AdaptOn, "states come without u", 0.75, 900
		s.Amounts = []wire.Amount{{Name: "gain torque", Unit: "%", Value: -20, Std: 2.5}}
		s.Models = []wire.LoadedModel{{Model: "a1b2c3d4e5f60718", Role: wire.RoleFlown, Since: 1772682400000000000}, {
			Model: "b1b2c3d4e5f60718", Role: wire.RoleShadow, Since: 1772682400500000000, Windows: 40, Skipped: 2, Buckets: []float64{0.5, 1}, Coverage: []float64{0.95, 1, 0.9, 0.925}, FlownCoverage: []float64{0.5, 0.75, 1, 1},
			CRPS: []float64{0.25, 0.5, 0.5, 1}, FlownCRPS: []float64{0.5, 1, 1, 2}, Difference: -0.5, DifferenceStd: 0.125,
		}}
		s.InputChannels, s.DeadTime, s.Lag = []string{"torque"}, []float64{0.0625}, []float64{0.015625}
		s.NIS, s.Whiteness, s.Rejected, s.FilterResets = 1.0625, -0.125, 3, 1
		s.PaceLevel, s.PaceEvery, s.PaceReach, s.PaceCost, s.PaceOwn, s.PaceEcho, s.PaceTime = 1, 2, 0.5, 0.0025, 0.00225, 0.000125, 0.002
		return s
	}()
	goldenEstimate = wire.Estimate{
		Vehicle: "pend1", Model: "a1b2c3d4e5f60718", Instance: "x7", Seq: 41, T: 1772682400000000000, Channels: []string{"theta", "theta_rate"}, Units: []string{"rad", "rad/s"},
		X: []float64{0.5, -2}, P: []float64{1e-4, 1e-3, 1e-3, 0.04}, Settled: true, Innovation: []float64{0.0078125, math.NaN()}, Ratio: []float64{0.015625, math.NaN()}, NIS: 0.96875, Rejected: 2, Sensors: []string{"theta"},
	}
)

func TestGoldenFiles(t *testing.T) {
	for _, c := range []struct {
		file string
		want []byte
	}{
		{"state-v1.msgpack", goldenState.Append(nil)},
		{"state-v1-timed.msgpack", timedState.Append(nil)},
		{"state-v1-small.msgpack", smallState.Append(nil)},
		{"prediction-v1.msgpack", smallPrediction.Append(nil)},
		{"prediction-v1-full.msgpack", fullPrediction.Append(nil)},
		{"status-v1-full.msgpack", fullStatus.Append(nil)},
		{"estimate-v1.msgpack", goldenEstimate.Append(nil)},
	} {
		path := filepath.Join("testdata", c.file)
		if *update {
			if err := os.WriteFile(path, c.want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, c.want) {
			t.Errorf("%s: this program writes other bytes for the same message", path)
		}
	}
	var s wire.State
	decode := func(file string, f func([]byte) error) {
		b, err := os.ReadFile(filepath.Join("testdata", file))
		if err == nil {
			err = f(b)
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	decode("state-v1.msgpack", func(b []byte) error { return s.Decode(b, 2, 1) })
	if d := cmp.Diff(goldenState, s); d != "" {
		t.Errorf("state: %s", d)
	}
	decode("state-v1-timed.msgpack", func(b []byte) error { return s.Decode(b, 2, 1) })
	if d := cmp.Diff(timedState, s); d != "" {
		t.Errorf("timed state: %s", d)
	}
	decode("state-v1-small.msgpack", func(b []byte) error { return s.Decode(b, 2, 1) })
	if len(s.P0)+len(s.U)+len(s.Plan)+len(s.Layout) != 0 || s.PlanDt != 0 || s.X[1] != -2 {
		t.Errorf("a small state after a full one holds %+v", s)
	}
	var p wire.Prediction
	decode("prediction-v1.msgpack", p.Decode)
	if d := cmp.Diff(smallPrediction, p); d != "" {
		t.Errorf("prediction: %s", d)
	}
	decode("prediction-v1-full.msgpack", p.Decode)
	if d := cmp.Diff(fullPrediction, p); d != "" {
		t.Errorf("full prediction: %s", d)
	}
	decode("prediction-v1.msgpack", p.Decode)
	if p.Tick != 0 || p.Age != 0 || len(p.Factor) != 0 {
		t.Errorf("a prediction without optional fields, after one with them, holds %+v", p)
	}
	var st wire.Status
	decode("status-v1-full.msgpack", st.Decode)
	var e wire.Estimate
	decode("estimate-v1.msgpack", e.Decode)
	if again := e.Append(nil); !bytes.Equal(again, goldenEstimate.Append(nil)) {
		t.Errorf("decoded %+v", e)
	}
	if d := cmp.Diff(fullStatus, st); d != "" {
		t.Errorf("full status: %s", d)
	}
	// Of the first programs of the version, which wrote no more; nothing stays of
	// the message read before.
	decode("status-v1.msgpack", st.Decode)
	if d := cmp.Diff(goldenStatus, st, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("status: %s", d)
	}
}

// large returns a prediction of the size of a quadrotor's, at T points.
func large(T int) wire.Prediction {
	p := wire.Prediction{Vehicle: "q1", Model: "0011223344556677", Instance: "abcdefgh", Inputs: "plan"}
	const K = 12
	for k := range K {
		p.Channels = append(p.Channels, string(rune('a'+k)))
		p.Units = append(p.Units, "m")
	}
	for i := range T {
		p.Horizon = append(p.Horizon, float64(i+1)/float64(T))
		for k := range K {
			p.Mean = append(p.Mean, math.Sin(float64(i*k)))
			p.Std = append(p.Std, 0.1)
			p.ObsStd = append(p.ObsStd, 0.2)
		}
	}
	return p
}

func TestNothingIsAllocatedInSteadyState(t *testing.T) {
	p := large(100)
	buf := make([]byte, 0, 64<<10)
	if n := testing.AllocsPerRun(50, func() { buf = p.Append(buf[:0]) }); n != 0 {
		t.Errorf("prediction: %v allocations to append", n)
	}
	var q wire.Prediction
	if err := q.Decode(buf); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(50, func() { _ = q.Decode(buf) }); n != 0 {
		t.Errorf("prediction: %v allocations to decode", n)
	}
	s := goldenState
	if n := testing.AllocsPerRun(50, func() { buf = s.Append(buf[:0]) }); n != 0 {
		t.Errorf("state: %v allocations to append", n)
	}
	limits := wire.PlausibilityLimits{Layout: s.Layout, MaxStd: []float64{1, 1}}
	work := func() {
		if err := s.Decode(buf, 2, 1); err != nil {
			t.Fatal(err)
		}
		if err := limits.Check(&s); err != nil {
			t.Fatal(err)
		}
	}
	work()
	if n := testing.AllocsPerRun(50, work); n != 0 {
		t.Errorf("state: %v allocations to decode and check", n)
	}
	st := fullStatus
	if n := testing.AllocsPerRun(50, func() { buf = st.Append(buf[:0]) }); n != 0 {
		t.Errorf("status: %v allocations to append", n)
	}
}
