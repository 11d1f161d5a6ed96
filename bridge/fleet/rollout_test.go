package fleet

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Looking again and again at two models that are equally good, one of them is hardly ever called better.
func TestLookingAgainDoesNotDecide(t *testing.T) {
	rule := UsualRule()
	src := rand.New(rand.NewPCG(1, 2))
	const trials = 1000
	decided := 0
	for range trials {
		sum, squares := 0.0, 0.0
		for n := 1.0; n <= 1000; n++ {
			d := src.ExpFloat64() - 1 // skewed
			sum, squares = sum+d, squares+d*d
			s := wire.LoadedModel{Windows: uint64(n), Difference: sum / n, DifferenceStd: math.Sqrt((squares - sum*sum/n) / max(n-1, 1))}
			if v, _ := rule.judge(&s); v != undecided {
				decided++
				break
			}
		}
	}
	if share := float64(decided) / trials; share > 0.05 {
		t.Errorf("%.3f of the trials are decided, expected at most 0.05", share)
	} else {
		t.Logf("%.3f of the trials are decided", share)
	}
}

func TestJudge(t *testing.T) {
	rule := UsualRule()
	covered := []float64{0.95, 0.95, 0.9, 0.95}
	for name, c := range map[string]struct {
		s    wire.LoadedModel
		want verdict
	}{
		"few windows":    {wire.LoadedModel{Windows: 29, Difference: -10, DifferenceStd: 1}, undecided},
		"better":         {wire.LoadedModel{Windows: 30, Difference: -1, DifferenceStd: 1, Buckets: []float64{1, 2}, Coverage: covered}, better},
		"within noise":   {wire.LoadedModel{Windows: 30, Difference: -0.1, DifferenceStd: 1, Buckets: []float64{1, 2}, Coverage: covered}, undecided},
		"worse":          {wire.LoadedModel{Windows: 30, Difference: 1, DifferenceStd: 1}, worse},
		"covers too few": {wire.LoadedModel{Windows: 30, Difference: -1, DifferenceStd: 1, Buckets: []float64{1, 2}, Coverage: []float64{0.95, 0.95, 0.8, 0.95}}, undecided},
	} {
		if v, why := rule.judge(&c.s); v != c.want {
			t.Errorf("%s: %v, %s", name, v, why)
		}
	}
}

// simulated vehicles report what a test says.
type simulated struct {
	t  *testing.T
	nc *nats.Conn
	c  *Controller
}

// reports lets a vehicle use a model since a time ago.
func (s *simulated) reports(vehicle, model string, since time.Duration, more func(*wire.Status)) {
	s.t.Helper()
	now := time.Now().UnixNano()
	st := wire.Status{Vehicle: vehicle, Model: model, T: now, Buckets: []float64{1}, Checks: []float64{1000}, Coverage: []float64{0.95}, Models: []wire.LoadedModel{{Model: model, Role: wire.RoleFlown, Since: now - int64(since)}}}
	if more != nil {
		more(&st)
	}
	if err := s.nc.Publish(wire.StatusSubject(vehicle), st.Append(nil)); err != nil {
		s.t.Fatal(err)
	}
	eventually(s.t, "the status of "+vehicle, func() bool { return s.c.Robots.Of(vehicle).Status.T == now })
}

func tries(model string, difference float64) func(*wire.Status) {
	return func(s *wire.Status) {
		s.Models = append(s.Models, wire.LoadedModel{Model: model, Role: wire.RoleShadow, Windows: 40, Difference: difference, DifferenceStd: 1, Buckets: []float64{1}, Coverage: []float64{0.95}})
	}
}

func alarmed(s *wire.Status) { s.Miscalibrated = 2 }

// look carries rollouts on and returns that of the group.
func (s *simulated) look(group string) Rollout {
	s.t.Helper()
	if err := s.c.look(s.t.Context(), true); err != nil {
		s.t.Fatal(err)
	}
	r, err := s.c.In.Rollout(s.t.Context(), group)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// begun returns vehicles a, b and c of group g, which use one model, and a rollout of another one to them.
func begun(t *testing.T) (s *simulated, old, next Model) {
	t.Helper()
	ns := serve(t, Settings{})
	in := installer(t, ns)
	old, next = registered(t, in.Models, "a", 1), registered(t, in.Models, "a", 2)
	g := Group{Name: "g", Vehicles: []string{"a", "b", "c"}}
	if _, err := in.Begin(t.Context(), g, next.Ref(), UsualRule()); err == nil {
		t.Error("begun without models to go back to")
	}
	for _, v := range g.Vehicles {
		if _, err := in.Promote(t.Context(), v, old.Ref(), "first"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := in.Begin(t.Context(), g, next.Ref(), UsualRule()); err != nil {
		t.Fatal(err)
	}
	robots, err := Listen(connect(t, ns))
	if err != nil {
		t.Fatal(err)
	}
	if err := robots.sub.SetPendingLimits(-1, -1); err != nil {
		t.Fatal(err)
	}
	return &simulated{t, connect(t, ns), &Controller{In: in, Robots: robots, Log: func(l string) { t.Log(l) }}}, old, next
}

// wants compares what the vehicles read with models, "" = no shadow.
func (s *simulated) wants(vehicle, flown, shadow string) {
	s.t.Helper()
	f, _ := read(s.t, s.c.In, FlownObject(vehicle))
	sh, _ := read(s.t, s.c.In, ShadowObject(vehicle))
	if f != flown || sh != shadow {
		s.t.Errorf("%s reads %s and shadow %s, expected %s and %s", vehicle, f, sh, flown, shadow)
	}
}

func TestARollout(t *testing.T) {
	s, old, next := begun(t)
	if r := s.look("g"); r.Stage != StageShadow {
		t.Fatalf("%+v", r)
	}
	for _, v := range []string{"a", "b", "c"} {
		s.wants(v, old.ID, next.ID)
	}
	s.reports("a", old.ID, time.Hour, tries(next.ID, -0.1))
	if r := s.look("g"); r.Stage != StageShadow {
		t.Errorf("within noise: %+v", r)
	}
	s.reports("a", old.ID, time.Hour, tries(next.ID, -1))
	if r := s.look("g"); r.Stage != StageCanary {
		t.Fatalf("%+v", r)
	}
	s.wants("a", next.ID, "")
	s.wants("b", old.ID, next.ID)
	// Another controller goes on where this one was killed.
	s.c = &Controller{In: s.c.In, Robots: s.c.Robots, Log: s.c.Log}
	s.reports("a", next.ID, time.Minute, nil)
	if r := s.look("g"); r.Stage != StageCanary {
		t.Errorf("too early: %+v", r)
	}
	s.reports("a", next.ID, time.Hour, nil)
	s.reports("c", old.ID, time.Hour, tries(next.ID, 1)) // not for c
	if r := s.look("g"); r.Stage != StageFollowing || !strings.Contains(r.LeftOut["c"], "worse") {
		t.Fatalf("%+v", r)
	}
	s.wants("b", next.ID, "")
	s.wants("c", old.ID, "")
	s.reports("b", next.ID, time.Hour, nil)
	if r := s.look("g"); r.Stage != StageDone {
		t.Errorf("%+v", r)
	}
	// What an operator decides later stays.
	if _, err := s.c.In.Promote(t.Context(), "c", next.Ref(), "by hand"); err != nil {
		t.Fatal(err)
	}
	s.look("g")
	s.wants("c", next.ID, "")
}

// A canary that leaves its band goes back, and so does a follower, alone.
func TestGoingBack(t *testing.T) {
	s, old, next := begun(t)
	s.look("g")
	s.reports("a", old.ID, time.Hour, tries(next.ID, -1))
	s.look("g")
	s.reports("a", next.ID, time.Minute, alarmed)
	if r := s.look("g"); r.Stage != StageReturned {
		t.Fatalf("%+v", r)
	}
	for _, v := range []string{"a", "b", "c"} {
		s.wants(v, old.ID, "")
	}
	if _, err := s.c.In.Begin(t.Context(), Group{Name: "g", Vehicles: []string{"a", "b"}}, next.Ref(), UsualRule()); err != nil {
		t.Fatal(err)
	}
	s.reports("a", old.ID, time.Hour, tries(next.ID, -1))
	s.look("g")
	s.reports("a", next.ID, time.Hour, nil)
	s.look("g")
	s.reports("b", next.ID, time.Minute, alarmed)
	if r := s.look("g"); r.Stage != StageDone || r.LeftOut["b"] == "" {
		t.Errorf("%+v", r)
	}
	s.wants("a", next.ID, "")
	s.wants("b", old.ID, "")
}

// Silence decides nothing, an operator ends a rollout, and pinned vehicles are left out.
func TestRolloutsAndOperators(t *testing.T) {
	s, old, next := begun(t)
	if _, err := s.c.In.Begin(t.Context(), Group{Name: "g", Vehicles: []string{"a"}}, old.Ref(), UsualRule()); err == nil {
		t.Error("two rollouts at a time")
	}
	if _, err := s.c.In.Begin(t.Context(), Group{Name: "h", Vehicles: []string{"c"}}, next.Ref(), UsualRule()); err == nil {
		t.Error("two rollouts to one vehicle")
	}
	if _, err := s.c.In.Pin(t.Context(), "b", old.ID); err != nil {
		t.Fatal(err)
	}
	if r := s.look("g"); r.Stage != StageShadow || r.LeftOut["b"] == "" {
		t.Errorf("%+v", r)
	}
	s.wants("b", old.ID, "")
	s.reports("a", old.ID, time.Hour, tries(next.ID, -1))
	s.look("g")
	if _, err := s.c.In.Rollback(t.Context(), "a", "by hand"); err != nil {
		t.Fatal(err)
	}
	if r := s.look("g"); r.Stage != StageStopped {
		t.Errorf("%+v", r)
	}
	s.wants("a", old.ID, "")
	s.wants("c", old.ID, "")
	if r, err := s.c.In.Stop(t.Context(), "g"); err != nil || r.Stage != StageStopped {
		t.Errorf("%+v, %v", r, err)
	}
	// The rollout that has ended leaves alone who takes part in another one.
	if _, err := s.c.In.Begin(t.Context(), Group{Name: "h", Vehicles: []string{"c"}}, next.Ref(), UsualRule()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s.look("h")
		s.wants("c", old.ID, next.ID)
	}
}

// The status has what vehicles report beside what was decided, by unit of the channels.
func TestStatusOfRobots(t *testing.T) {
	s, old, next := begun(t)
	s.look("g")
	s.reports("a", old.ID, time.Hour, func(st *wire.Status) {
		tries(next.ID, -1)(st)
		st.Channels, st.Checks, st.Coverage, st.Factor = []string{"x", "v"}, []float64{10, 20, 30, 20}, []float64{1, 0.5, 0.9, 1}, []float64{1, 2, 1, 1.5}
	})
	c, err := open(t.Context(), s.nc)
	if err != nil {
		t.Fatal(err)
	}
	st, err := ReadStatus(t.Context(), c.Logs, c.Queue, s.c.In, s.c.Robots)
	if err != nil || len(st.Robots) != 3 || len(st.Rollouts) != 1 {
		t.Fatalf("%+v, %v", st, err)
	}
	a, b := st.Robots[0], st.Robots[1]
	if a.Link != LinkLive || a.Model != old.ID || a.Since == nil || a.Factor != 2 || a.Shadow.Model != next.ID || a.Shadow.Windows != 40 || a.Decided.Flown.Model != old.ID {
		t.Errorf("%+v", a)
	}
	if b.Link != LinkSilent || b.Model != "" || b.Decided.Shadow.Model != next.ID {
		t.Errorf("%+v", b)
	}
	for units, want := range map[string]map[string]float64{"m,m/s": {"m": 0.925, "m/s": 0.75}, "": {"": 67. / 80}} {
		got := coverage(&wire.Status{Channels: []string{"x", "v"}, Checks: []float64{10, 20, 30, 20}, Coverage: []float64{1, 0.5, 0.9, 1}}, strings.Split(units, ","))
		for u, c := range want {
			if len(got) != len(want) || math.Abs(got[u]-c) > 1e-12 {
				t.Errorf("%q: %v, expected %v", units, got, want)
			}
		}
	}
}
