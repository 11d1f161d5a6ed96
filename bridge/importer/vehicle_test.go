package importer_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
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

// A map that says which vehicles it is for refuses all others.
func TestVehiclesOfAMap(t *testing.T) {
	text := strings.NewReplacer(`values = { "11" = "a boat" }`, `only = { "0" = "a copter", "9" = "of the user's own" }`,
		`values = { "1" = "an aeroplane" }`, `only = { "2" = "a quadrotor", "13" = "six rotors" }`,
		`texts = { "Rover V" = "a rover" }`, `begins = '(Ardu|APM:|Rover)\S* [Vv]\d'`+"\nonly = { \"ArduCopter\" = \"a copter\" }").Replace(driven)
	for _, s := range []*invented{drivenLog(nil, 2), drivenLog(map[string]float64{"KIND": 9}, 13, "ArduCopter V4.5.1 (abc)"), drivenLog(map[string]float64{"KIND": 0}, 2, "ArduPilot Ready", "Rover")} {
		if _, _, err := try(t, s, text, false); err != nil {
			t.Error(err)
		}
	}
	for want, s := range map[string]*invented{
		`another kind of vehicle than this map describes, 0 (a copter), 9 (of the user's own): its setting KIND is 13;`: drivenLog(map[string]float64{"KIND": 13}, 2),
		`than this map describes, 2 (a quadrotor), 13 (six rotors): type of beat is 23;`:                                drivenLog(nil, 23),
		`than this map describes, ArduCopter (a copter): it says "APM:Rover v3.5"`:                                      drivenLog(nil, 2, "APM:Rover v3.5"),
	} {
		if _, _, err := try(t, s, text, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, wrong := range []string{`begins = '('` + "\nonly = { \"a\" = \"b\" }", `begins = 'a'`, "parameter = \"KIND\"\nonly = { \"1\" = \"a\" }\nvalues = { \"2\" = \"b\" }"} {
		if _, err := importer.ParseMap("map.toml", []byte("vehicle = \"q\"\n[[refuse]]\n"+wrong+"\n[[channel]]\nname = \"x\"\ntopic = \"pos\"\nfield = \"x\"\nrole = \"state\"\n")); err == nil || !strings.Contains(err.Error(), "refuse 1") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

// flights is a log of two flights of 0.5 s, before, between and after which a setting has other values.
func flights(before, first, between, second, after float64) *invented {
	s := &invented{fields: map[string][]telemetry.Field{"pos": names("x"), "out": names("C1", "C2", "C3", "C4"), "armed": names("on")}}
	set := func(ms int64, v float64) { s.msgs = append(s.msgs, msg{"set SERVO1_FUNCTION", ms, []float64{v}}) }
	at := int64(0)
	part := func(n int, on float64) {
		for range n {
			v := float64(at)
			s.msgs = append(s.msgs, msg{"armed", at, []float64{on}}, msg{"pos", at, []float64{v}}, msg{"out", at, []float64{v, 100 + v, 200 + v, 300 + v}})
			at += 10
		}
	}
	s.msgs = append(s.msgs, msg{"set SERVO2_FUNCTION", 0, []float64{34}})
	set(at, before)
	part(10, 0)
	set(at, first)
	part(50, 1)
	part(5, 0)
	set(at, between)
	part(5, 0)
	set(at, second)
	part(50, 1)
	part(5, 0)
	set(at, after)
	part(10, 0)
	return s
}

// Settings count as they are in flight: with several values there, the motors are not known.
func TestSettingsInFlight(t *testing.T) {
	const phase = "[[phase]]\ntopic = \"armed\"\nfield = \"on\"\nequals = [1]\n"
	motors := func(s *invented, head, text string, all bool) (string, error) {
		sum, _, err := try(t, s, head+"\n"+driven+text, all)
		if err != nil {
			return "", err
		}
		var inputs []string
		for _, c := range sum.Channels[1:] {
			inputs = append(inputs, c.Name)
		}
		return strings.Join(inputs, " ") + " " + strings.Join(sum.Texts(), "\n"), nil
	}
	if got, err := motors(flights(0, 33, 0, 33, 0), "", phase, false); err != nil || !strings.HasPrefix(got, "m1 m2 ") {
		t.Error(got, err)
	}
	if _, err := motors(flights(33, 33, 33, 0, 33), "", phase, false); err == nil || !strings.Contains(err.Error(), "SERVO1_FUNCTION is 33 and 0 in flights of a.log: the motors are not on the same outputs in all of it; import one flight by --from and --to") {
		t.Error(err)
	}
	// Rows of the ground count where they are kept, and flights do not that are cut off.
	if _, err := motors(flights(0, 33, 33, 33, 33), "", phase, true); err == nil || !strings.Contains(err.Error(), "SERVO1_FUNCTION is 0 and 33") {
		t.Error(err)
	}
	if got, err := motors(flights(33, 33, 33, 0, 33), "", phase+"[time]\nto = \"650ms\"\n", false); err != nil || !strings.HasPrefix(got, "m1 m2 ") {
		t.Error(got, err)
	}
	const said = "SERVO1_FUNCTION is 26 in a.log, and 27 in a.log: one value of an input is not the same in both"
	agree := `agree = ["SERVO1_FUNCTION"]`
	if got, err := motors(flights(26, 26, 26, 27, 26), agree, phase, false); err != nil || !strings.Contains(got, said) {
		t.Error(got, err)
	}
	if got, err := motors(flights(27, 26, 27, 26, 27), agree, phase, false); err != nil || strings.Contains(got, "one value of an input") {
		t.Error(got, err)
	}
	// In two recordings of which one is put behind the other, each has its settings.
	twice := flights(33, 33, 33, 33, 33)
	again := flights(33, 0, 0, 0, 0)
	twice.msgs = append(twice.msgs, again.msgs...)
	if _, err := motors(twice, "", phase, false); err == nil || !strings.Contains(err.Error(), "flights of a.log have other motors: motors 1 on C1, 2 on C2, and motors 2 on C2; put each flight into a file of its own") {
		t.Error(err)
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
		if n < 590 || !strings.Contains(said, "the motors are on other outputs than before, as its settings say: C1, C3") {
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

// Where another instance counts, the segment begins with its first message, though the reports of which
// one counts come behind, and what the one before says of that time is not read.
func TestPrimaryInstanceByInstance(t *testing.T) {
	for apart := range int64(2) { // ms between the instances
		s := &invented{fields: map[string][]telemetry.Field{"est": names("x"), "est#1": names("x"), "att": names("a"), "att#1": names("a"), "status": names("core"), "status#1": names("core")}}
		for i := range int64(100) {
			for core, of := range []string{"", "#1"} {
				v, ms := 1000*float64(core)+float64(i), 10*i+apart*int64(core)
				s.msgs = append(s.msgs, msg{"est" + of, ms, []float64{v}}, msg{"att" + of, ms, []float64{v}}, msg{"status" + of, ms, []float64{float64(i / 50)}})
			}
		}
		log, sum := run(t, s, `vehicle = "q"
[[primary]]
topics = ["est", "att", "status"]
topic = "status"
field = "core"
[[channel]]
name = "x"
topic = "est"
field = "x"
role = "state"
derivative = "none"
[[channel]]
name = "a"
topic = "att"
field = "a"
role = "state"
derivative = "none"
`, false)
		if len(log.Segments) != 2 {
			t.Fatalf("%d segments", len(log.Segments))
		}
		for k, seg := range log.Segments {
			if len(seg.T) != 50 {
				t.Errorf("segment %d has %d rows", k, len(seg.T))
			}
			for i, v := range seg.X {
				if want := float64(1050*k + i/2); v != want {
					t.Errorf("segment %d: %v, want %v", k, v, want)
				}
			}
		}
		if said := strings.Join(sum.Texts(), "\n"); !strings.Contains(said, "the instance that counts changed 1 time") || strings.Contains(said, "set its state anew") {
			t.Error(said)
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
