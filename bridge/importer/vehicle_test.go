package importer_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

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
	if said := strings.Join(sum.Texts(), "\n"); !strings.Contains(said, "by the log the selected instance changed 1 time") || strings.Contains(said, "set its state anew") {
		t.Error(said)
	}
}

// An instance that counts from a restart on does not count ahead of it, where times are later than behind it.
func TestPrimaryAfterARestart(t *testing.T) {
	s := &invented{fields: map[string][]telemetry.Field{"est": names("x"), "est#1": names("x"), "status": names("core")}}
	for i := range int64(200) {
		core, ms := float64(i/50%2), 60_000+10*i
		if i >= 100 {
			ms -= 61_000
		}
		s.msgs = append(s.msgs, msg{"est", ms, []float64{float64(i)}}, msg{"est#1", ms, []float64{1000 + float64(i)}}, msg{"status", ms, []float64{core}})
	}
	log, _ := run(t, s, `vehicle = "q"
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
	for k, seg := range log.Segments {
		for i, v := range seg.X {
			if want := float64(50*k+i) + 1000*float64(k%2); v != want {
				t.Fatalf("row %d of segment %d is %g, want %g", i, k, v, want)
			}
		}
	}
	if len(log.Segments) != 4 {
		t.Errorf("%d segments", len(log.Segments))
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
		"both":            {map[string]float64{"TYPE": 2}, 0, "topic new does not count: TYPE is 2 in a.log; topic old does not count: TYPE is 2, and then 3 in a.log: select the flights of one of them by --from and --to"},
		"neither":         {map[string]float64{"TYPE": 5}, 0, "topic new does not count: TYPE is 5 in a.log; topic old does not count: TYPE is 5 in a.log"},
	} {
		s := &invented{fields: map[string][]telemetry.Field{"new": names("x"), "old": names("x")}, settings: c.settings}
		for i := range int64(50) {
			s.msgs = append(s.msgs, msg{"new", 10 * i, []float64{float64(i)}}, msg{"old", 10 * i, []float64{100 + float64(i)}})
		}
		if name == "both" {
			s.msgs = slices.Insert(s.msgs, 40, msg{"set TYPE", 200, []float64{3}})
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
	const said = "SERVO1_FUNCTION is 26 in a.log, and 27 in a.log: one value of an input means different things in both"
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
		if said := strings.Join(sum.Texts(), "\n"); !strings.Contains(said, "by the log the selected instance changed 1 time") || strings.Contains(said, "set its state anew") {
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
		if said := strings.Join(sum.Texts(), "\n"); strings.Contains(said, "one value of an input means different things") != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%s: %s", text, said)
		}
		if err := os.Remove(filepath.Join(dir, "flight.msgpack")); err != nil {
			t.Fatal(err)
		}
	}
}
