package node

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// clock is one that a test sets.
type clock struct{ unix, steady int64 }

func (c *clock) read() (unix, steady int64) { return c.unix, c.steady }
func (c *clock) pass(ns int64)              { c.unix += ns; c.steady += ns }

// offline returns a node whose time is the test's, with a link of which the test
// sees what is sent.
func offline(t *testing.T, cfg Config) (*Node, *clock, *nats.Conn, *listener) {
	t.Helper()
	return offlineWith(t, cfg, pendulum())
}

// offlineWith is offline with another model.
func offlineWith(t *testing.T, cfg Config, m *model.Model) (*Node, *clock, *nats.Conn, *listener) {
	t.Helper()
	c := &clock{unix: 5e18 / 4}
	cfg.Vehicle, cfg.Clock = "v1", c.read
	n, err := New(cfg, m)
	if err != nil {
		t.Fatal(err)
	}
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	return n, c, nc, listen(t, nc, wire.AllPredictions)
}

// arrive lets a state come that was measured age ns ago.
func (c *clock) arrive(n *Node, seq uint64, age int64, x ...float64) wire.State {
	s := wire.State{Seq: seq, T: c.unix - age, X: x, U: []float64{0.3}}
	n.intake.Receive(s.Append(nil), 0)
	return s
}

// A state propagated to the tick and predicted from there is what two predictions
// one after the other give; at the state's own time it is one prediction.
func TestATickPredictsFromTheStatePropagatedToIt(t *testing.T) {
	n, c, nc, predictions := offline(t, Config{Rate: 100, RobotClock: true})
	m := n.models.current
	s := c.arrive(n, 1, 0, 0.4, -0.3)
	n.worker.tick(nc, 1, c.steady)
	first := predictions.prediction()
	plain, err := estimator.NewFast(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := plain.NewPrediction()
	plain.Predict(want, &estimator.Query{X0: s.X, U: s.U})
	if first.T != s.T || first.Age != 0 || first.Tick != 1 || first.Flags != wire.Chained || !near(first.Mean, want.Mean, 1e-9) || !near(first.Std, want.Std, 1e-9) {
		t.Errorf("at the state's own time: %+v\nwant %+v", first, want)
	}

	const age = 0.137 // s
	to, err := estimator.NewFast(m, []float64{age})
	if err != nil {
		t.Fatal(err)
	}
	there := to.NewPrediction()
	to.Predict(there, &estimator.Query{X0: s.X, U: s.U})
	P := make([]float64, m.K*m.K)
	for k := range m.K {
		P[k*m.K+k] = there.Std[k] * there.Std[k]
	}
	plain.Predict(want, &estimator.Query{X0: there.Mean, P0: P, U: s.U})
	c.pass(137 * ms)
	n.worker.tick(nc, 2, c.steady)
	got := predictions.prediction()
	if got.T != s.T+137*ms || math.Abs(got.Age-age) > 1e-9 || got.Seq != 1 || got.ValidUntil != got.T+1e9 {
		t.Errorf("times: %+v", got)
	}
	// Between the points of the propagator the mean is off by a part of the spread that
	// nobody sees.
	for i, v := range got.Mean {
		if d := math.Abs(v - want.Mean[i]); d > 0.02*want.Std[i] {
			t.Errorf("mean %d is %v, two predictions give %v ± %v", i, v, want.Mean[i], want.Std[i])
		}
		if r := got.Std[i] / want.Std[i]; r < 0.95 || r > 1.05 {
			t.Errorf("std %d is %v, two predictions give %v", i, got.Std[i], want.Std[i])
		}
	}
}

func near(a, b []float64, tolerance float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= tolerance*(1+math.Abs(y)) })
}

// First widened, then flagged, then stopped.
func TestOldStates(t *testing.T) {
	for _, rate := range []float64{0, 50} {
		n, c, nc, predictions := offline(t, Config{Rate: rate, AgeLimit: 50 * time.Millisecond, RobotClock: true})
		reference, _, _, _ := offline(t, Config{Rate: rate, AgeLimit: 50 * time.Millisecond, RobotClock: true})
		reference.worker.settings.AgeLimit = int64(time.Hour)
		for i, age := range []int64{0, 49, 75, 99, 150, 199, 201} {
			seq := uint64(i + 1)
			c.arrive(n, seq, 0, 0.1, 0.2)
			c.pass(age * ms)
			if rate > 0 {
				n.worker.tick(nc, seq, c.steady)
			} else {
				n.worker.answer(nc, n.intake.Mailbox.Get())
			}
			if age > 200 {
				break
			}
			plain, r := reference.worker.engine.Step(&n.worker.task)
			if r != wire.OK {
				t.Fatal(r)
			}
			p := predictions.prediction()
			factor, flags := 1., wire.Flags(0)
			if age > 50 {
				factor, flags = float64(age)/50, wire.Widened
			}
			if age > 100 {
				flags |= wire.Stale
			}
			if got := p.Flags & (wire.Widened | wire.Stale); got != flags {
				t.Errorf("rate %v, age %d ms: flags %b, want %b", rate, age, got, flags)
			}
			for j, v := range plain.Std {
				if math.Abs(p.Std[j]/v-factor) > 1e-9 || math.Abs(p.ObsStd[j]/plain.ObsStd[j]-factor) > 1e-9 {
					t.Fatalf("rate %v, age %d ms: std %v, the model has %v, want %v times", rate, age, p.Std[j], v, factor)
				}
			}
			if !slices.Equal(p.Mean, plain.Mean) {
				t.Errorf("rate %v, age %d ms: another mean", rate, age)
			}
			c.pass(20 * ms)
		}
		st := n.compose(0)
		list := st.Reasons
		if rate > 0 {
			list = st.Silent
		}
		if len(list) != 1 || list[0].Reason != "stale" || list[0].Count != 1 || st.Widened != 4 {
			t.Errorf("rate %v: counted %+v, %d widened", rate, list, st.Widened)
		}
		if len(predictions.msgs) > 0 {
			t.Error("something was predicted from a state that is too old")
		}
	}
}

// A wall clock that is set back while a state waits changes no age. Set forward it
// makes predictions useless to planners that share it, so none is sent.
func TestAgesDoNotDependOnTheWallClock(t *testing.T) {
	n, c, nc, predictions := offline(t, Config{Rate: 100})
	c.arrive(n, 1, 3*ms, 0.1, 0.2)
	c.pass(10 * ms)
	c.unix -= 3600e9
	n.worker.tick(nc, 1, c.steady)
	if p := predictions.prediction(); math.Abs(p.Age-0.013) > 1e-9 {
		t.Errorf("age %v s", p.Age)
	}
	c.unix += 2 * 3600e9
	n.worker.tick(nc, 2, c.steady)
	if n.counters.Counts().Silent[wire.Expired] != 1 || n.counters.Counts().Published != 1 {
		t.Errorf("counted %v", n.counters.Counts().Silent)
	}
}

// A model that needs longer than a tick is asked for less of the horizon; that is
// flagged, counted, and as good as the whole where it reaches.
func TestAnOverrunShortensTheHorizon(t *testing.T) {
	n, c, nc, predictions := offline(t, Config{Rate: 100})
	cost := []int64{35 * ms, 14 * ms, 6 * ms, 3 * ms}
	for i := range n.worker.engine.Loaded.Ladder.Costs {
		n.worker.engine.Loaded.Ladder.Costs[i].Mean = float64(cost[min(i, len(cost)-1)])
	}
	s := c.arrive(n, 1, 0, 0.1, 0.2)
	n.worker.tick(nc, 1, c.steady)
	p := predictions.prediction()
	plain, err := estimator.NewFast(n.models.current, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := plain.NewPrediction()
	plain.Predict(want, &estimator.Query{X0: s.X, U: s.U})
	if len(p.Horizon) != 2 || p.Flags&wire.Shortened == 0 || !slices.Equal(p.Horizon, want.Times[:2]) || !near(p.Mean, want.Mean[:4], 1e-9) || len(p.Factor) != 4 {
		t.Errorf("predicted %+v", p)
	}
	if p.ValidUntil != p.T+int64(0.2*1e9) {
		t.Errorf("valid for %v ns, and the horizon ends at 0.2 s", p.ValidUntil-p.T)
	}
	// A tick that begins late has less time left.
	due := c.steady
	c.pass(5 * ms)
	n.worker.tick(nc, 2, due)
	if p := predictions.prediction(); len(p.Horizon) != 1 {
		t.Errorf("with half of the time gone %d points were predicted", len(p.Horizon))
	}
	st := n.compose(0)
	if st.Shortened != 2 || st.Ticks != 2 || st.Published != 2 || st.Used != 1 {
		t.Errorf("status %+v", st)
	}
	// When there is time again the whole horizon comes back by itself.
	for i := range 2000 {
		c.pass(10 * ms)
		c.arrive(n, uint64(i+2), 0, 0.1, 0.2)
		n.worker.tick(nc, uint64(i+3), c.steady)
		if p = predictions.prediction(); len(p.Horizon) == 10 {
			return
		}
	}
	t.Error("the horizon stays short")
}

// In earnest: ticks of the clock, states that come slower, faster and not at all.
func TestFixedRate(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	run(t, nc, Config{Rate: 200, AgeLimit: 250 * time.Millisecond, Clock: SystemClock()}, pendulum())
	predictions := listen(t, nc, wire.AllPredictions)
	statuses := listen(t, nc, wire.StatusSubject("v1"))
	st := statuses.status("ticks without a state", func(s *wire.Status) bool { return s.Ticks > 10 })
	if st.Published != 0 || st.Mode != wire.ModeRate || st.Rate != 200 || len(st.Silent) == 0 {
		t.Errorf("before a state came: %+v", st)
	}
	sendAt(t, nc, 1, time.Now().UnixNano())
	tick := uint64(0)
	for range 5 {
		p := predictions.prediction()
		if p.Tick <= tick || p.Seq != 1 || p.Flags&wire.Chained == 0 || p.Age < 0 || p.Age > 1 {
			t.Fatalf("after tick %d: %+v", tick, p)
		}
		tick = p.Tick
	}
	st = statuses.status("silence after the last state", func(s *wire.Status) bool {
		return slices.ContainsFunc(s.Silent, func(r wire.ReasonCount) bool { return r.Reason == "stale" })
	})
	sum := st.Published
	for _, r := range st.Silent {
		sum += r.Count
	}
	if d := st.Ticks - sum; d > 1 { // one is being worked on
		t.Errorf("%d ticks, %d are accounted for", st.Ticks, sum)
	}
	var names []string
	for _, p := range st.Phases {
		names = append(names, p.Name)
	}
	if d := cmp.Diff([]string{"decode", "predict", "encode", "publish"}, names); d != "" {
		t.Errorf("phases: %s", d)
	}
}

func TestRateNeedsAModelThatStartsAtTheState(t *testing.T) {
	m := pendulum()
	m.Displacement = false
	for i := range m.Members {
		m.Members[i].Map.Gated = false
	}
	m.Origin = make([]float64, m.K)
	if _, err := New(Config{Vehicle: "v1", Rate: 100}, m); err == nil {
		t.Error("a model in the paper's form was taken")
	}
	for _, rate := range []float64{-1, 0.5, 1e6, math.NaN()} {
		if _, err := New(Config{Vehicle: "v1", Rate: rate}, pendulum()); err == nil {
			t.Errorf("rate %v was taken", rate)
		}
	}
}

// A tick with a new state costs more than those after it; that shortens its
// horizon, and no other's.
func TestANewStateShortensItsOwnTickOnly(t *testing.T) {
	n, c, nc, predictions := offline(t, Config{Rate: 100})
	ladder := &n.worker.engine.Loaded.Ladder
	for i := range ladder.Costs {
		ladder.Costs[i] = prediction.Cost{Mean: float64([]int64{5, 3, 2, 1}[min(i, 3)] * ms)}
	}
	ladder.Propagation = prediction.Cost{Mean: float64(4 * ms)}
	for i := range uint64(20) {
		if i%4 == 0 {
			c.arrive(n, i+1, 0, 0.1, 0.2)
		}
		n.worker.tick(nc, i+1, c.steady)
		p := predictions.prediction()
		if want := map[bool]int{true: 5, false: 10}[i%4 == 0]; len(p.Horizon) != want {
			t.Errorf("tick %d: %d points, want %d", i, len(p.Horizon), want)
		}
		c.pass(10 * ms)
		// The clock stands still within a tick: what was learned of costs is nothing.
		ladder.Propagation = prediction.Cost{Mean: float64(4 * ms)}
		ladder.Costs[0] = prediction.Cost{Mean: float64(5 * ms)}
		ladder.Costs[1] = prediction.Cost{Mean: float64(3 * ms)}
	}
}
