package importer_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

const driven = `vehicle = "q"
[[refuse]]
parameter = "KIND"
values = { "11" = "a boat" }
[[refuse]]
topic = "beat"
field = "type"
values = { "1" = "an aeroplane" }
[[refuse]]
texts = { "Rover V" = "a rover" }
[[channel]]
name = "x"
topic = "pos"
field = "x"
role = "state"
[[channel]]
names = ["m1", "m2"]
topic = "out"
fields = ["C1", "C2"]
unit = "us"
role = "input"
[channel.outputs]
field = "C{}"
parameter = "SERVO{}_FUNCTION"
functions = [33, 34, 35]
count = "FRAME"
motors = { "1" = 2, "2" = 3 }
`

func drivenLog(settings map[string]float64, kind float64, texts ...string) *invented {
	s := &invented{fields: map[string][]telemetry.Field{"pos": names("x"), "out": names("C1", "C2", "C3", "C4"), "beat": names("type")}, settings: settings, texts: texts}
	for i := range int64(50) {
		v := float64(i)
		s.msgs = append(s.msgs, msg{"pos", 10 * i, []float64{v}}, msg{"out", 10 * i, []float64{v, 100 + v, 200 + v, 300 + v}}, msg{"beat", 10 * i, []float64{kind}})
	}
	return s
}

// The settings of the robot say which outputs drive the motors, and how many there are.
func TestOutputs(t *testing.T) {
	for name, c := range map[string]struct {
		settings map[string]float64
		names    string
		u        []float64 // of row 10
	}{
		"nothing is said": {nil, "m1 m2", []float64{10, 110}},
		"other outputs":   {map[string]float64{"SERVO3_FUNCTION": 34, "SERVO4_FUNCTION": 33, "SERVO1_FUNCTION": 7}, "m1 m2", []float64{310, 210}},
		"one more":        {map[string]float64{"SERVO1_FUNCTION": 33, "SERVO2_FUNCTION": 34, "SERVO4_FUNCTION": 35}, "m1 m2 m3", []float64{10, 110, 310}},
		"by the frame":    {map[string]float64{"FRAME": 2}, "m1 m2 m3", []float64{10, 110, 210}},
		"unknown frame":   {map[string]float64{"FRAME": 9}, "m1 m2", []float64{10, 110}},
	} {
		log, sum := run(t, drivenLog(c.settings, 2), driven, false)
		if said := strings.Contains(strings.Join(sum.Texts(), "\n"), "C3, C4 of out move and are not read"); said != (name == "nothing is said" || name == "unknown frame") {
			t.Errorf("%s: %q", name, sum.Texts())
		}
		in := channel.Select(log.Channels, channel.Input)
		if got := strings.Join(channel.Names(in), " "); got != c.names || in[0].Unit != "us" {
			t.Errorf("%s: %s, %+v", name, got, in[0])
			continue
		}
		for i, v := range c.u {
			if got := log.Segments[0].U[10*len(c.u)+i]; got != v {
				t.Errorf("%s: motor %d is %v, want %v", name, i+1, got, v)
			}
		}
	}
}

// A log of another kind of vehicle is refused with what shows it.
func TestOtherVehicles(t *testing.T) {
	for want, s := range map[string]*invented{
		"a log of a boat, which this map does not describe: its setting KIND is 11": drivenLog(map[string]float64{"KIND": 11}, 2),
		"a log of an aeroplane":    drivenLog(nil, 1),
		`it says "Rover V4.5.1"`:   drivenLog(nil, 2, "hello", "Rover V4.5.1"),
		"SERVO1_FUNCTION = 26":     drivenLog(map[string]float64{"SERVO1_FUNCTION": 26, "SERVO3_FUNCTION": 70}, 2),
		"(SERVOn_FUNCTION = 33)":   drivenLog(map[string]float64{"SERVO1_FUNCTION": 26, "SERVO3_FUNCTION": 70}, 2),
		"is a log of a boat, whic": drivenLog(map[string]float64{"KIND": 11, "SERVO1_FUNCTION": 33}, 2),
	} {
		if _, _, err := try(t, s, driven, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Of several instances the one counts that the log names, as it changes.
func TestPrimary(t *testing.T) {
	s := &invented{fields: map[string][]telemetry.Field{"est": names("x"), "est#1": names("x"), "status": names("core"), "status#1": names("core")}}
	for i := range int64(100) {
		core := float64(i / 50)
		s.msgs = append(s.msgs, msg{"est", 10 * i, []float64{float64(i)}}, msg{"est#1", 10 * i, []float64{1000 + float64(i)}}, msg{"status", 10 * i, []float64{core}}, msg{"status#1", 10 * i, []float64{core}})
	}
	log, sum := run(t, s, `vehicle = "q"
[[primary]]
topics = ["est", "status"]
topic = "status"
field = "core"
[[channel]]
name = "x"
topic = "est"
field = "x"
role = "state"
`, false)
	if len(log.Segments) != 2 || log.Segments[0].X[20] != 20 || log.Segments[1].X[10] < 1050 {
		t.Errorf("%d segments, %v", len(log.Segments), log.Segments[len(log.Segments)-1].X)
	}
	if said := strings.Join(sum.Texts(), "\n"); !strings.Contains(said, "the instance that counts changed 1 time") || strings.Contains(said, "set its state anew") {
		t.Error(said)
	}
}

// Of two estimators in a log that one is read which a setting names.
func TestSettingsChooseTheSource(t *testing.T) {
	const text = `vehicle = "q"
[[channel]]
name = "x"
topic = "new"
when = { TYPE = [3, 10] }
field = "x"
role = "state"
[[channel.or]]
topic = "old"
when = { TYPE = [2] }
field = "x"
`
	for name, c := range map[string]struct {
		settings map[string]float64
		want     float64
		reason   string
	}{
		"nothing is said": {nil, 7, ""},
		"the new one":     {map[string]float64{"TYPE": 3}, 7, ""},
		"the old one":     {map[string]float64{"TYPE": 2}, 107, ""},
		"neither":         {map[string]float64{"TYPE": 5}, 0, "topic new does not count: TYPE is 5 in a.log; topic old does not count: TYPE is 5 in a.log"},
	} {
		s := &invented{fields: map[string][]telemetry.Field{"new": names("x"), "old": names("x")}, settings: c.settings}
		for i := range int64(50) {
			s.msgs = append(s.msgs, msg{"new", 10 * i, []float64{float64(i)}}, msg{"old", 10 * i, []float64{100 + float64(i)}})
		}
		if c.reason != "" {
			if _, _, err := try(t, s, text, false); err == nil || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if log, _ := run(t, s, text, false); log.Segments[0].X[7] != c.want {
			t.Errorf("%s: row 7 is %v, want %v", name, log.Segments[0].X[7], c.want)
		}
	}
}

// Recordings in which a setting differs that an input depends on are a warning.
func TestSettingsDiffer(t *testing.T) {
	a, b := drivenLog(map[string]float64{"PWM_MIN": 1000, "PWM_MAX": 2000}, 2), drivenLog(map[string]float64{"PWM_MIN": 1100, "PWM_MAX": 2000}, 2)
	dir := t.TempDir()
	for text, want := range map[string]string{
		`agree = ["PWM_MAX", "PWM_MIN"]`: "PWM_MIN is 1000 in a.log, and 1100 in b.log",
		`agree = ["PWM_MAX", "OTHER"]`:   "",
	} {
		m, err := importer.ParseMap("map.toml", []byte(text+"\n"+driven))
		if err != nil {
			t.Fatal(err)
		}
		open := func(path string, wants telemetry.Wants) (telemetry.Source, error) {
			if filepath.Base(path) == "b.log" {
				return b.open(path, wants)
			}
			return a.open(path, wants)
		}
		sum, err := importer.Import(context.Background(), importer.Job{Format: "invented", Open: open, Map: m, Inputs: []string{filepath.Join(dir, "a.log"), filepath.Join(dir, "b.log")}, Out: filepath.Join(dir, "flight.msgpack")})
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(sum.Texts(), "\n"); strings.Contains(said, "one value of an input is not the same") != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%s: %s", text, said)
		}
		if err := os.Remove(filepath.Join(dir, "flight.msgpack")); err != nil {
			t.Fatal(err)
		}
	}
}
