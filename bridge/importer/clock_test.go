package importer_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// A clock that starts at zero when the robot does, a recorder with another, and a
// topic that has no stamps: all on the base's clock.
func TestClocks(t *testing.T) {
	s := &invented{fields: map[string][]telemetry.Field{"pos": names("x"), "raw": names("v")},
		clock: map[string]string{"pos": "1/1"}, behind: map[string]int64{"1/1": 5e12}}
	for ms := int64(5_000_000); ms < 5_001_000; ms += 10 {
		s.msgs = append(s.msgs, msg{"pos", ms, []float64{float64(ms)}}, msg{"raw", ms + 5, []float64{float64(ms + 5)}})
	}
	log, sum := run(t, s, `
vehicle = "q"
[time]
base = "pos"
[[channel]]
name = "x"
topic = "pos"
field = "x"
role = "state"
[[channel]]
name = "v"
topic = "raw"
field = "v"
role = "aux"
`, false)
	seg := log.Segments[0]
	if seg.T[0] != 0 || seg.T[50] != 500e6 || math.Abs(seg.Aux[50]-seg.X[50]) > 1e-6 {
		t.Errorf("times %v…, x %v, v %v: v is a straight line that equals x", seg.T[:2], seg.X[50], seg.Aux[50])
	}
	if remarks := strings.Join(sum.Texts(), "\n"); !strings.Contains(remarks, "clock 1/1 is 5000.000 s behind the recorder's") {
		t.Error(remarks)
	}
}

// A wild stamp is left out; a clock that is set begins a segment.
func TestWildStampsAndClockSet(t *testing.T) {
	s := &invented{fields: map[string][]telemetry.Field{"pos": names("x")}}
	for i := range int64(100) {
		ms := 10 * i
		if i == 20 {
			s.msgs = append(s.msgs, msg{"pos", 9_000_000, []float64{-1}})
		}
		if i >= 50 {
			ms += 3_600_000
		}
		s.msgs = append(s.msgs, msg{"pos", ms, []float64{float64(i)}})
	}
	log, sum := run(t, s, "vehicle = \"q\"\n[[channel]]\nname = \"x\"\ntopic = \"pos\"\nfield = \"x\"\nrole = \"state\"\n", false)
	if len(log.Segments) != 2 || len(log.Segments[0].T) != 50 || len(log.Segments[1].T) != 50 || log.Segments[1].X[0] != 50 {
		t.Errorf("%d segments, %+v", len(log.Segments), log.Segments[1].X[:1])
	}
	remarks := strings.Join(sum.Texts(), "\n")
	for _, want := range []string{"1 message of pos left out, with timestamps far from all others", "time jumps ahead 1 time, by 3600.010 s at most: the clock was set, or nothing was recorded"} {
		if !strings.Contains(remarks, want) {
			t.Errorf("no %q in\n%s", want, remarks)
		}
	}
}

// A simulator that is paused publishes the same message again and again, which gives no rows; one
// that moves on with a stamp that stands still gives rows at the times of recording.
func TestStampStandsStill(t *testing.T) {
	for _, repeats := range []bool{true, false} {
		s := &invented{fields: map[string][]telemetry.Field{"pos": names("x"), "cmd": names("u")}, clock: map[string]string{"pos": "sim"},
			stamp: func(ms int64) int64 { return min(ms, max(20_000, ms-5000)) }}
		for ms := int64(0); ms < 40_000; ms += 20 {
			x := ms
			if repeats {
				x = s.stamp(ms)
			}
			s.msgs = append(s.msgs, msg{"pos", ms, []float64{float64(x)}}, msg{"cmd", ms + 5, []float64{float64(x + 5)}})
		}
		log, sum := run(t, s, `
vehicle = "q"
[[channel]]
name = "x"
topic = "pos"
field = "x"
role = "state"
[[channel]]
name = "u"
topic = "cmd"
field = "u"
role = "input"
`, false)
		rows := 2000
		if repeats {
			rows -= 250
		}
		if len(log.Segments) != 2 || sum.Rows != rows {
			t.Fatalf("%d rows in %d segments\n%s", sum.Rows, len(log.Segments), strings.Join(sum.Texts(), "\n"))
		}
		for _, seg := range log.Segments {
			for i := range seg.T {
				if i > 0 && seg.X[i]-seg.X[i-1] != 20 || !math.IsNaN(seg.U[i]) && math.Abs(seg.X[i]-15-seg.U[i]) > 1 && i > 1 {
					t.Fatalf("row %d at %d: x %v, u %v", i, seg.T[i], seg.X[i], seg.U[i])
				}
			}
		}
		if text := strings.Join(sum.Texts(), "\n"); !strings.Contains(text, "the stamp of pos does not change at 251 messages") {
			t.Error(text)
		}
	}
}

// Segments of two rows each are more than a remark: a model learns nothing from them.
func TestManyShortSegments(t *testing.T) {
	s := &invented{fields: map[string][]telemetry.Field{"pos": names("x")}}
	for i := range int64(600) {
		s.msgs = append(s.msgs, msg{"pos", i/2*100 + i%2*3, []float64{math.Sin(float64(i))}})
	}
	_, sum := run(t, s, "vehicle = \"q\"\n[time]\nmax_gap = \"20ms\"\n[[channel]]\nname = \"x\"\ntopic = \"pos\"\nfield = \"x\"\nrole = \"state\"\n", false)
	if !slices.ContainsFunc(sum.Remarks, func(r importer.Remark) bool { return r.Kind == "gap" && r.Severity == importer.Warning }) {
		t.Error(sum.Texts())
	}
}
