package importer_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

const quad = `
vehicle = "q"
[[channel]]
names = ["x", "y", "z"]
topic = "pos"
fields = ["x", "y", "z"]
axes = "ned"
unit = "m"
role = "state"
derivatives = ["none", "none", "none"]
[[channel]]
names = ["roll", "pitch", "yaw"]
topic = "att"
quaternion = ["w", "x", "y", "z"]
axes = "ned-frd"
role = "state"
derivatives = ["none", "none", "none"]
[[channel]]
name = "heading"
topic = "mag"
field = "deg"
unit = "rad"
period = 6.283185307179586
role = "state"
derivative = "none"
[[channel]]
name = "m1"
topic = "nothing"
field = "m"
role = "input"
[[channel.or]]
topic = "out"
field = "pwm"
times = "volt"
scale = 0.001
offset = -1.0
[[channel]]
name = "temp"
topic = "bat"
field = "temp"
role = "aux"
optional = true
`

// quadLog has positions each 100 ms, attitudes each 40 ms at a yaw rate of 1
// rad/s, a heading that goes over north, and an input that steps.
func quadLog() *invented {
	s := &invented{fields: map[string][]telemetry.Field{
		"pos": names("x", "y", "z"), "att": names("w", "x", "y", "z"), "mag": {{Path: "deg", Unit: "deg"}}, "out": names("pwm", "volt"),
	}}
	for ms := range int64(1001) {
		if ms%100 == 0 {
			s.msgs = append(s.msgs, msg{"pos", ms, []float64{float64(ms), 2, -3}})
		}
		if ms%40 == 0 {
			q := frames.FromEuler([3]float64{0.1, -0.2, 0.001 * float64(ms)})
			s.msgs = append(s.msgs, msg{"att", ms, q[:]})
		}
		if ms%30 == 0 {
			s.msgs = append(s.msgs, msg{"mag", ms, []float64{math.Mod(355+0.01*float64(ms), 360)}})
		}
		if ms%250 == 0 {
			s.msgs = append(s.msgs, msg{"out", ms, []float64{float64(1000 + ms), 2}})
		}
	}
	return s
}

func TestJoinsConvertsAndReports(t *testing.T) {
	log, sum := run(t, quadLog(), quad, false)
	if len(log.Segments) != 1 || len(log.Segments[0].T) != 11 || sum.Rows != 11 || sum.Duration != 1e9 {
		t.Fatalf("%+v, %d segments", sum, len(log.Segments))
	}
	s := log.Segments[0]
	K := len(channel.Select(log.Channels, channel.State))
	for i, at := range s.T {
		ms := 100 * float64(i)
		want := []float64{ms, 2, -3, 0.1, -0.2, 0.001 * ms, (355 + 0.01*ms) * math.Pi / 180}
		// The heading is interpolated on the short way, and not wrapped again.
		if i == 10 {
			want[6] = s.X[i*K+6] // after the last message of mag: not measured
		}
		got := s.X[i*K : (i+1)*K]
		got[6] = math.Mod(got[6]+4*math.Pi, 2*math.Pi)
		want[6] = math.Mod(want[6]+4*math.Pi, 2*math.Pi)
		if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-9), cmpopts.EquateNaNs()); d != "" || at != int64(100e6)*int64(i) {
			t.Errorf("row %d at %d: %s", i, at, d)
		}
		// Held: the last of 0, 250, 500, …, times the battery, scaled.
		if u := 0.001*2*(1000+250*math.Floor(ms/250)) - 1; math.Abs(s.U[i]-u) > 1e-12 {
			t.Errorf("row %d: input %v, want %v", i, s.U[i], u)
		}
	}
	remarks := strings.Join(sum.Texts(), "\n")
	for _, want := range []string{"rows have the timestamps of pos, 10 Hz, the slowest topic of the states", "roll, pitch, yaw: from att, 25 Hz, interpolated in 5 of 11 rows, samples 0.04 s apart at most",
		"m1: from out, 4 Hz, held in 8 of 11 rows, 0.2 s at most", "heading: not measured in 1 of 11 rows: mag begins later or ends earlier", "temp left out: topic bat is not in"} {
		if !strings.Contains(remarks, want) {
			t.Errorf("no %q in\n%s", want, remarks)
		}
	}
	if len(log.Notes) != len(sum.Remarks) {
		t.Errorf("%d notes in the log, %d remarks", len(log.Notes), len(sum.Remarks))
	}
	if c := log.Channels[3]; c.Name != "roll" || c.Unit != "rad" || c.Period != 2*math.Pi || c.Frame != "ned-frd" {
		t.Errorf("%+v", c)
	}
}

// Axes by the map: the log has ENU and FLU.
func TestFrames(t *testing.T) {
	log, _ := run(t, quadLog(), "frames = \"enu-flu\"\n"+quad, false)
	if d := cmp.Diff([]float64{2, 0, 3, 0.1, 0.2, math.Pi / 2}, log.Segments[0].X[:6], cmpopts.EquateApprox(0, 1e-12)); d != "" {
		t.Error(d)
	}
	if log.Channels[0].Frame != "enu" || log.Channels[3].Frame != "enu-flu" || log.Channels[6].Frame != "" {
		t.Errorf("%+v", log.Channels)
	}
}

func TestBaseAndGaps(t *testing.T) {
	s := quadLog()
	// Nothing of att between 400 and 700 ms.
	var kept []msg
	for _, m := range s.msgs {
		if m.topic != "att" || m.ms < 400 || m.ms > 700 {
			kept = append(kept, m)
		}
	}
	s.msgs = kept
	log, sum := run(t, s, strings.Replace(quad, "[[channel]]", "[time]\nbase = \"att\"\nfrom = \"50ms\"\nto = \"900ms\"\n[[channel]]", 1), false)
	if len(log.Segments) != 2 || log.Segments[0].T[0] != 80e6 || log.Segments[1].T[0] != 720e6 || log.Segments[1].Name != "a" || sum.Segments != 2 {
		t.Fatalf("%+v", log.Segments)
	}
	if last := log.Segments[1].T; last[len(last)-1] != 880e6 {
		t.Errorf("ends at %d", last[len(last)-1])
	}
	if remarks := strings.Join(sum.Texts(), "\n"); !strings.Contains(remarks, "a gap longer than 0.2 s begins a segment: 0.36 s") {
		t.Error(remarks)
	}
}

const phases = `
vehicle = "q"
[[phase]]
topic = "status"
field = "armed"
equals = [2, 3]
[[phase]]
topic = "ev"
field = "id"
begins = [28]
ends = [18]
[[phase]]
topic = "absent"
field = "x"
above = 0
[[channel]]
name = "x"
topic = "pos"
field = "x"
role = "state"
`

// The parts in which all phases hold are segments; a state is what it first was
// before it was first reported, an event that ends a phase was preceded by it.
func TestPhases(t *testing.T) {
	s := &invented{fields: map[string][]telemetry.Field{"pos": names("x"), "status": names("armed"), "ev": names("id")}}
	for ms := range int64(1000) {
		switch ms {
		case 55: // before that, the robot flew
			s.msgs = append(s.msgs, msg{"ev", ms, []float64{18}})
		case 205:
			s.msgs = append(s.msgs, msg{"ev", ms, []float64{28}})
		case 206, 900: // means neither
			s.msgs = append(s.msgs, msg{"ev", ms, []float64{15}})
		case 100: // before that, it was armed
			s.msgs = append(s.msgs, msg{"status", ms, []float64{3}})
		case 505, 700:
			s.msgs = append(s.msgs, msg{"status", ms, []float64{1}})
		case 800:
			s.msgs = append(s.msgs, msg{"status", ms, []float64{2}})
		}
		if ms%10 == 0 {
			s.msgs = append(s.msgs, msg{"pos", ms, []float64{float64(ms)}})
		}
	}
	log, sum := run(t, s, phases, false)
	var parts [][2]int64
	for _, seg := range log.Segments {
		parts = append(parts, [2]int64{seg.T[0] / 1e6, seg.T[len(seg.T)-1] / 1e6})
	}
	if d := cmp.Diff([][2]int64{{0, 50}, {210, 500}, {800, 990}}, parts); d != "" {
		t.Error(d)
	}
	remarks := strings.Join(sum.Texts(), "\n")
	if want := "44 rows on the ground or disarmed left out"; !strings.Contains(remarks, want) {
		t.Errorf("no %q in\n%s", want, remarks)
	}
	if strings.Contains(remarks, "absent") {
		t.Errorf("one of the ways to tell a phase is not there, which does not matter:\n%s", remarks)
	}
	if log, _ := run(t, s, phases, true); len(log.Segments) != 1 || len(log.Segments[0].T) != 100 {
		t.Errorf("all: %d segments", len(log.Segments))
	}
	// Never in the air.
	s.msgs = append([]msg{{"status", 0, []float64{1}}}, s.msgs[:20]...)
	if _, _, err := try(t, s, phases, false); err == nil || !strings.Contains(err.Error(), "to keep them all, import with --all") {
		t.Error(err)
	}
}

// Of several instances the first is used that varies: an output that is not
// connected is 0 throughout.
func TestInstanceThatMoves(t *testing.T) {
	s := &invented{fields: map[string][]telemetry.Field{"pos": names("x"), "out": names("m"), "out#1": names("m"), "out#2": names("m")}}
	for i := range int64(50) {
		s.msgs = append(s.msgs, msg{"pos", 10 * i, []float64{float64(i)}}, msg{"out", 10 * i, []float64{0}}, msg{"out#1", 10 * i, []float64{float64(2 * i)}}, msg{"out#2", 10 * i, []float64{float64(3 * i)}})
	}
	text := "vehicle = \"q\"\n[[channel]]\nname = \"x\"\ntopic = \"pos\"\nfield = \"x\"\nrole = \"state\"\n[[channel]]\nname = \"m\"\ntopic = \"out\"\nfield = \"m\"\nrole = \"input\"\n"
	for more, factor := range map[string]float64{"": 2, "instance = 0\n": 0, "instance = 2\n": 3} {
		if log, _ := run(t, s, text+more, false); log.Segments[0].U[10] != 10*factor {
			t.Errorf("%q: %v", more, log.Segments[0].U[10])
		}
	}
}

func TestDerivativesAreFound(t *testing.T) {
	s := &invented{fields: map[string][]telemetry.Field{"pos": names("x", "v")}}
	for i := range int64(2000) {
		sec := 0.01 * float64(i)
		s.msgs = append(s.msgs, msg{"pos", 10 * i, []float64{math.Sin(sec), math.Cos(sec)}})
	}
	text := "vehicle = \"q\"\n[[channel]]\nnames = [\"x\", \"v\"]\ntopic = \"pos\"\nfields = [\"x\", \"v\"]\nrole = \"state\"\n"
	log, sum := run(t, s, text, false)
	if log.Channels[0].Derivative != "v" || len(sum.Found) != 1 {
		t.Errorf("%+v, %+v", log.Channels, sum.Found)
	}
	if log, sum := run(t, s, text+"derivatives = [\"none\", \"none\"]\n", false); log.Channels[0].Derivative != "" || len(sum.Found) != 0 {
		t.Errorf("%+v, %+v", log.Channels, sum.Found)
	}
}

func TestRefusals(t *testing.T) {
	one := func(more string) string {
		return "vehicle = \"q\"\n" + more + "\n[[channel]]\nname = \"x\"\ntopic = \"pos\"\nfield = \"x\"\nunit = \"m\"\nrole = \"state\"\n"
	}
	rad := func(text string) string { return strings.Replace(text, `"m"`, `"rad"`, 1) }
	s := &invented{fields: map[string][]telemetry.Field{"pos": {{Path: "x", Unit: "deg"}}, "other": names("y")}, msgs: []msg{{"pos", 1, []float64{1}}, {"other", 1, []float64{1}}}}
	for _, c := range []struct{ name, text, want string }{
		{"no topic", strings.Replace(one(""), `"pos"`, `"nix"`, 1), "map.toml: channel x: topic nix is not in "},
		{"no field", strings.Replace(one(""), `"x"`+"\nunit", `"y"`+"\nunit", 1), `topic pos: field "y": there is no such field`},
		{"no base", rad(one("[time]\nbase = \"nix\"")), "map.toml: time.base: topic nix is not in "},
		{"base of no channel", rad(one("[time]\nbase = \"other\"")), "no channel is read from other; name one of pos"},
		{"unit", one(""), `the log gives the unit "deg", which is not converted into "m"; correct unit, or write from`},
		{"instance", strings.Replace(one(""), "unit", "instance = 3\nunit", 1), "topic pos#3 is not in "},
		{"cut", rad(one("[time]\nfrom = \"9s\"")), "no row is between time.from and time.to"},
	} {
		_, _, err := try(t, s, c.text, false)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func TestInterruptLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	m, err := importer.ParseMap("map.toml", []byte(quad))
	if err != nil {
		t.Fatal(err)
	}
	s := quadLog()
	for range 8 {
		s.msgs = append(s.msgs, s.msgs...)
	}
	// Each time at another share of the work.
	for after := 1; ; after++ {
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		out := filepath.Join(dir, "flight.msgpack")
		_, err = importer.Import(ctx, importer.Job{Format: "invented", Open: s.open, Map: m, Inputs: []string{"a.log"}, Out: out, Progress: func(share float64) {
			if n++; n == after {
				cancel()
			}
			if share < 0 || share > 1 {
				t.Fatalf("progress %v", share)
			}
		}})
		cancel()
		if err == nil {
			if after < 10 {
				t.Errorf("only %d reports of progress", after)
			}
			break
		}
		left, _ := os.ReadDir(dir)
		if !errors.Is(err, context.Canceled) || len(left) != 0 {
			t.Fatalf("interrupted: %v, left %v", err, left)
		}
	}
}

// An import never writes over one of its inputs, under whatever name.
func TestInputIsNotOverwritten(t *testing.T) {
	dir := t.TempDir()
	in, link := filepath.Join(dir, "a.log"), filepath.Join(dir, "b.msgpack")
	if err := os.WriteFile(in, []byte("flight"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(in, link); err != nil {
		t.Skipf("no second name for a file: %v", err)
	}
	for _, out := range []string{in, link} {
		_, err := importer.Import(context.Background(), importer.Job{Format: "invented", Inputs: []string{in}, Out: out})
		if err == nil || !strings.HasPrefix(err.Error(), out+": ") {
			t.Errorf("to %s: %v", out, err)
		}
		if b, err := os.ReadFile(in); err != nil || string(b) != "flight" {
			t.Errorf("to %s: the input is %q, %v", out, b, err)
		}
	}
}

// A state that comes more slowly than the rows counts as measured in the rows next to its
// messages, not where it is interpolated over many rows; an input is held as before.
func TestSlowStateIsNotMeasuredBetweenItsMessages(t *testing.T) {
	log, sum := run(t, quadLog(), strings.Replace(quad, "vehicle = \"q\"", "vehicle = \"q\"\n[time]\nbase = \"att\"", 1), false)
	seg, n, measured := log.Segments[0], 7, 0
	for i, ns := range seg.T {
		ms := ns / 1e6
		from := ms % 100
		near := min(from, 100-from) <= 30
		if x := seg.X[n*i]; math.IsNaN(x) == near {
			t.Errorf("%d ms: x is %v", ms, x)
		} else if near {
			measured++
		}
		if ms < 990 && math.IsNaN(seg.X[n*i+6]) || math.IsNaN(seg.U[i]) {
			t.Errorf("%d ms: heading %v, input %v", ms, seg.X[n*i+6], seg.U[i])
		}
	}
	if want := fmt.Sprintf("x, y, z: from pos, 10 Hz, measured in %d of %d rows, which come at 25 Hz", measured, len(seg.T)); !strings.Contains(strings.Join(sum.Texts(), "\n"), want) {
		t.Errorf("no %q in %q", want, sum.Remarks)
	}
}

// Of a log in which no topic can be read no map is suggested.
func TestNothingToSuggest(t *testing.T) {
	s := &invented{fields: map[string][]telemetry.Field{"/js": nil}, msgs: []msg{{"/js", 0, nil}, {"/js", 10, nil}}}
	var b strings.Builder
	err := importer.Suggest(context.Background(), &b, "a.mcap", s.open, nil)
	if err == nil || !strings.Contains(err.Error(), "no field of its topics can be read") || b.Len() > 0 {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// What is the same in all messages of a topic is no channel of a suggestion, which says so.
func TestConstantFieldsAreNoStates(t *testing.T) {
	s := &invented{fields: map[string][]telemetry.Field{"arm": names("q", "load", "dq", "spare")}}
	still := &invented{fields: s.fields}
	for i := range 100 {
		s.msgs = append(s.msgs, msg{"arm", int64(10 * i), []float64{math.Sin(0.1 * float64(i)), 4.2, math.Cos(0.1 * float64(i)), 0}})
		still.msgs = append(still.msgs, msg{"arm", int64(10 * i), []float64{1, 4.2, 0, 0}})
	}
	for _, c := range []struct {
		s        *invented
		channels int
		want     string
	}{{s, 2, "\n# Left out, the same in all messages: load (4.2), spare (0).\n"}, {still, 0, "\n# No field of topic \"arm\" varies: "}} {
		var b strings.Builder
		if err := importer.Suggest(context.Background(), &b, "arm.log", c.s.open, nil); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "\n[[channel]]"); n != c.channels || !strings.Contains(b.String(), c.want) {
			t.Errorf("%d channels, not %d with %q, in\n%s", n, c.channels, c.want, b.String())
		}
	}
}
