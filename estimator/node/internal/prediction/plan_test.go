package prediction

import (
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/intake"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// planner returns an engine of the pendulum, which has a horizon of one second, that takes
// no plan without times on trust.
func planner(t *testing.T, s *journal.Settings) func(state wire.State) *Message {
	t.Helper()
	s.Vehicle, s.Validity, s.AgeLimit, s.TimedPlans = "v1", 1e9, 1e9, true
	e := NewEngine(s, load(t, s, pendulum()))
	seq := uint64(0)
	return func(state wire.State) *Message {
		t.Helper()
		seq++
		if state.Seq == 0 {
			state.Seq = seq
		}
		state.T, state.X = int64(state.Seq)*10*ms, []float64{0.3, -0.1}
		a := &intake.Arrival{State: state}
		e.Take(a)
		m, reason := e.Step(&Task{Arrival: a, Fresh: true, Clock: func() (unix, steady int64) { return 0, 0 }})
		if reason != wire.OK {
			t.Fatal(reason)
		}
		return m
	}
}

// answer returns the mean under a plan over the whole horizon.
func answer(t *testing.T, m *model.Model, q estimator.Query) []float64 {
	t.Helper()
	p, err := estimator.New(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.X0 = []float64{0.3, -0.1}
	d := p.NewPrediction()
	if !p.Predict(d, &q) {
		t.Fatal("no prediction")
	}
	return d.Mean
}

// A plan has the times that its sender gives it: it is cut where it is longer than the
// horizon, held where it is shorter, and both are flagged.
func TestAPlanHasItsOwnTimes(t *testing.T) {
	step := planner(t, &journal.Settings{})
	m := pendulum()
	whole := []float64{1, -2, 3, -1}
	for name, c := range map[string]struct {
		plan  []float64
		dt    float64
		same  []float64 // by four rows of a quarter of a second
		flags wire.Flags
	}{
		"of the horizon": {whole, 0.25, whole, 0},
		"longer":         {append(slices.Clone(whole), 5, 6, 7, 8), 0.25, whole, wire.PlanCut},
		"shorter":        {whole[:2], 0.25, []float64{1, -2, -2, -2}, wire.PlanHeld},
		"other steps":    {[]float64{1, 1, -2, -2, 3, 3, -1, -1}, 0.125, whole, 0},
		"of an instant":  {[]float64{1, -2}, 1e-300, []float64{-2}, wire.PlanHeld},
		"no divisor":     {[]float64{1, -2, 5}, 0.5, []float64{1, 1, -2, -2}, wire.PlanCut},
	} {
		got := step(wire.State{Plan: c.plan, PlanDt: c.dt})
		if want := answer(t, m, estimator.Query{Plan: c.same}); !near(got.Mean, want, 1e-9) || got.Flags != c.flags || got.Inputs != "plan" {
			t.Errorf("%s: mean %v with flags %#x, want %v with %#x", name, got.Mean, got.Flags, want, c.flags)
		}
	}
}

// A plan without times counts after its sender has shown that it knows the horizon, until
// it starts again, is silent for more than a second, or shows another one.
func TestAPlanWithoutTimes(t *testing.T) {
	step := planner(t, &journal.Settings{})
	m := pendulum()
	plan := []float64{1, -2, 3, -1}
	planned, held, first := answer(t, m, estimator.Query{Plan: plan}), answer(t, m, estimator.Query{U: []float64{0.5}}), answer(t, m, estimator.Query{U: []float64{1}})
	for i, c := range []struct {
		state wire.State
		mean  []float64
		flags wire.Flags
	}{
		{wire.State{Plan: plan, U: []float64{0.5}}, held, wire.PlanUnused},
		{wire.State{Plan: plan}, first, wire.PlanUnused},
		{wire.State{Plan: plan, PlanDt: 0.25}, planned, 0},
		{wire.State{Plan: plan}, planned, 0},
		{wire.State{U: []float64{0.5}}, held, 0},
		{wire.State{Plan: plan}, planned, 0},
		{wire.State{Plan: slices.Repeat(plan, 2), PlanDt: 0.25}, planned, wire.PlanCut},
		{wire.State{Plan: plan}, first, wire.PlanUnused},
		{wire.State{Plan: plan, PlanDt: 0.25}, planned, 0},
		{wire.State{Plan: plan, Seq: 2}, first, wire.PlanUnused},
		{wire.State{Plan: plan, PlanDt: 0.25, Seq: 1000}, planned, 0},
		{wire.State{Plan: plan, Seq: 1050}, planned, 0}, // half a second later
		{wire.State{Plan: plan, Seq: 1200}, first, wire.PlanUnused},
	} {
		if got := step(c.state); !near(got.Mean, c.mean, 1e-9) || got.Flags != c.flags || (got.Inputs == "plan") != (&c.mean[0] == &planned[0]) {
			t.Errorf("state %d: mean %v with flags %#x by %s, want %v with %#x", i, got.Mean, got.Flags, got.Inputs, c.mean, c.flags)
		}
	}
}

// Beyond the horizon the rows of a long plan go on, where the prediction is chained.
func TestAPlanGoesOnInTheNextSegment(t *testing.T) {
	times := []float64{0.5, 1, 1.5, 2}
	step := planner(t, &journal.Settings{Chain: true, Times: times})
	long := step(wire.State{Plan: []float64{1, -2, 3, -1}, PlanDt: 0.5})
	if long.Flags != wire.Chained {
		t.Errorf("flags %#x", long.Flags)
	}
	mean := slices.Clone(long.Mean)
	short := step(wire.State{Plan: []float64{1, -2}, PlanDt: 0.5})
	if short.Flags != wire.Chained|wire.PlanHeld || !near(mean[:4], short.Mean[:4], 1e-9) || near(mean[4:6], short.Mean[4:6], 1e-3) {
		t.Errorf("flags %#x, %v and %v", short.Flags, mean, short.Mean)
	}
}
