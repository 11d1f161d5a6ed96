package prediction

import (
	"math"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node/internal/intake"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

const ms = int64(1e6)

// reading is the pendulum with a history of four rows over 100 ms.
func reading() *model.Model {
	return artificial.New(artificial.Size{
		K: 2, P: 1, Features: 20, Basis: 1, Points: 10, Horizon: 1, History: []float64{0.01, 0.02, 0.05, 0.1},
	}, 1)
}

// state is that of a motion, 10 ms after the one before it.
func state(i int) *wire.State {
	t := 0.01 * float64(i)
	return &wire.State{Seq: uint64(i), T: int64(i) * 10 * ms, X: []float64{math.Sin(3 * t), 3 * math.Cos(3*t)}, U: []float64{t}}
}

func TestHistoryBeforeAState(t *testing.T) {
	p := newPast(reading())
	want, rows := history.NewBuffer(p.model.Channels[:2], 1, p.model.History), make([]float64, 12)
	for i := range 40 {
		s := state(i)
		u := s.U[0]
		switch i % 4 {
		case 1:
			s.Plan = []float64{8, 9}
		case 2:
			s.U, s.Plan, u = nil, []float64{8, 9}, 8
		case 3:
			s.U, u = nil, 0 // the model's mean
		}
		if r := p.add(s); r != history.Continued {
			t.Fatal(r)
		}
		want.Add(s.T, s.X, []float64{u})
		n := want.Fill(rows, s.T, s.X)
		if got := p.beforeState(s); !slices.Equal(got, rows[:3*n]) || p.missed != (i < 10) || (got == nil) != (n == 0) {
			t.Fatalf("state %d: rows %v, want %v; missed %v", i, got, rows[:3*n], p.missed)
		}
	}
}

// The rows before a tick are those of a state that is measured up to the newest message
// and then goes on as propagated, under its plan.
func TestHistoryBeforeATick(t *testing.T) {
	for name, plan := range map[string][]float64{"held": nil, "plan": {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}} {
		m := reading()
		p := newPast(m)
		b, err := newPropagator(&Predictors{Model: m}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var s *wire.State
		for i := range 40 {
			s = state(i)
			p.add(s)
		}
		s.Plan = plan
		if !b.start(&estimator.Query{X0: s.X, U: s.U, Plan: s.Plan}, m.Sensor) {
			t.Fatal("no prediction")
		}
		planned := feature.Plan{Values: plan, P: 1, Step: 0.05}
		at := func(ns int64) (x []float64, u float64) { // ns after the state
			if ns > 0 {
				b.at(seconds(ns))
				held := s.U
				if plan != nil {
					held = []float64{0}
					planned.At(held, seconds(ns))
				}
				return slices.Clone(b.x), held[0]
			}
			i := int(s.T+ns) / int(10*ms)
			before, after := state(i), state(i+1)
			w := float64(s.T+ns-before.T) / float64(10*ms)
			return []float64{before.X[0] + w*(after.X[0]-before.X[0]), before.X[1] + w*(after.X[1]-before.X[1])}, before.U[0]
		}
		for i, age := range []int64{ms, 7 * ms, 31 * ms, 77 * ms, 300 * ms} {
			got := slices.Clone(p.beforeTick(s, planned, age, i == 0, b))
			if b.at(seconds(age)); len(got) != 12 || p.missed {
				t.Fatalf("%s, age %d: %v", name, age, got)
			}
			end := age
			for j, e := range m.History.Edges {
				begin := age - int64(math.Round(e*1e9))
				const parts = 2000
				var mean [3]float64
				for r := range parts {
					x, u := at(begin + (end-begin)*int64(2*r+1)/(2*parts))
					mean[0], mean[1], mean[2] = mean[0]+x[0]/parts, mean[1]+x[1]/parts, mean[2]+u/parts
				}
				if row := got[3*j : 3*j+3]; !near(row, mean[:], 2e-3) {
					t.Errorf("%s, age %d ms, row %d: %v, want %v", name, age/ms, j+1, row, mean)
				}
				end = begin
			}
		}
	}
}

// steps returns the flags and the history of the answers to states.
func steps(t *testing.T, e *Engine, states ...*wire.State) (flagged []bool, rows []int) {
	t.Helper()
	for _, s := range states {
		a := &intake.Arrival{State: *s}
		e.Take(a)
		m, reason := e.Step(&Task{Arrival: a, Fresh: true, Clock: func() (unix, steady int64) { return 0, 0 }})
		if reason != wire.OK {
			t.Fatal(reason)
		}
		flagged, rows = append(flagged, m.Flags&wire.NoHistory != 0), append(rows, len(e.query.History)/3)
	}
	return flagged, rows
}

func engine(t *testing.T, m *model.Model) *Engine {
	t.Helper()
	s := &journal.Settings{Vehicle: "v1", Validity: 1e9, AgeLimit: 1e9, Fast: true}
	return NewEngine(s, load(t, s, m))
}

func load(t *testing.T, s *journal.Settings, m *model.Model) *Loaded {
	t.Helper()
	l, err := Load(s, m, false)
	if err != nil {
		t.Fatal(err)
	}
	l.Warm(func() (unix, steady int64) { return 0, 0 }, false)
	return l
}

// What is not enough history is flagged, and counted by its cause.
func TestWithoutEnoughHistory(t *testing.T) {
	e := engine(t, reading())
	var states []*wire.State
	for i := range 14 {
		states = append(states, state(i))
	}
	after := func(i int, by int64) *wire.State { s := state(i); s.T += by; return s }
	states = append(states, after(14, 50*ms), after(15, 50*ms), after(0, 0), after(1, 0))
	flagged, rows := steps(t, e, states...)
	if want := []int{0, 1, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 0, 1, 0, 1}; !slices.Equal(rows, want) {
		t.Errorf("rows %v, want %v", rows, want)
	}
	for i, n := range rows {
		if flagged[i] != (n < 4) {
			t.Errorf("state %d: %d rows, flagged %v", i, n, flagged[i])
		}
	}
	var r Report
	e.Report(&r)
	if r.HistoryRows != 4 || r.Resets[history.Gap] != 1 || r.Resets[history.Backward] != 1 {
		t.Errorf("reported %+v", r)
	}
	flagged, rows = steps(t, engine(t, pendulum()), states...)
	if slices.Contains(flagged, true) || slices.Max(rows) > 0 {
		t.Errorf("of a model that reads none: %v, flagged %v", rows, flagged)
	}
}

// Another model continues with the samples of the one before it, by its own rows.
func TestHistoryOverASwap(t *testing.T) {
	e := engine(t, reading())
	var states []*wire.State
	for i := range 14 {
		states = append(states, state(i))
	}
	steps(t, e, states[:12]...)
	other := artificial.New(artificial.Size{K: 2, P: 1, Features: 20, Basis: 1, Points: 10, Horizon: 1, History: []float64{0.02, 0.08}}, 1)
	e.Use(load(t, e.settings, other))
	if flagged, rows := steps(t, e, states[12]); flagged[0] || rows[0] != 2 {
		t.Errorf("after a swap: %v rows", rows)
	}
	e.Use(load(t, e.settings, pendulum()))
	e.Use(load(t, e.settings, reading()))
	if flagged, rows := steps(t, e, states[13]); !flagged[0] || rows[0] != 0 {
		t.Errorf("after a model that reads none: %v rows", rows)
	}
}

// stub is a predictor that notes its queries.
type stub struct {
	Predictor
	rows []int
}

func (s *stub) Predict(dst *estimator.Prediction, q *estimator.Query) bool {
	s.rows = append(s.rows, len(q.History))
	return s.Predictor.Predict(dst, q)
}

func TestSegmentsBeyondTheHorizonHaveNoHistory(t *testing.T) {
	c, err := newRollout(&Predictors{Model: reading()}, []float64{0.5, 1.5, 3}, true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.segments {
		c.segments[i].predictor = &stub{Predictor: c.segments[i].predictor}
	}
	c.predict(c.newPrediction([]float64{0.5, 1.5, 3}), &estimator.Query{X0: []float64{0, 0}, History: make([]float64, 12)})
	for i := range c.segments {
		if got, want := c.segments[i].predictor.(*stub).rows, []int{12, 0, 0}[i]; !slices.Equal(got, []int{want}) {
			t.Errorf("segment %d has %v numbers of history, want %d", i, got, want)
		}
	}
}

func TestStepsWithHistoryAllocateNothing(t *testing.T) {
	for _, rate := range []float64{0, 100} {
		s := &journal.Settings{Vehicle: "v1", Validity: 1e9, AgeLimit: 1e9, Fast: true, Rate: rate}
		e := NewEngine(s, load(t, s, reading()))
		a := &intake.Arrival{State: *state(0)}
		task := Task{Arrival: a, Clock: func() (unix, steady int64) { return 0, 0 }}
		if n := testing.AllocsPerRun(100, func() {
			a.State.T += 10 * ms
			e.Take(a)
			for tick := range uint64(3) {
				task.Fresh = tick == 0
				if rate > 0 {
					task.Tick, task.Due = tick+1, int64(tick)*15*ms
				}
				if _, reason := e.Step(&task); reason != wire.OK {
					t.Fatal(reason)
				}
				e.Learn(&task)
			}
		}); n != 0 {
			t.Errorf("rate %g: %v allocations", rate, n)
		}
	}
}
