package prediction

import (
	"errors"
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/node/internal/intake"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// states are those of a robot that moves as a model predicts from its first one, at 100 Hz.
type states struct {
	t      *testing.T
	e      *Engine
	now    int64 // ns, on the robot's clock
	steady int64 // ns
}

func (s *states) clock() (unix, steady int64) { return s.now, s.steady }

// step lets the engine predict from the next state, x, and learn from it; a full window is scored.
func (s *states) step(seq uint64, x []float64) {
	s.steady += 10e6
	a := &intake.Arrival{At: s.steady, State: wire.State{Seq: seq, T: s.now, X: x, U: []float64{0.3}}}
	s.e.Take(a)
	task := Task{Arrival: a, Due: s.steady, Fresh: true, Clock: s.clock}
	if _, r := s.e.Step(&task); r != wire.OK {
		s.t.Fatal(r)
	}
	if s.e.Learn(&task) {
		s.e.Shadow.Score(s.clock)
	}
}

func shadowed(t *testing.T, gain float64) *states {
	t.Helper()
	settings := &journal.Settings{Fast: true, Validity: 1e9, AgeLimit: 1e9, NoTrust: true}
	flown, err := Load(settings, pendulum(), false)
	if err != nil {
		t.Fatal(err)
	}
	e := NewEngine(settings, flown)
	other := pendulum()
	other.ID = "shadow"
	for k := range other.Scale {
		other.Scale[k] *= gain
	}
	if e.Shadow, err = NewShadow(settings, other, flown.Model, flown.Times, 10e6); err != nil {
		t.Fatal(err)
	}
	return &states{t: t, e: e, now: 1e9}
}

// The shadow of the same model has the same scores, over as many windows as there is time for.
func TestTheShadowOfTheSameModel(t *testing.T) {
	s := shadowed(t, 1)
	var seq uint64
	step := func() {
		seq++
		s.now += 10e6
		at := float64(seq) * 0.1
		s.step(seq, []float64{0.1 * math.Sin(at), 0.1 * math.Cos(at)})
	}
	for range 1010 {
		step()
	}
	var r wire.LoadedModel
	s.e.Shadow.Report(&r)
	if r.Windows != 10 || r.Skipped != 0 || r.Model != "shadow" || len(r.Buckets) != 4 || len(r.CRPS) != 8 {
		t.Fatalf("%+v", r)
	}
	for i := range r.CRPS {
		if math.Abs(r.CRPS[i]-r.FlownCRPS[i]) > 1e-6*r.FlownCRPS[i] || r.CRPS[i] <= 0 {
			t.Errorf("series %d: %v and %v", i, r.CRPS[i], r.FlownCRPS[i])
		}
	}
	with := testing.AllocsPerRun(300, step)
	s.e.Shadow = nil
	if without := testing.AllocsPerRun(300, step); with != without {
		t.Errorf("%v allocations with a shadow, %v without", with, without)
	}
}

// At a fixed rate windows begin at ticks, with the state propagated to them.
func TestAShadowAtAFixedRate(t *testing.T) {
	settings := &journal.Settings{Fast: true, Validity: 1e9, AgeLimit: 250e6, Rate: 100, NoTrust: true}
	flown, err := Load(settings, pendulum(), false)
	if err != nil {
		t.Fatal(err)
	}
	e := NewEngine(settings, flown)
	if e.Shadow, err = NewShadow(settings, pendulum(), flown.Model, flown.Times, 20e6); err != nil {
		t.Fatal(err)
	}
	var a *intake.Arrival
	now := int64(1e9)
	clock := func() (unix, steady int64) { return now, now }
	for i := range 420 {
		if now += 10e6; i%2 == 0 {
			at := float64(i) * 0.1
			a = &intake.Arrival{At: now, State: wire.State{Seq: uint64(i + 1), T: now, X: []float64{0.1 * math.Sin(at), 0.1 * math.Cos(at)}, U: []float64{0.3}}}
			e.Take(a)
		}
		task := Task{Arrival: a, Tick: uint64(i + 1), Due: now, Fresh: i%2 == 0, Clock: clock}
		if _, r := e.Step(&task); r != wire.OK {
			t.Fatal(r)
		}
		if e.Learn(&task) {
			e.Shadow.Score(clock)
		}
	}
	var r wire.LoadedModel
	if e.Shadow.Report(&r); r.Windows < 3 || r.Skipped != 0 {
		t.Fatalf("%+v", r)
	}
	for i := range r.CRPS {
		if math.Abs(r.CRPS[i]-r.FlownCRPS[i]) > 1e-6*r.FlownCRPS[i] {
			t.Errorf("series %d: %v and %v", i, r.CRPS[i], r.FlownCRPS[i])
		}
	}
}

// Windows in which measurements are missing are left out, and time that goes back ends one.
func TestWindowsOfAShadow(t *testing.T) {
	s := shadowed(t, 1)
	for i := range 6 {
		s.now += 240e6 // too seldom for the first bucket
		s.step(uint64(i+1), []float64{0.1, 0.1})
	}
	var r wire.LoadedModel
	if s.e.Shadow.Report(&r); r.Windows != 0 || r.Skipped != 1 {
		t.Errorf("%+v", r)
	}
	s.now -= 2e9
	s.step(7, []float64{0.1, 0.1})
	for i := range 105 {
		s.now += 10e6
		s.step(uint64(i+8), []float64{0.1, 0.1})
	}
	if s.e.Shadow.Report(&r); r.Windows != 1 {
		t.Errorf("%+v", r)
	}
}

// What cannot be compared is refused.
func TestShadowsRefused(t *testing.T) {
	settings := &journal.Settings{Fast: true, Validity: 1e9, AgeLimit: 1e9}
	m := pendulum()
	short := pendulum()
	short.Horizon = 0.4
	if _, err := NewShadow(settings, short, m, []float64{0.5, 1}, 0); err == nil {
		t.Error("a short horizon")
	}
	if _, err := NewShadow(settings, m, m, []float64{5e-10, 1e-9}, 0); !errors.Is(err, errSlow) {
		t.Errorf("a model that does not predict in a nanosecond: %v", err)
	}
	swapped := pendulum()
	swapped.Channels[0], swapped.Channels[1] = swapped.Channels[1], swapped.Channels[0]
	if _, err := NewShadow(settings, swapped, m, []float64{0.5, 1}, 0); err == nil {
		t.Error("other channels")
	}
}
