package importer_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

const judged = `
vehicle = "q"
[[valid]]
channels = ["x"]
topic = "pos"
field = "xy_valid"
equals = [1]
[[valid]]
channels = ["x", "y"]
topic = ["newer", "status"]
field = "flags"
mask = 6
equals = [2]
[[valid]]
channels = ["y"]
topic = "pos"
field = "cov"
above = -0.5
[[valid]]
channels = ["x"]
topic = "pos"
field = "of_another_version"
equals = [1]
[[reset]]
topic = "pos"
fields = ["resets", "of_another_version"]
[[reset]]
topic = "event"
fields = ["id"]
equals = [60, 62]
[[channel]]
names = ["x", "y", "z"]
topic = "pos"
fields = ["x", "-y", "z"]
axes = "ned"
role = "state"
derivatives = ["none", "none", "none"]
[[channel]]
name = "w"
topic = "gyro"
field = "w"
role = "state"
derivative = "none"
`

// judgedLog has positions and rates each 20 ms. say changes x, y, z, xy_valid, cov, resets
// of a message, and the flags before it.
func judgedLog(say func(ms int64, p []float64) (flags float64, event int)) *invented {
	s := &invented{fields: map[string][]telemetry.Field{
		"pos": names("x", "y", "z", "xy_valid", "cov", "resets"), "gyro": names("w"), "status": names("flags"), "event": names("id"),
	}}
	for ms := int64(0); ms < 1000; ms += 20 {
		p := []float64{float64(ms), 2 * float64(ms), 3, 1, 0.1, 0}
		flags, event := say(ms, p)
		s.msgs = append(s.msgs, msg{"status", ms, []float64{flags}}, msg{"gyro", ms, []float64{0.1 * float64(ms)}})
		if event != 0 {
			s.msgs = append(s.msgs, msg{"event", ms, []float64{float64(event)}})
		}
		s.msgs = append(s.msgs, msg{"pos", ms, p})
	}
	return s
}

// Values that the robot's estimator declares invalid are not measured, each condition for
// its own channels, and what is never valid is left out. Notes and remarks say how much
// and why.
func TestValidity(t *testing.T) {
	log, sum := run(t, judgedLog(func(ms int64, p []float64) (float64, int) {
		if ms >= 200 && ms < 400 {
			p[3] = 0
		}
		if ms >= 600 {
			p[4] = -1
		}
		if ms >= 800 {
			return 6, 0
		}
		return 2, 0
	}), judged, false)
	seg := log.Segments[0]
	for i, ns := range seg.T {
		ms := ns / 1e6
		want := []bool{!(ms >= 200 && ms < 400) && ms < 800, ms < 600, true, true}
		for k, there := range want {
			if v := seg.X[4*i+k]; math.IsNaN(v) == there {
				t.Fatalf("%d ms, channel %d: %v", ms, k, v)
			}
		}
	}
	report := strings.Join(sum.Texts(), "\n")
	for _, want := range []string{
		"x not measured in 10 of 50 messages of pos: xy_valid of pos is not 1",
		"x, y not measured in 10 of 50 messages of pos: flags & 6 of status is not 2",
		"y not measured in 20 of 50 messages of pos: cov of pos is not above -0.5",
	} {
		note := func(n flightlog.Note) bool { return n.Text == flightlog.InvalidNote+want }
		if !strings.Contains(report, want) || !slices.ContainsFunc(log.Notes, note) {
			t.Errorf("no %q in\n%s\n%v", want, report, log.Notes)
		}
	}

	log, sum = run(t, judgedLog(func(ms int64, p []float64) (float64, int) { p[3] = 0; return 2, 0 }), judged, false)
	if got := channel.Names(log.Channels); !slices.Equal(got, []string{"y", "z", "w"}) {
		t.Errorf("channels %v", got)
	}
	if report := strings.Join(sum.Texts(), "\n"); !strings.Contains(report, "x left out, never valid in the rows that are kept: xy_valid of pos is not 1 (x)") {
		t.Error(report)
	}
}

// A log of which no state is ever valid is refused with the reason.
func TestNothingIsValid(t *testing.T) {
	text, _, _ := strings.Cut(judged, "[[channel]]\nname = \"w\"")
	text = strings.ReplaceAll(text, "[\"x\"]", "[\"x\", \"y\", \"z\"]")
	_, _, err := try(t, judgedLog(func(_ int64, p []float64) (float64, int) { p[3] = 0; return 2, 0 }), text, false)
	if err == nil || !strings.Contains(err.Error(), "no state is left: never valid in the rows that are kept: xy_valid of pos is not 1 (x, y, z)") {
		t.Errorf("%v", err)
	}
}

// A counter that changes, or an event, begins a segment; nothing is interpolated across it.
func TestResets(t *testing.T) {
	log, sum := run(t, judgedLog(func(ms int64, p []float64) (float64, int) {
		if ms >= 300 {
			p[5], p[0] = 1, p[0]+1000
		}
		if ms == 700 {
			return 2, 62
		}
		if ms == 500 {
			return 2, 18
		}
		return 2, 0
	}), judged, false)
	var begins []int64
	for _, s := range log.Segments {
		begins = append(begins, s.T[0]/1e6)
	}
	if !slices.Equal(begins, []int64{0, 300, 700}) {
		t.Errorf("segments begin at %v ms", begins)
	}
	if report := strings.Join(sum.Texts(), "\n"); !strings.Contains(report, "reset its state 2 times; a segment begins at each") {
		t.Error(report)
	}
}

func TestWrongValidity(t *testing.T) {
	for text, want := range map[string]string{
		"[[valid]]\nchannels = [\"nix\"]\ntopic = \"pos\"\nfield = \"f\"\nequals = [1]":                `channel "nix" is not in the map`,
		"[[valid]]\nchannels = [\"x\"]\nfield = \"f\"\nequals = [1]":                                   "needs one of topic and type",
		"[[valid]]\nchannels = [\"x\"]\ntopic = \"pos\"\nequals = [1]":                                 "field is missing",
		"[[valid]]\nchannels = [\"x\"]\ntopic = \"pos\"\nfield = \"f\"":                                "needs one of equals and above",
		"[[valid]]\ntopic = \"pos\"\nfield = \"f\"\nequals = [1]":                                      "channels is missing",
		"[[reset]]\ntopic = \"pos\"":                                                                   "fields is missing",
		"[[valid]]\nchannels = [\"x\"]\ntopic = \"pos\"\nfield = \"f\"\nequals = [1]\nbelow = [\"2\"]": "below",
	} {
		if _, err := importer.ParseMap("m", []byte(judged+text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A counter that is missing in a message is no reset, and hides none: the next one is
// compared with the one before.
func TestAMissingCounterIsNoReset(t *testing.T) {
	log, _ := run(t, judgedLog(func(ms int64, p []float64) (float64, int) {
		if ms >= 320 {
			p[5], p[0] = 1, p[0]+1000
		}
		if ms == 120 || ms == 300 {
			p[5] = math.NaN()
		}
		return 2, 0
	}), judged, false)
	var begins []int64
	for _, s := range log.Segments {
		begins = append(begins, s.T[0]/1e6)
	}
	if !slices.Equal(begins, []int64{0, 320}) {
		t.Errorf("segments begin at %v ms", begins)
	}
}

// Values ahead of the first message that says whether they are valid are not measured for this reason, and not because of what it says.
func TestAheadOfTheFirstStatus(t *testing.T) {
	for _, c := range []struct {
		late, bad int64 // ms
		want      string
	}{
		{100, 2000, "x, y not measured in 5 of 50 messages of pos: they are ahead of the first message of status"},
		{100, 900, "x, y not measured in 10 of 50 messages of pos: flags & 6 of status is not 2; 5 are ahead of the first message of status"},
		{0, 900, "x, y not measured in 5 of 50 messages of pos: flags & 6 of status is not 2"},
	} {
		s := judgedLog(func(ms int64, _ []float64) (float64, int) {
			if ms >= c.bad {
				return 6, 0
			}
			return 2, 0
		})
		s.msgs = slices.DeleteFunc(s.msgs, func(m msg) bool { return m.topic == "status" && m.ms < c.late })
		_, sum := run(t, s, judged, false)
		if texts := sum.Texts(); !slices.Contains(texts, c.want) {
			t.Errorf("no %q in\n%s", c.want, strings.Join(texts, "\n"))
		}
	}
}
