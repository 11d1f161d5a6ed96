package importer_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Rows of several senders that nothing distinguishes are found at any ratio of their rates, and
// where the second one begins later; noise, vibration and switching are of one sender.
func TestSeveralSignalsInTurns(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	noise := func() float64 { return 0.002 * rng.NormFloat64() }
	one := func(i int) float64 { return math.Sin(float64(i)/100) + noise() }
	two := func(i int) float64 { return 3 + math.Cos(float64(i)/211) + noise() }
	after := func(ratio float64, from int) func(i int) float64 {
		next := float64(from)
		return func(i int) float64 {
			if float64(i) < next {
				return one(i)
			}
			next += 1 + ratio
			return two(i)
		}
	}
	walk := 0.0
	signals := map[string]func(i int) float64{
		"two, one for one":                    after(1, 0),
		"two, four for three":                 after(4./3, 0),
		"two, two for one":                    after(2, 0),
		"two, five for one":                   after(5, 0),
		"two, thirty for one":                 after(30.4, 0),
		"two, from the middle on":             after(2, 2000),
		"two, one of which stands":            func(i int) float64 { return []float64{one(i), one(i), 7}[i%3] },
		"two, one of which the other passes":  func(i int) float64 { return []float64{one(i), one(i), one(i), 0}[i%4] },
		"two, one of which stands more often": func(i int) float64 { return []float64{0, one(i), 0, 0}[i%4] },
		"a valve":                             func(i int) float64 { return math.Max(0, one(i)) },
		"two, three for one, apart":           func(i int) float64 { return []float64{one(i), one(i), one(i), 2 + one(i)}[i%4] },
		"two of three":                        func(i int) float64 { return []float64{one(i), two(i), -4 - noise()}[i%3] },
		"two of five":                         func(i int) float64 { return 3*float64(i*3%5) + one(i/5*5) },
		"two of eight":                        func(i int) float64 { return []float64{0, 5, 2, 7, 4, 1, 6, 3}[i%8] + one(i) },
		"noise":                               func(int) float64 { return rng.NormFloat64() },
		"a walk":                              func(int) float64 { walk += rng.NormFloat64(); return walk },
		"a vibration":                         func(i int) float64 { return math.Sin(2*math.Pi*float64(i)/7.3) + noise() },
		"a vibration in step": func(i int) float64 {
			return (1+0.2*math.Sin(float64(i)/100))*math.Sin(math.Pi/2*float64(i)+0.3) + noise()
		},
		"a vibration of five": func(i int) float64 { return math.Sin(0.4*math.Pi*float64(i)+0.3) + noise() },
		"a square":            func(i int) float64 { return float64(i/5%2) + noise() },
		"a ramp in steps":     func(i int) float64 { return math.Round(float64(i)/40 + 0.3*rng.NormFloat64()) },
		"levels at random":    func(int) float64 { return float64(rng.IntN(2)) + noise() },
	}
	text := "vehicle = \"v\"\n"
	all := slices.Sorted(maps.Keys(signals))
	for _, name := range all {
		text += fmt.Sprintf("[[channel]]\nname = %q\ntopic = \"t\"\nfield = %q\nrole = \"state\"\n", name, name)
	}
	log := &invented{fields: map[string][]telemetry.Field{"t": names(all...)}}
	for i := range 4000 {
		m := msg{"t", int64(20 * i), nil}
		for _, name := range all {
			m.values = append(m.values, signals[name](i))
		}
		log.msgs = append(log.msgs, m)
	}
	_, sum := run(t, log, text, false)
	i := slices.IndexFunc(sum.Remarks, func(r importer.Remark) bool { return r.Kind == "alternating" })
	if i < 0 {
		t.Fatal(sum.Texts())
	}
	for _, name := range all {
		if got := strings.Contains(sum.Remarks[i].Text, name); got != strings.HasPrefix(name, "two") {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Senders that take turns on a topic that is joined to the rows are found where their messages are, and
// what is outside of the wanted part does not count.
func TestTurnsOfAJoinedTopic(t *testing.T) {
	for name, c := range map[string]struct {
		front string
		other func(i int) float64
		want  bool
	}{
		"two":             {"", func(i int) float64 { return 4 * float64(i%2) }, true},
		"one":             {"", func(int) float64 { return 0 }, false},
		"two, in the cut": {"[time]\nto = \"30s\"\n", func(i int) float64 { return 4 * float64(i%2) * float64(i/3000) }, false},
	} {
		log := &invented{fields: map[string][]telemetry.Field{"pos": names("x"), "cmd": names("u")}}
		for i := range 6000 {
			at := 0.01 * float64(i)
			log.msgs = append(log.msgs, msg{"cmd", int64(10 * i), []float64{math.Cos(at) + c.other(i)}})
			if i%2 == 0 {
				log.msgs = append(log.msgs, msg{"pos", int64(10*i + 4), []float64{math.Sin(at)}})
			}
		}
		_, sum := run(t, log, "vehicle = \"v\"\n"+c.front+"[[channel]]\nname = \"x\"\ntopic = \"pos\"\nfield = \"x\"\nrole = \"state\"\n[[channel]]\nname = \"u\"\ntopic = \"cmd\"\nfield = \"u\"\nrole = \"input\"\n", false)
		text := strings.Join(sum.Texts(), "\n")
		if strings.Contains(text, "u: the messages alternate between several continuous signals") != c.want || strings.Contains(text, "x: the messages") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// Two senders whose messages come in pairs are one segment, and a warning.
func TestSendersInPairs(t *testing.T) {
	log := &invented{fields: map[string][]telemetry.Field{"t": names("x")}}
	for i := range 400 {
		log.msgs = append(log.msgs, msg{"t", int64(20 * i), []float64{math.Sin(0.1 * float64(i))}}, msg{"t", int64(20*i + 3), []float64{5 + math.Sin(0.1*float64(i))}})
	}
	_, sum := run(t, log, "vehicle = \"v\"\n[[channel]]\nname = \"x\"\ntopic = \"t\"\nfield = \"x\"\nrole = \"state\"\n", false)
	of := func(kind string) bool {
		return slices.ContainsFunc(sum.Remarks, func(r importer.Remark) bool { return r.Kind == kind && r.Severity == importer.Warning })
	}
	if !of("alternating") || of("gap") {
		t.Errorf("%q", sum.Texts())
	}
}

// Two senders give their messages the same stamps, and come in any order; one that sends each message twice, with noise, is one.
func TestSendersOfOneStamp(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, two := range map[string]bool{"two senders": true, "one sender": false} {
		s := &invented{fields: map[string][]telemetry.Field{"pos": names("x")}, clock: map[string]string{"pos": "1/1"}}
		for i := range int64(600) {
			pair := []float64{math.Sin(0.02 * float64(i)), math.Sin(0.02*float64(i)) + 0.01*rng.NormFloat64()}
			if two {
				pair[1] = 3 + math.Cos(0.011*float64(i))
			}
			if rng.IntN(2) == 0 {
				pair[0], pair[1] = pair[1], pair[0]
			}
			s.msgs = append(s.msgs, msg{"pos", 33 * i, pair[:1]}, msg{"pos", 33 * i, pair[1:]})
		}
		_, sum := run(t, s, "vehicle = \"q\"\n[[channel]]\nname = \"x\"\ntopic = \"pos\"\nfield = \"x\"\nrole = \"state\"\n", false)
		if found := strings.Contains(strings.Join(sum.Texts(), "\n"), "alternate between several"); found != two {
			t.Errorf("%s: alternates %v", name, found)
		}
	}
}
