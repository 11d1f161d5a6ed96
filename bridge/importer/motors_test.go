package importer_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
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

// Motors on outputs that another topic has are read from that.
func TestOutputsOfFurtherTopics(t *testing.T) {
	log := drivenLog(map[string]float64{"SERVO4_FUNCTION": 33, "SERVO6_FUNCTION": 34, "SERVO1_FUNCTION": 35}, 2)
	log.fields["more"] = names("C5", "C6")
	for i := range int64(50) {
		log.msgs = append(log.msgs, msg{"more", 10 * i, []float64{400 + float64(i), 500 + float64(i)}})
	}
	got, _ := run(t, log, strings.Replace(driven, "field = \"C{}\"\n", "field = \"C{}\"\nfurther = { more = [5, 8] }\n", 1), false)
	in := channel.Names(channel.Select(got.Channels, channel.Input))
	if u := got.Segments[0].U[30:33]; !slices.Equal(in, []string{"m1", "m3", "m2"}) || !slices.Equal(u, []float64{310, 10, 510}) {
		t.Error(in, u)
	}
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

// Outputs that move and are not read are named of a source that names a type, too.
func TestOutputsByType(t *testing.T) {
	_, sum := run(t, drivenLog(nil, 2), strings.Replace(driven, `topic = "out"`, `type = "out_msg"`, 1), false)
	if said := strings.Join(sum.Texts(), "\n"); !strings.Contains(said, "C3, C4 of out move and are not read") {
		t.Error(said)
	}
}

// Of the sources with outputs that one is read which counts by the settings, with its unit.
func TestOutputsBySettings(t *testing.T) {
	text := strings.Replace(driven, "fields = [\"C1\", \"C2\"]\n", "fields = [\"C1\", \"C2\"]\nwhen = { BUS = [0, 1] }\n", 1) +
		"[[channel.or]]\ntopic = \"out\"\nfields = [\"C1\", \"C2\"]\nunit = \"raw\"\n[channel.or.outputs]\nfield = \"C{}\"\ncount = \"FRAME\"\nmotors = { \"2\" = 3 }\n"
	for bus, want := range map[float64]string{0: "us", 3: "raw"} {
		log, _ := run(t, drivenLog(map[string]float64{"BUS": bus, "FRAME": 2}, 2), text, false)
		if in := channel.Select(log.Channels, channel.Input); len(in) != 3 || in[2].Unit != want {
			t.Errorf("%v: %+v", bus, in)
		}
	}
}

// After another start of the robot, or in another file, the motors are read from the outputs that they
// are on there; what is not said again is as before.
func TestMotorsOnOtherOutputs(t *testing.T) {
	wired := func(first float64, settings ...float64) *invented {
		s := &invented{fields: map[string][]telemetry.Field{"pos": names("x"), "out": names("C1", "C2", "C3", "C4")}}
		for i, v := range settings {
			s.msgs = append(s.msgs, msg{[]string{"set SERVO1_FUNCTION", "set SERVO2_FUNCTION", "set SERVO3_FUNCTION"}[i], 0, []float64{v}})
		}
		for i := range int64(300) {
			v := first + float64(i)
			s.msgs = append(s.msgs, msg{"pos", 10 * i, []float64{v}}, msg{"out", 10 * i, []float64{v, 1000 + v, 2000 + v, 3000 + v}})
		}
		return s
	}
	twice := wired(0, 33, 34)
	twice.msgs = append(twice.msgs, wired(500, 33, 0, 34).msgs...)
	check := func(name string, log *flightlog.Log, sum *importer.Summary) {
		t.Helper()
		n, said := 0, strings.Join(sum.Texts(), "\n")
		for _, s := range log.Segments {
			for i := range s.T {
				x, second := s.X[i], 1000.0
				if x >= 500 {
					second = 2000
				}
				if s.U[2*i] != x || s.U[2*i+1] != second+x {
					t.Fatalf("%s: at x = %v the motors are %v", name, x, s.U[2*i:2*i+2])
				}
				n++
			}
		}
		if n < 590 || !strings.Contains(said, "by its settings the motors are on other outputs than before: C1, C3") {
			t.Errorf("%s: %d rows: %s", name, n, said)
		}
	}
	log, sum := run(t, twice, driven, false)
	check("two starts", log, sum)
	log, sum = runAll(t, driven, wired(0, 33, 34), wired(500, 33, 0, 34))
	check("two files", log, sum)
	twice = wired(0, 33, 34, 0)
	twice.msgs = append(twice.msgs, wired(500, 33, 34, 35).msgs...)
	if _, _, err := try(t, twice, driven, false); err == nil || !strings.Contains(err.Error(), "flights of a.log have other motors: motors 1 on C1, 2 on C2, and motors 1 on C1, 2 on C2, 3 on C3; put each flight into a file of its own") {
		t.Error(err)
	}
}

// Motors on outputs of another instance are read from the one of which they change.
func TestMotorsOfAnotherInstance(t *testing.T) {
	text := strings.Replace(driven, "count =", "aside = [\"AUX{}\"]\ncount =", 1)
	log := func(moves ...int64) *invented {
		s := &invented{fields: map[string][]telemetry.Field{"pos": names("x")}, settings: map[string]float64{"AUX2": 33, "AUX3": 34, "SERVO1_FUNCTION": 7}}
		for _, topic := range []string{"out", "out#1", "out#2"} {
			s.fields[topic] = names("C1", "C2", "C3", "C4")
		}
		for i := range int64(50) {
			s.msgs = append(s.msgs, msg{"pos", 10 * i, []float64{float64(i)}})
			for k, topic := range []string{"out", "out#1", "out#2"} {
				v := float64(i * moves[k])
				s.msgs = append(s.msgs, msg{topic, 10 * i, []float64{float64(i), 100 + v, 200 + v, 300}})
			}
		}
		return s
	}
	got, _ := run(t, log(0, 1, 0), text, false)
	if s := got.Segments[0]; s.U[20] != 110 || s.U[21] != 210 {
		t.Errorf("%v", s.U[20:22])
	}
	both := log(1, 1, 0)
	both.settings = map[string]float64{"SERVO2_FUNCTION": 33, "SERVO3_FUNCTION": 7, "AUX3": 34, "AUX2": 7}
	for i := range both.msgs { // and what has no function: of the topic C4, of the other instance C1
		if x := &both.msgs[i]; x.topic == "out" {
			x.values[0], x.values[3] = 0, x.values[1]
		} else if x.topic == "out#1" {
			x.values[2]++
		}
	}
	both.settings["SERVO4_FUNCTION"], both.settings["AUX1"] = 7, 7
	if got, _ = run(t, both, text, false); got.Segments[0].U[20] != 110 || got.Segments[0].U[21] != 211 {
		t.Errorf("of both instances: %v", got.Segments[0].U[20:22])
	}
	for _, moves := range [][]int64{{1, 1, 0}, {0, 0, 0}} {
		if _, _, err := try(t, log(moves...), text, false); err == nil || !strings.Contains(err.Error(), "by its settings a.log has the motors on outputs of another instance of out (AUX{}), and not exactly one has values of all of them that change: motors 1 on C2, 2 on C3") {
			t.Errorf("%v: %v", moves, err)
		}
	}
}

// The kind of frame and the functions of the outputs must have the same number of motors.
func TestNumberOfMotors(t *testing.T) {
	for want, c := range map[string]struct {
		settings map[string]float64
		refused  bool
	}{
		"FRAME of a.log is 1: 2 motors, and SERVOn_FUNCTION has only 1 of them: none is 34":  {map[string]float64{"FRAME": 1, "SERVO1_FUNCTION": 33}, true},
		"FRAME of a.log is 2: 3 motors, and SERVOn_FUNCTION has only 2 of them: none is 35":  {map[string]float64{"FRAME": 2, "SERVO1_FUNCTION": 33, "SERVO2_FUNCTION": 34}, true},
		"FRAME of a.log is 1: 2 motors, and SERVOn_FUNCTION has 3":                           {map[string]float64{"FRAME": 1, "SERVO1_FUNCTION": 33, "SERVO2_FUNCTION": 34, "SERVO3_FUNCTION": 35}, false},
		"motors on other outputs than those that are read from out: AUX1 = 33, AUX2 = 34; r": {map[string]float64{"AUX1": 33, "AUX2": 34, "SERVO1_FUNCTION": 7}, false},
	} {
		sum, _, err := try(t, drivenLog(c.settings, 2), strings.Replace(driven, "count =", "elsewhere = [\"AUX{}\"]\ncount =", 1), false)
		_, lost := errors.AsType[*importer.LossError](err)
		text := ""
		if err != nil {
			text = err.Error()
		} else {
			text = strings.Join(sum.Texts(), "\n")
		}
		if lost != c.refused || !strings.Contains(text, want) {
			t.Errorf("%v %s, want %s", lost, text, want)
		}
	}
	if log, _ := run(t, drivenLog(map[string]float64{"FRAME": 1, "SERVO1_FUNCTION": 33, "SERVO2_FUNCTION": 34, "AUX1": 33}, 2), strings.Replace(driven, "count =", "elsewhere = [\"AUX{}\"]\ncount =", 1), false); len(log.Channels) != 3 {
		t.Errorf("%+v", log.Channels)
	}
}
