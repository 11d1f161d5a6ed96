package node

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A change of the input's effect is learned, corrects predictions and is reported; watch
// reports it and corrects nothing, off does neither.
func TestAChangeInFlightIsLearned(t *testing.T) {
	plain := newChanged(t, Config{}, -0.2)
	plain.fly(20)
	if s := plain.status(); s.Adapt != wire.AdaptOff || s.AdaptNote != "" || len(s.Amounts) > 0 {
		t.Errorf("switched off: %q, %q, %+v", s.Adapt, s.AdaptNote, s.Amounts)
	}
	for _, rate := range []float64{0, 50} {
		for _, setting := range []string{wire.AdaptWatch, wire.AdaptOn} {
			r := newChanged(t, Config{Adapt: setting, Rate: rate}, -0.2)
			r.fly(20)
			s := r.status()
			if g := gainOf(t, s); math.Abs(g.Value+20) > 5 || g.Unit != "%" || !g.Significant() {
				t.Errorf("%s, rate %v: %+v", setting, rate, g)
			}
			on := setting == wire.AdaptOn
			if s.Adapt != setting || s.AdaptNote != "" || s.AdaptShare < 0.3 || (s.Adapted > 0) != on || (r.last.Flags&wire.Adapted != 0) != on {
				t.Errorf("%s, rate %v: %+v, flags %x", setting, rate, s, r.last.Flags)
			}
			if same := slices.Equal(r.last.Mean, plain.last.Mean); rate == 0 && same == on {
				t.Errorf("%s: the same means as without: %v", setting, same)
			}
		}
	}
}

// A model that cannot adapt is reported, once on the console.
func TestAModelThatCannotAdaptIsReported(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	statuses := listen(t, nc, wire.StatusSubject("v1"))
	var logged lines
	_, stop := run(t, nc, Config{Adapt: wire.AdaptOn, Log: logged.add}, pendulum())
	seq := uint64(0)
	statuses.status("a note", func(s *wire.Status) bool {
		seq++
		send(t, nc, seq)
		return strings.Contains(s.AdaptNote, "has nothing to adapt")
	})
	stop()
	if notes := slices.DeleteFunc(slices.Clone(logged.lines), func(s string) bool { return !strings.Contains(s, "has nothing to adapt") }); len(notes) != 1 {
		t.Errorf("logged %q", logged.lines)
	}
	if _, err := New(Config{Vehicle: "v1", Adapt: "sometimes"}, pendulum()); err == nil || !strings.Contains(err.Error(), "adapt is \"sometimes\"") {
		t.Errorf("%v", err)
	}
}

// Plans are not taken for what was flown: a planner that sends another plan every 100 ms, none
// of which is flown, changes nothing that is learned; without u nothing is learned, which the
// status says.
func TestNothingIsLearnedFromPlansThatAreNotFlown(t *testing.T) {
	flown := newChanged(t, Config{Adapt: wire.AdaptOn}, 0)
	flown.fly(20)
	planning := newChanged(t, Config{Adapt: wire.AdaptOn}, 0)
	ideas := rand.New(rand.NewPCG(5, 6))
	var plan []float64
	planning.change = func(s *wire.State) {
		if s.Seq%10 == 1 {
			plan = []float64{3 * ideas.NormFloat64(), 3 * ideas.NormFloat64(), 3 * ideas.NormFloat64(), 3 * ideas.NormFloat64()}
		}
		s.Plan, s.PlanDt = plan, 0.125
	}
	planning.fly(20)
	if a, b := flown.status().Amounts, planning.status().Amounts; !slices.Equal(a, b) {
		t.Errorf("learned %+v without plans and %+v with plans that were not flown", a, b)
	}
	for _, a := range planning.status().Amounts {
		if math.Abs(a.Value) > 5*a.Std {
			t.Errorf("of a robot that has not changed: %v", a.String())
		}
	}
	without := newChanged(t, Config{Adapt: wire.AdaptOn}, -0.2)
	without.change = func(s *wire.State) { s.U, s.Plan, s.PlanDt = nil, []float64{s.U[0]}, 0.5 }
	without.fly(5)
	if s := without.status(); gainOf(t, s).Value != 0 || !strings.Contains(s.AdaptNote, "without u") {
		t.Errorf("without u: %+v, %q", s.Amounts, s.AdaptNote)
	}
}

// What was learned is aged by the time that passed; of another horizon it is not taken.
func TestAdaptationAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trust")
	r := newChanged(t, Config{Adapt: wire.AdaptOn, TrustFile: path}, -0.2)
	r.fly(12)
	learned := gainOf(t, r.status())
	r.n.keepStates()
	for passed, most := range map[int64]float64{0: 1, 400: 0.5, 3600: 0.01} {
		c := &clock{unix: r.c.unix + passed*1e9}
		n, err := New(Config{Vehicle: "v1", Adapt: wire.AdaptOn, TrustFile: path, Clock: c.read}, artificial.Adaptable(3, adaptableStep))
		if err != nil {
			t.Fatal(err)
		}
		again := (&changed{n: n, c: c}).status()
		if g := gainOf(t, again); math.Abs(g.Value-learned.Value*math.Exp(-float64(passed)/400)) > 0.1 || math.Abs(g.Value) > most*math.Abs(learned.Value)+1e-9 {
			t.Errorf("%d s later %v, learned %v", passed, g.String(), learned.String())
		}
	}
	other := artificial.Adaptable(3, adaptableStep)
	other.Horizon = 0.4
	if _, err := other.Encode(); err != nil {
		t.Fatal(err)
	}
	var logged lines
	c := &clock{unix: r.c.unix}
	n, err := New(Config{Vehicle: "v1", Adapt: wire.AdaptOn, TrustFile: path, Clock: c.read, Log: logged.add}, other)
	if err != nil {
		t.Fatal(err)
	}
	if g := gainOf(t, (&changed{n: n, c: c}).status()); g.Value != 0 || !logged.has("adaptation is reset") {
		t.Errorf("of another horizon: %v, logged %q", g.String(), logged.lines)
	}
	// A reset before the first state is kept, too.
	again := newChangedAt(t, Config{Adapt: wire.AdaptOn, TrustFile: path}, -0.2, r.c.unix)
	if g := gainOf(t, again.status()); g.Value == 0 {
		t.Errorf("restored %v", g.String())
	}
	go func() {
		r := <-again.n.worker.requests
		r.carryOut()
	}()
	if err := again.n.resetAdaptation(); err != nil {
		t.Fatal(err)
	}
	if g := gainOf(t, again.n.compose(0)); g.Value != 0 {
		t.Errorf("after a reset %v", g.String())
	}
	again.n.keepStates()
	once := newChangedAt(t, Config{Adapt: wire.AdaptOn, TrustFile: path}, -0.2, r.c.unix)
	if g := gainOf(t, once.status()); g.Value != 0 {
		t.Errorf("after a reset and a restart %v", g.String())
	}
}

// Whatever comes for two seconds, what was learned stays finite, and some seconds later it is
// what it is without the disturbance: of a robot that has not changed, next to nothing.
func TestAdaptationAfterBadStates(t *testing.T) {
	undisturbed := newChanged(t, Config{Adapt: wire.AdaptOn}, 0)
	undisturbed.fly(16)
	want := undisturbed.status().Amounts
	garbage := rand.New(rand.NewPCG(7, 8))
	for name, spoil := range map[string]func(r *changed, s *wire.State){
		"not a number":    func(_ *changed, s *wire.State) { s.X[s.Seq%2] = math.NaN() },
		"garbage":         func(_ *changed, s *wire.State) { s.X[0] += 0.05 * garbage.NormFloat64() },
		"huge input":      func(_ *changed, s *wire.State) { s.U[0] = 1e8 },
		"frozen":          func(_ *changed, s *wire.State) { s.X[0], s.X[1] = 0.1, 0.1 },
		"lost":            func(_ *changed, s *wire.State) { s.X = nil },
		"every second":    func(_ *changed, s *wire.State) { s.X = s.X[:2*(s.Seq%2)] },
		"clock ahead":     func(_ *changed, s *wire.State) { s.T += 40 * ms },
		"clock back":      func(_ *changed, s *wire.State) { s.T -= 300 * ms },
		"at rest":         func(r *changed, s *wire.State) { r.x, r.u, s.X[0], s.X[1], s.U[0] = [2]float64{}, 0, 0, 0, 0 },
		"another robot's": func(_ *changed, s *wire.State) { s.X[0], s.X[1] = -s.X[0], -s.X[1] },
	} {
		t.Run(name, func(t *testing.T) {
			r := newChanged(t, Config{Adapt: wire.AdaptOn}, 0)
			r.fly(4)
			r.change = func(s *wire.State) { spoil(r, s) }
			r.fly(2)
			for _, a := range r.status().Amounts {
				if math.IsNaN(a.Value) || math.IsInf(a.Value, 0) || !(a.Std > 0) {
					t.Errorf("during it: %v", a.String())
				}
			}
			r.change = nil
			r.fly(10)
			for i, a := range r.status().Amounts {
				if d := math.Abs(a.Value - want[i].Value); d > 4*want[i].Std {
					t.Errorf("ten seconds later %v, undisturbed %v", a.String(), want[i].String())
				}
			}
			for i, v := range r.last.Mean {
				if math.IsNaN(v) || !(r.last.ObsStd[i] > 0) {
					t.Fatalf("predicted %v ± %v", v, r.last.ObsStd[i])
				}
			}
		})
	}
}

// Errors that no change of the robot explains still raise miscalibrated.
func TestUnexplainedErrorsAreMiscalibrated(t *testing.T) {
	r := newChanged(t, Config{Adapt: wire.AdaptOn}, 0)
	r.held = true
	r.fly(20)
	if r.last.Flags&wire.Miscalibrated != 0 {
		t.Fatal("miscalibrated without a cause")
	}
	noise := rand.New(rand.NewPCG(9, 10))
	r.change = func(s *wire.State) {
		for k := range s.X {
			s.X[k] += 0.02 * noise.NormFloat64()
		}
	}
	for range 60 {
		if r.fly(1); r.last.Flags&wire.Miscalibrated != 0 {
			return
		}
	}
	t.Errorf("sensors of more than ten times their noise raise nothing: coverage %v", r.status().Coverage)
}

// An answer to a query has the same bits as the prediction that is made next from the same
// state; the command reset_adaptation makes both those of the model alone.
func TestQueriesAndPredictionsAreCorrectedAlike(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	m := artificial.Adaptable(3, adaptableStep)
	n, _ := run(t, nc, Config{Adapt: wire.AdaptOn}, m)
	predictions, statuses := listen(t, nc, wire.AllPredictions), listen(t, nc, wire.StatusSubject("v1"))
	x, u, seq := [2]float64{}, 1.0, uint64(0)
	next := func() *wire.Prediction {
		seq++
		testClock.ns.Add(int64(adaptableStep * 1e9))
		s := wire.State{Seq: seq, T: testClock.unix(), X: x[:], U: []float64{u}}
		if err := nc.Publish(wire.StateSubject("v1"), s.Append(nil)); err != nil {
			t.Fatal(err)
		}
		p := predictions.prediction()
		n.worker.between(patience, func() {}) // it has learned
		return p
	}
	alike := func(what string, flag wire.Flags) []float64 {
		t.Helper()
		q := wire.Query{States: x[:], U: []float64{u}}
		a, refused := ask(t, nc, q.Append(nil))
		if refused != "" {
			t.Fatal(refused)
		}
		if p := next(); !slices.Equal(a.Mean, p.Mean) || !slices.Equal(a.Std, p.Std) || !slices.Equal(a.ObsStd, p.ObsStd) || a.Flags&wire.Adapted != flag || p.Flags&wire.Adapted != flag {
			t.Errorf("%s: answered %v, flags %x; predicted %v, flags %x", what, a.Mean, a.Flags, p.Mean, p.Flags)
		}
		return a.Mean
	}
	for i := range 600 { // its input has twice the effect
		if i%40 == 0 {
			u = -u
		}
		next()
		x[0], x[1] = 0.98*x[0]+2*0.016*u, 0.98*x[1]+0.01*x[0]
	}
	learned := alike("learned", wire.Adapted)
	statuses.status("amounts", func(s *wire.Status) bool { return s.AdaptShare > 0.5 && s.Changes() != "" })
	reply, err := nc.Request(wire.ModelSubject("v1"), (&wire.Command{Action: wire.ResetAdaptation}).Append(nil), patience)
	if err != nil {
		t.Fatal(err)
	}
	var o wire.Outcome
	if err := o.Decode(reply.Data); err != nil || o.Error != "" || o.Model != m.ID {
		t.Fatalf("%+v, %v", o, err)
	}
	plain, err := estimator.NewFast(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := plain.NewPrediction()
	plain.Predict(want, &estimator.Query{X0: x[:], U: []float64{u}})
	if reset := alike("reset", wire.Adapted); slices.Equal(reset, learned) || !near(reset, want.Mean, 1e-9) {
		t.Errorf("after a reset %v, without adaptation %v", reset, want.Mean)
	}
}

// Another model continues with what was learned where it means the same, and else begins
// anew, which the console has.
func TestAdaptationOverASwap(t *testing.T) {
	var logged lines
	r := newChanged(t, Config{Adapt: wire.AdaptOn, Log: logged.add}, -0.2)
	r.fly(10)
	learned := gainOf(t, r.status())
	if err := r.n.Swap(artificial.Adaptable(9, adaptableStep)); err != nil {
		t.Fatal(err)
	}
	r.fly(adaptableStep)
	if g := gainOf(t, r.status()); math.Abs(g.Value-learned.Value) > 0.5 || len(logged.lines) > 0 {
		t.Errorf("learned %v, after another model %v, logged %q", learned.String(), g.String(), logged.lines)
	}
	other := artificial.Adaptable(3, adaptableStep)
	other.Horizon = 0.4
	if _, err := other.Encode(); err != nil {
		t.Fatal(err)
	}
	if err := r.n.Swap(other); err != nil {
		t.Fatal(err)
	}
	r.fly(adaptableStep)
	if g := gainOf(t, r.status()); g.Value != 0 || !logged.has("adaptation is reset: the model has another horizon") {
		t.Errorf("of another horizon: %v, logged %q", g.String(), logged.lines)
	}
}

// With adaptation, and beyond the model's horizon, nothing is allocated for a message either.
func TestNothingIsAllocatedWithAdaptation(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	nc.Close() // what nats.go does is left out
	c := &clock{unix: 5e18 / 4}
	n, err := New(Config{Vehicle: "v1", Adapt: wire.AdaptOn, Clock: c.read, Chain: true, Times: []float64{0.25, 0.5, 0.75, 1}}, artificial.Adaptable(3, adaptableStep))
	if err != nil {
		t.Fatal(err)
	}
	s := wire.State{X: []float64{0, 0}, U: []float64{0}, Plan: []float64{1, 0}, PlanDt: 0.5}
	var b []byte
	cycle := func() {
		s.Seq++
		s.T, s.X[0], s.U[0] = c.unix, math.Sin(float64(s.Seq)/20), math.Cos(float64(s.Seq)/20)
		b = s.Append(b[:0])
		n.intake.Receive(b, 0)
		a := n.intake.Mailbox.Get()
		if a == nil {
			t.Fatal("it was refused")
		}
		n.worker.answer(nc, a)
		c.pass(10 * ms)
	}
	for range 200 { // each arrival and each window takes its memory once
		cycle()
	}
	if got := testing.AllocsPerRun(200, cycle); got != 0 {
		t.Errorf("%v allocations", got)
	}
	if r := n.worker.engine.AppendAdaptation(nil, c.unix, c.steady); len(r) == 0 {
		t.Error("nothing was learned")
	}
}
