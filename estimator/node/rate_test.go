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
	n.take(s.Append(nil), 0)
	return s
}

// A state propagated to the tick and predicted from there is what two predictions
// one after the other give; at the state's own time it is one prediction.
func TestATickPredictsFromTheStatePropagatedToIt(t *testing.T) {
	n, c, nc, predictions := offline(t, Config{Rate: 100, RobotClock: true})
	m := n.models.current
	s := c.arrive(n, 1, 0, 0.4, -0.3)
	n.tick(nc, 1, c.steady)
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
	n.tick(nc, 2, c.steady)
	got := predictions.prediction()
	if got.T != s.T+137*ms || math.Abs(got.Age-age) > 1e-9 || got.Seq != 1 || got.ValidUntil != got.T+1e9 {
		t.Errorf("times: %+v", got)
	}
	// Between the points of the bridge the mean is off by a part of the spread that
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

func TestThePlanIsShiftedWithTheTick(t *testing.T) {
	b := bridge{horizon: 1, inputs: 2}
	plan := []float64{0, 10, 1, 20, 2, 30, 3, 40}
	for age, want := range map[float64][]float64{
		0:     plan,
		0.25:  {1, 20, 2, 30, 3, 40, 3, 40},
		0.125: {0.5, 15, 1.5, 25, 2.5, 35, 3, 40},
		0.9:   {3, 40, 3, 40, 3, 40, 3, 40},
		5:     {3, 40, 3, 40, 3, 40, 3, 40},
	} {
		if got := b.planFrom(plan, age); !near(got, want, 1e-12) {
			t.Errorf("after %v s: %v, want %v", age, got, want)
		}
	}
	if b.planFrom(nil, 0.1) != nil {
		t.Error("a plan of nothing")
	}
}

// First widened, then flagged, then stopped.
func TestOldStates(t *testing.T) {
	for _, rate := range []float64{0, 50} {
		n, c, nc, predictions := offline(t, Config{Rate: rate, AgeLimit: 50 * time.Millisecond, RobotClock: true})
		reference, _, _, _ := offline(t, Config{Rate: rate, AgeLimit: 50 * time.Millisecond, RobotClock: true})
		reference.cfg.AgeLimit = time.Hour
		for i, age := range []int64{0, 49, 75, 99, 150, 199, 201} {
			seq := uint64(i + 1)
			c.arrive(n, seq, 0, 0.1, 0.2)
			a := *n.box.waiting[0]
			c.pass(age * ms)
			var k task
			if rate > 0 {
				n.tick(nc, seq, c.steady)
				k = task{a: &a, tick: seq, due: c.steady, fresh: true}
			} else {
				n.answer(nc, n.box.get())
				k = task{a: &a, due: c.steady, fresh: true}
			}
			if age > 200 {
				break
			}
			plain, r := reference.engine.predict(&k)
			if r != wire.OK {
				t.Fatal(r)
			}
			p := predictions.prediction()
			widen, flags := 1., wire.Flags(0)
			if age > 50 {
				widen, flags = float64(age)/50, wire.Widened
			}
			if age > 100 {
				flags |= wire.Stale
			}
			if got := p.Flags & (wire.Widened | wire.Stale); got != flags {
				t.Errorf("rate %v, age %d ms: flags %b, want %b", rate, age, got, flags)
			}
			for j, v := range plain.Std {
				if math.Abs(p.Std[j]/v-widen) > 1e-9 || math.Abs(p.ObsStd[j]/plain.ObsStd[j]-widen) > 1e-9 {
					t.Fatalf("rate %v, age %d ms: std %v, the model says %v, want %v times", rate, age, p.Std[j], v, widen)
				}
			}
			if !slices.Equal(p.Mean, plain.Mean) {
				t.Errorf("rate %v, age %d ms: another mean", rate, age)
			}
			c.pass(20 * ms)
		}
		n.compose(0)
		list := n.status.Reasons
		if rate > 0 {
			list = n.status.Silent
		}
		if len(list) != 1 || list[0].Reason != "stale" || list[0].Count != 1 || n.status.Widened != 4 {
			t.Errorf("rate %v: counted %+v, %d widened", rate, list, n.status.Widened)
		}
		if len(predictions.msgs) > 0 {
			t.Error("something was said from a state that is too old")
		}
	}
}

// The robot's clock runs apart from this one; what a state needs longer than the
// quickest is its age.
func TestTheLeastDelayStandsForTheOffset(t *testing.T) {
	o := offset{window: offsetWindow, resync: 500 * ms}
	const apart = int64(777e12) // robot's clock ahead of the steady one
	at := int64(0)
	arrive := func(delay int64) int64 {
		at += 10 * ms
		return o.take(at+apart, at+delay+3e18, at+delay)
	}
	arrive(5 * ms)
	if d := arrive(2 * ms); d != 0 {
		t.Errorf("the quickest so far has delay %v", d)
	}
	if d := arrive(9 * ms); d != 7*ms {
		t.Errorf("delay %v, want 7 ms", d)
	}
	if s := o.seconds(); math.Abs(s-(float64(apart)-3e18-2e6)*1e-9) > 1e-3 {
		t.Errorf("offset %v s", s)
	}
	for range 1500 { // the quick one is forgotten after one to two windows
		arrive(4 * ms)
	}
	if d := arrive(4 * ms); d != 2*ms {
		t.Errorf("within two windows: delay %v", d)
	}
	for range 1000 {
		arrive(4 * ms)
	}
	if d := arrive(4 * ms); d != 0 {
		t.Errorf("after two windows: delay %v", d)
	}
	at += 3600e9 // the sender was gone, and comes back with another clock
	if d := o.take(5, 0, at); d != 0 {
		t.Errorf("a new clock has delay %v", d)
	}
}

// A wall clock that is set back while a state waits changes no age. Set forward it
// makes predictions useless to planners that share it, so none is sent.
func TestSettingTheClockMakesNothingOld(t *testing.T) {
	n, c, nc, predictions := offline(t, Config{Rate: 100})
	c.arrive(n, 1, 3*ms, 0.1, 0.2)
	c.pass(10 * ms)
	c.unix -= 3600e9
	n.tick(nc, 1, c.steady)
	if p := predictions.prediction(); math.Abs(p.Age-0.013) > 1e-9 {
		t.Errorf("age %v s", p.Age)
	}
	c.unix += 2 * 3600e9
	n.tick(nc, 2, c.steady)
	if n.tally.silent[wire.Expired] != 1 || n.tally.published != 1 {
		t.Errorf("counted %v", n.tally.silent)
	}
}

// A model that needs longer than a tick is asked for less of the horizon; that is
// flagged, counted, and as good as the whole where it reaches.
func TestAnOverrunShortensTheHorizon(t *testing.T) {
	n, c, nc, predictions := offline(t, Config{Rate: 100})
	cost := []int64{35 * ms, 14 * ms, 6 * ms, 3 * ms}
	for i := range n.engine.craft.rungs {
		n.engine.craft.rungs[i].cost.mean = float64(cost[min(i, len(cost)-1)])
	}
	s := c.arrive(n, 1, 0, 0.1, 0.2)
	n.tick(nc, 1, c.steady)
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
	n.tick(nc, 2, due)
	if p := predictions.prediction(); len(p.Horizon) != 1 {
		t.Errorf("with half of the time gone %d points were predicted", len(p.Horizon))
	}
	n.compose(0)
	if n.status.Shortened != 2 || n.status.Ticks != 2 || n.status.Published != 2 || n.status.Used != 1 {
		t.Errorf("status %+v", n.status)
	}
	// When there is time again the whole horizon comes back by itself.
	for i := range 2000 {
		c.pass(10 * ms)
		c.arrive(n, uint64(i+2), 0, 0.1, 0.2)
		n.tick(nc, uint64(i+3), c.steady)
		if p = predictions.prediction(); len(p.Horizon) == 10 {
			return
		}
	}
	t.Error("the horizon stays short")
}

func TestCostsAreNotRuledByOutliers(t *testing.T) {
	var c cost
	for range 1000 {
		c.add(100)
	}
	c.add(50_000) // a stall
	if e := c.expected(); e > 150 {
		t.Errorf("after one stall %v is expected", e)
	}
	for range 200 {
		c.add(300)
	}
	if e := c.expected(); e < 290 || e > 400 {
		t.Errorf("%v is expected of what costs 300", e)
	}
}

// In earnest: ticks of the clock, states that come slower, faster and not at all.
func TestFixedRate(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	run(t, nc, Config{Rate: 200, AgeLimit: 100 * time.Millisecond}, pendulum())
	predictions := listen(t, nc, wire.AllPredictions)
	statuses := listen(t, nc, wire.StatusSubject("v1"))
	st := statuses.status("ticks without a state", func(s *wire.Status) bool { return s.Ticks > 10 })
	if st.Published != 0 || st.Mode != wire.ModeRate || st.Rate != 200 || len(st.Silent) == 0 {
		t.Errorf("before a state came: %+v", st)
	}
	send(t, nc, 1)
	tick := uint64(0)
	for range 30 {
		p := predictions.prediction()
		if p.Tick <= tick || p.Seq != 1 || p.Flags&wire.Chained == 0 || p.Age < 0 || p.Age > 0.4 {
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
	for i := range n.engine.craft.rungs {
		n.engine.craft.rungs[i].cost = cost{mean: float64([]int64{5, 3, 2, 1}[min(i, 3)] * ms)}
	}
	n.bridging = cost{mean: float64(4 * ms)}
	for i := range uint64(20) {
		if i%4 == 0 {
			c.arrive(n, i+1, 0, 0.1, 0.2)
		}
		n.tick(nc, i+1, c.steady)
		p := predictions.prediction()
		if want := map[bool]int{true: 5, false: 10}[i%4 == 0]; len(p.Horizon) != want {
			t.Errorf("tick %d: %d points, want %d", i, len(p.Horizon), want)
		}
		c.pass(10 * ms)
		// The clock stands still within a tick: what was learned of costs is nothing.
		n.bridging = cost{mean: float64(4 * ms)}
		n.engine.craft.rungs[0].cost = cost{mean: float64(5 * ms)}
		n.engine.craft.rungs[1].cost = cost{mean: float64(3 * ms)}
	}
	var k task
	k.a, k.tick, k.fresh = n.newest, 1, true
	before := n.engine.craft.rungs[1].cost
	k.rung = 1
	n.bridging = cost{}
	n.spent(&k, 9*ms)
	if n.bridging.mean != float64(6*ms) || n.engine.craft.rungs[1].cost != before {
		t.Errorf("9 ms, of which 3 for the prediction: %v for the bridge", n.bridging.mean)
	}
}
