package importer_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// A change of unit within a log is found by the step of the values and by all steps behind it, of a state or of a command; zeros in place of
// what a sensor has lost by what is far from them. Motions that begin, steps of commands, resets, wraps and dead bands are none.
func TestUnitsThatChangeAndZeros(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	noise := func() float64 { return 0.002 * rng.NormFloat64() }
	swing := func(i int) float64 { return 2 + math.Sin(float64(i)/50) + noise() }
	from := func(n int, factor float64) func(i int) float64 {
		return func(i int) float64 {
			if i < n {
				return swing(i)
			}
			return factor * swing(i)
		}
	}
	lost := func(f func(i int) float64) func(i int) float64 {
		return func(i int) float64 {
			if i < 40 || i > 700 && i < 760 {
				return 0
			}
			return f(i)
		}
	}
	signals := map[string]func(i int) float64{
		"unit mm":        from(900, 1000),
		"unit m":         from(900, 0.001),
		"unit deg":       from(1200, 180/math.Pi),
		"unit km/h":      from(1300, 3.6),
		"unit km/h, too": func(i int) float64 { return from(1300, 3.6)(i) + 0.3 },
		"command percent": func(i int) float64 {
			return map[bool]float64{false: 1, true: 100}[i > 800] * (5 + 0.3*float64(i/10*7%5))
		},
		"lost x":    lost(swing),
		"lost y":    lost(func(i int) float64 { return -swing(i) }),
		"lost near": lost(func(i int) float64 { return swing(i) - 2 }),
		"off":       func(i int) float64 { return map[bool]float64{false: 7 + noise()}[i > 1100 && i < 1900] }, // for long, by itself
		"plain":     swing,
		"stops v":   func(i int) float64 { return map[bool]float64{false: 5 + noise()}[i/100%5 == 1] },
		"stops r":   func(i int) float64 { return map[bool]float64{false: 3 + noise()}[i/100%5 == 1] },
		"grip pos":  func(i int) float64 { return map[bool]float64{false: 4 + noise()}[i/50%6 == 1] },
		"grip load": func(i int) float64 { return map[bool]float64{false: 2 + noise()}[i/50%6 == 1] },
		"range": func(i int) float64 {
			return map[bool]float64{false: swing(i), true: -1}[i > 300 && i < 340 || i > 600 && i < 605]
		},
		"coarse":   func(i int) float64 { return 5.2e6 + 0.5*math.Round(10*math.Sin(float64(i)/100)) },
		"origin x": func(i int) float64 { return map[bool]float64{false: 1, true: 40}[i > 700] + swing(i) },
		"origin y": func(i int) float64 { return map[bool]float64{false: 1, true: -40}[i > 700] + swing(i) },
		"moved x":  func(i int) float64 { return map[bool]float64{false: 1, true: 40}[i > 999] + swing(i) },
		"moved y":  func(i int) float64 { return map[bool]float64{false: 1, true: -40}[i > 999] + swing(i) },
		"begins to move": func(i int) float64 {
			return map[bool]float64{false: noise(), true: math.Sin(float64(i) / 20)}[i > 1000]
		},
		"shakes":   func(i int) float64 { return map[bool]float64{false: 1, true: 50}[i > 1000] * noise() },
		"reset":    func(i int) float64 { return float64(i%1000)/100 + 3 },
		"set to 0": func(i int) float64 { return float64(i%1000) / 100 },
		"wraps":    func(i int) float64 { return math.Mod(float64(i)/30, 2*math.Pi) },
		"wheel left": func(i int) float64 {
			v := math.Sin(float64(i) / 200)
			return map[bool]float64{true: v}[math.Abs(v) > 0.2]
		},
		"wheel right": func(i int) float64 {
			v := math.Sin(float64(i)/200) * 1.1
			return map[bool]float64{true: v}[math.Abs(v) > 0.22]
		},
		"spike": func(i int) float64 { return map[bool]float64{false: swing(i), true: 2000}[i == 1500] },
		"gear":  func(i int) float64 { return float64(i / 100 % 4) },
	}
	text := "vehicle = \"v\"\n"
	all := slices.Sorted(maps.Keys(signals))
	for _, name := range all {
		role := "state"
		if strings.HasPrefix(name, "command") {
			role = "input"
		}
		text += fmt.Sprintf("[[channel]]\nname = %q\ntopic = \"t\"\nfield = %q\nrole = %q\n", name, name, role)
	}
	log := &invented{fields: map[string][]telemetry.Field{"t": names(all...)}}
	for i := range 2000 {
		m := msg{"t", int64(20 * i), nil}
		if i > 999 { // a pause, in which the robot may be moved
			m.ms += 30_000
		}
		for _, name := range all {
			m.values = append(m.values, signals[name](i))
		}
		log.msgs = append(log.msgs, m)
	}
	_, sum := run(t, log, text, false)
	var got []string
	for _, r := range sum.Remarks {
		if r.Kind == "rescaled" || r.Kind == "fill" || r.Kind == "jump" || r.Kind == "coarse" {
			got = append(got, r.Text)
		}
	}
	want := []string{
		"range: the placeholder -1, in 43 of 2000 values, counts as not measured: the values jump to it, as those of a sensor that has lost what it measures",
		"lost near, lost x, lost y: the placeholder 0, in 297 of 6000 values, counts as not measured: the values jump to it, as those of a sensor that has lost what it measures",
		"coarse: values stay for long and change by 0.5 at a time of t: motion within that is not learned",
		"origin x, origin y: at message 702 of t the values jump, more than 20 times as far as in any other step: their origin was set anew, or another sender follows",
		"command percent: from message 802 of t on the values are 100 times as large, and go on: their unit changes",
		"unit m: from message 901 of t on the values are 1000 times as small, and go on: their unit changes",
		"unit mm: from message 901 of t on the values are 1000 times as large, and go on: their unit changes",
		"unit deg: from message 1201 of t on the values are 57.3 times as large, and go on: their unit changes",
		"unit km/h, unit km/h, too: from message 1301 of t on the values are 3.6 times as large, and go on: their unit changes",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, c := range sum.Channels {
		missing := map[string]int{"lost near": 99, "lost x": 99, "lost y": 99, "range": 43}[c.Name]
		if c.Samples != 2000-missing {
			t.Errorf("%s is measured in %d rows", c.Name, c.Samples)
		}
	}
}

// Without times of recording topics whose stamps are shifted as a whole are reported: those of GPS time are 18 s ahead of UTC's.
func TestStampsOfTwoClocksWithoutTimesOfRecording(t *testing.T) {
	const text = "vehicle = \"v\"\n[time]\nbase = \"pose\"\n[[channel]]\nname = \"x\"\ntopic = \"pose\"\nfield = \"x\"\nrole = \"state\"\n[[channel]]\nname = \"u\"\ntopic = \"cmd\"\nfield = \"u\"\nrole = \"input\"\n"
	for name, c := range map[string]struct {
		behind int64 // s
		until  int   // commands
		want   string
	}{
		"alike": {0, 3000, ""}, "GPS": {18, 3000, "times of cmd begin and end 18 s before those of pose"}, "ahead": {-18, 3000, "times of cmd begin and end 18 s after those of pose"},
		"ends early": {0, 2000, ""},
	} {
		log := &invented{untimed: true, fields: map[string][]telemetry.Field{"pose": names("x"), "cmd": names("u")}, clock: map[string]string{"pose": "gps", "cmd": "utc"}, behind: map[string]int64{"utc": c.behind * 1e9}}
		for i := range 3000 {
			log.msgs = append(log.msgs, msg{"pose", int64(1e6 + 20*i), []float64{math.Sin(float64(i) / 30)}})
			if i < c.until {
				log.msgs = append(log.msgs, msg{"cmd", int64(1e6 + 20*i), []float64{math.Sin(float64(i) / 20)}})
			}
		}
		_, sum := run(t, log, text, false)
		all := strings.Join(sum.Texts(), "\n")
		if strings.Contains(all, "their clocks differ") != (c.want != "") || !strings.Contains(all, c.want) {
			t.Errorf("%s: %s", name, all)
		}
	}
}

// Files that have rows in common are reported, and recordings that begin alike are not.
func TestFilesThatOverlap(t *testing.T) {
	const text = "vehicle = \"v\"\n[[channel]]\nname = \"x\"\ntopic = \"pose\"\nfield = \"x\"\nrole = \"state\"\n"
	part := func(from, to int, phase float64) *invented {
		log := &invented{fields: map[string][]telemetry.Field{"pose": names("x")}}
		for i := from; i < to; i++ {
			log.msgs = append(log.msgs, msg{"pose", int64(20 * i), []float64{math.Sin(float64(i) / 30 * phase)}})
		}
		return log
	}
	for name, c := range map[string]struct {
		a, b *invented
		want bool
	}{
		"overlap": {part(0, 300, 1), part(200, 500, 1), true}, "in the other order": {part(200, 500, 1), part(0, 300, 1), true}, "one within the other": {part(0, 300, 1), part(100, 200, 1), true},
		"apart": {part(0, 300, 1), part(300, 500, 1), false}, "at one time": {part(0, 300, 1), part(100, 400, 1.1), false}, "begin alike": {part(0, 300, 1), part(0, 200, 1.1), false},
	} {
		_, sum := runAll(t, text, c.a, c.b)
		if all := strings.Join(sum.Texts(), "\n"); strings.Contains(all, "0.log and 1.log overlap: they have rows in common, which count twice") != c.want {
			t.Errorf("%s: %s", name, all)
		}
	}
}

// Commands of two senders of which one stands still are reported, though rows have the values of that one alone.
func TestSendersOfWhichRowsHaveOne(t *testing.T) {
	const text = "vehicle = \"v\"\n[[channel]]\nname = \"x\"\ntopic = \"pose\"\nfield = \"x\"\nrole = \"state\"\n[[channel]]\nname = \"u\"\ntopic = \"cmd\"\nfield = \"u\"\nrole = \"input\"\nvaries = true\n"
	log := &invented{fields: map[string][]telemetry.Field{"pose": names("x"), "cmd": names("u")}}
	for i := range 1000 {
		log.msgs = append(log.msgs, msg{"pose", int64(20 * i), []float64{math.Sin(float64(i) / 30)}}, msg{"cmd", int64(20*i + 1), []float64{2 + math.Sin(float64(i)/40)}}, msg{"cmd", int64(20*i + 11), []float64{0}})
	}
	_, sum := run(t, log, text, false)
	if all := strings.Join(sum.Texts(), "\n"); !strings.Contains(all, "u: the messages alternate between several") {
		t.Error(all)
	}
}
