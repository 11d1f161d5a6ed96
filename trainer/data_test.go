package trainer

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// swing records a minute of a driven swing at 200 Hz in one segment, with a little
// noise.
func swing(seed uint64) *flightlog.Log {
	log := &flightlog.Log{Path: "swing.msgpack", Header: flightlog.Header{Vehicle: "swing", Channels: []channel.Channel{
		{Name: "angle", Unit: "rad", Role: channel.State, Derivative: "rate"},
		{Name: "rate", Unit: "rad/s", Role: channel.State},
		{Name: "force", Unit: "N", Role: channel.Input},
	}}}
	rng := rand.New(rand.NewPCG(seed, 1))
	s := flightlog.Segment{Name: "one"}
	x, v := 0.5, 0.0
	for i := range 12000 {
		t := float64(i) * 0.005
		u := math.Sin(1.7*t) + math.Sin(0.6*t+1)
		s.T = append(s.T, int64(i)*5e6)
		s.X = append(s.X, x+0.002*rng.NormFloat64(), v+0.01*rng.NormFloat64())
		s.U = append(s.U, u)
		for range 5 {
			v += 0.001 * (u - 9*x - 0.3*v)
			x += 0.001 * v
		}
	}
	log.Segments = []flightlog.Segment{s}
	return log
}

// unfiltered loads without fitting a filter.
func unfiltered() Config {
	cfg := Default()
	cfg.Horizon, cfg.Filter = Duration(500*time.Millisecond), "off"
	return cfg
}

// Single samples that are missing, wrong or stamped twice take themselves away
// and nothing else.
func TestSmallFaultsExcludeOnlyTheirSamples(t *testing.T) {
	t.Parallel()
	cfg := unfiltered()
	whole, err := Load([]*flightlog.Log{swing(3)}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	windows := len(window.Cut(whole.Flights, 0.5, 0))
	for _, c := range []struct {
		name    string
		spoil   func(s *flightlog.Segment, i int)
		share   float64
		apart   int     // samples from one to the next at least
		samples float64 // share that must remain
		starts  float64 // share of windows that must remain
	}{
		{"states not measured", func(s *flightlog.Segment, i int) { s.X[2*i+i%2] = math.NaN() }, 0.1, 0, 1, 0.88},
		{"inputs not measured", func(s *flightlog.Segment, i int) { s.U[i] = math.NaN() }, 0.05, 0, 1, 0.99},
		{"infinite", func(s *flightlog.Segment, i int) { s.X[2*i] = math.Inf(1) }, 0.02, 0, 1, 0.96},
		{"stamped twice", func(s *flightlog.Segment, i int) { s.T[i] = s.T[i-1] }, 0.02, 0, 0.97, 0.97},
		{"stamps swapped", func(s *flightlog.Segment, i int) { s.T[i], s.T[i-1] = s.T[i-1], s.T[i] }, 0.01, 3, 0.97, 0.97},
		{"spikes", func(s *flightlog.Segment, i int) { s.X[2*i+1] += 30 }, 0.005, 60, 1, 0.98},
	} {
		log := swing(3)
		rng := rand.New(rand.NewPCG(4, 4))
		s := &log.Segments[0]
		for i := 10; i < len(s.T)-10; i++ {
			if rng.Float64() < c.share {
				c.spoil(s, i)
				i += c.apart
			}
		}
		before := slices.Clone(s.X)
		d, err := Load([]*flightlog.Log{log}, cfg)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(d.Flights) != 1 {
			t.Errorf("%s: %d flights, want the one there is", c.name, len(d.Flights))
		}
		if n := window.Samples(d.Flights); float64(n) < c.samples*12000 {
			t.Errorf("%s: %d samples remain", c.name, n)
		}
		if n := len(window.Cut(d.Flights, 0.5, 0)); float64(n) < c.starts*float64(windows) {
			t.Errorf("%s: %d of %d windows remain", c.name, n, windows)
		}
		for i := range d.Flights {
			for _, v := range d.Flights[i].X {
				if math.Abs(v) > 10 {
					t.Fatalf("%s: %v is learned from", c.name, v)
				}
			}
		}
		for i, v := range s.X {
			if v != before[i] && !math.IsNaN(v) {
				t.Fatalf("%s: the log itself was changed", c.name)
			}
		}
	}
}

func TestRecordingGivenTwiceIsRefused(t *testing.T) {
	cfg := unfiltered()
	a, other := swing(1), swing(2)
	other.Path = "other.msgpack"
	if _, err := Load([]*flightlog.Log{a, other}, cfg); err != nil {
		t.Fatal(err)
	}
	again := swing(1)
	again.Path = "again.msgpack"
	for i := range again.Segments[0].T {
		again.Segments[0].T[i] += 1e15 // imported with another origin of time
	}
	for _, logs := range [][]*flightlog.Log{{a, a}, {a, other, again}} {
		_, err := Load(logs, cfg)
		if err == nil || !strings.Contains(err.Error(), "same samples as segment 1 (\"one\") of swing.msgpack") {
			t.Errorf("%d logs: %v", len(logs), err)
		}
	}
	inside := swing(1)
	inside.Segments = append(inside.Segments, inside.Segments[0])
	if _, err := Load([]*flightlog.Log{inside}, cfg); err == nil || !strings.Contains(err.Error(), "segment 2") {
		t.Errorf("a segment twice in one log: %v", err)
	}
}

// What cannot be flown under its name is not trained.
func TestAVehicleCanBeASubject(t *testing.T) {
	for _, name := range []string{"ü", "a/b", ""} {
		log := swing(1)
		log.Vehicle = name
		if _, err := Load([]*flightlog.Log{log}, Default()); err == nil || !strings.Contains(err.Error(), "swing.msgpack: ") || !strings.Contains(err.Error(), "under another name") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestAnotherVehicleIsNoted(t *testing.T) {
	cfg := unfiltered()
	a, b := swing(1), swing(2)
	b.Path, b.Vehicle = "b.msgpack", "crane"
	d, err := Load([]*flightlog.Log{a, b}, cfg)
	if err != nil || d.Vehicle != "swing" {
		t.Fatal(d.Vehicle, err)
	}
	var told []Problem
	for _, p := range d.Problems {
		if p.Kind == Vehicle {
			told = append(told, p)
		}
	}
	if len(told) != 1 || told[0].Log != "b.msgpack" || !strings.Contains(told[0].Text, "crane") || !strings.Contains(told[0].Text, "swing") {
		t.Errorf("%+v", d.Problems)
	}
}

// A model has the one spelling of a unit, and logs of two spellings are of one robot.
func TestUnitsOfLogsHaveOneSpelling(t *testing.T) {
	a, b := swing(1), swing(2)
	a.Channels[2].Unit, b.Channels[2].Unit = "N m", "Nm"
	d, err := Load([]*flightlog.Log{a, b}, unfiltered())
	if err != nil {
		t.Fatal(err)
	}
	if unit := d.Channels[2].Unit; unit != "N·m" || a.Channels[2].Unit != "N m" {
		t.Errorf("unit %q", unit)
	}
}
