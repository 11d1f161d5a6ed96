package node

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// ask sends a question and returns the answer, or the service's error as
// "code: text".
func ask(t *testing.T, nc *nats.Conn, data []byte) (*wire.Answer, string) {
	t.Helper()
	m, err := nc.Request(wire.QuerySubject("v1"), data, patience)
	if err != nil {
		t.Fatal(err)
	}
	if code := m.Header.Get(micro.ErrorCodeHeader); code != "" {
		return nil, code + ": " + m.Header.Get(micro.ErrorHeader)
	}
	var a wire.Answer
	if err := a.Decode(m.Data); err != nil {
		t.Fatal(err)
	}
	return &a, ""
}

func TestBatchesAreAnswered(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	m := pendulum()
	run(t, nc, Config{}, m)

	plans := make([]float64, 64*5)
	for i := range plans {
		plans[i] = math.Sin(float64(i))
	}
	q := wire.Query{States: []float64{0.3, -0.1}, Plans: plans, Rows: 5, PlanDt: 0.2}
	a, refused := ask(t, nc, q.Append(nil))
	if refused != "" {
		t.Fatal(refused)
	}
	p, err := estimator.NewFast(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := p.NewPrediction()
	n := len(want.Mean)
	if a.Inputs != "plan" || a.Model != m.ID || a.Vehicle != "v1" || len(a.Mean) != 64*n || len(a.OOD) != 64 || !slices.Equal(a.Horizon, want.Times) {
		t.Fatalf("answered %d numbers, inputs %s", len(a.Mean), a.Inputs)
	}
	for i := range 64 {
		p.Predict(want, &estimator.Query{X0: q.States, Plan: plans[5*i : 5*i+5]})
		if !nearTo(a.Mean[i*n:(i+1)*n], want.Mean, want.ObsStd) || !nearTo(a.Std[i*n:(i+1)*n], want.Std, want.ObsStd) || !nearTo(a.ObsStd[i*n:(i+1)*n], want.ObsStd, want.ObsStd) || math.Abs(a.OOD[i]-want.OOD) > 1e-4*(1+want.OOD) {
			t.Fatalf("plan %d has another distribution than it has alone", i)
		}
	}

	q = wire.Query{States: []float64{0.3, -0.1, 0.5, 0.7}, U: []float64{1}, Times: []float64{0.15, 0.4}, Dtype: "f4"}
	a, refused = ask(t, nc, q.Append(nil))
	if refused != "" || a.Inputs != "hold" || len(a.Mean) != 2*2*2 || a.Horizon[1] != float64(float32(0.4)) {
		t.Errorf("two states, at times of their own: %+v, %s", a, refused)
	}

	q = wire.Query{Want: wire.WantDynamics, States: []float64{0.3, -0.1}, U: []float64{1, 2, 3}}
	a, refused = ask(t, nc, q.Append(nil))
	if refused != "" || len(a.F) != 6 || len(a.SD) != 6 || len(a.Mean) != 0 || slices.Min(a.SD) <= 0 || a.F[0] == a.F[2] {
		t.Errorf("dynamics: %+v, %s", a, refused)
	}

	q = wire.Query{Want: wire.WantSamples, States: []float64{0.3, -0.1}, Samples: 50, Seed: 1}
	a, refused = ask(t, nc, q.Append(nil))
	if refused != "" || len(a.Samples) != 50*10*2 || slices.Equal(a.Samples[:20], a.Samples[20:40]) {
		t.Errorf("samples: %d, %s", len(a.Samples), refused)
	}
	if within(a.Samples, p, 50) < 0.8 {
		t.Errorf("%.2f of the samples are within their intervals", within(a.Samples, p, 50))
	}
	if again, _ := ask(t, nc, q.Append(nil)); !slices.Equal(again.Samples, a.Samples) {
		t.Error("the same seed gave other samples")
	}
}

// A query names what it wants: that alone is in the answer, and the covariance has the
// variances of the prediction. Predictions carry the factors of tubes, where the model has them.
func TestQueryNamesWhatItWants(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	m := pendulum()
	j := model.Joint{Levels: []float64{1}, Correlation: [][]float64{{0.5}}, Tube: []float64{1, 2, 3}}
	m.Joint = []model.Joint{j, j}
	run(t, nc, Config{}, m)

	q := wire.Query{Want: "std,cov,tube,samples", Samples: 2, States: []float64{0.3, -0.1, 0.5, 0.7}, Times: []float64{0.5, 1}}
	a, refused := ask(t, nc, q.Append(nil))
	if refused != "" {
		t.Fatal(refused)
	}
	if len(a.Mean) != 0 || len(a.Std) != 8 || len(a.ObsStd) != 8 || len(a.Cov) != 16 || len(a.Samples) != 16 || !slices.Equal(a.Tube, []float64{1, 2, 3, 1, 2, 3}) || len(a.OOD) != 2 {
		t.Errorf("%+v", a)
	}
	for i := range a.Cov {
		x, y := a.Std[i/4*2+i/2%2], a.Std[i/4*2+i%2]
		want := x * y
		if x != y {
			want *= 0.5
		}
		if math.Abs(a.Cov[i]-want) > 1e-12*want {
			t.Errorf("covariance %d is %v, want %v", i, a.Cov[i], want)
		}
	}
	inf := math.Inf(1)
	q = wire.Query{Want: "violation", States: []float64{0.3, -0.1, 0.5, 0.7}, HalfSpaces: []float64{0, 0, -1, 0, 0, 1}, Boxes: []float64{-inf, -inf, inf, inf}, Times: []float64{0.5, 1}}
	if a, refused = ask(t, nc, q.Append(nil)); refused != "" {
		t.Fatal(refused)
	}
	if !slices.Equal(a.Violation[:4], []float64{1, 1, 0, 0}) || len(a.Violation) != 12 || a.Violation[5] < 0.999 || len(a.ViolationWhole) != 2 || a.ViolationWhole[1] < 0.999 || len(a.Std) != 0 {
		t.Errorf("violation %v, of the whole horizon %v", a.Violation, a.ViolationWhole)
	}
	// The gradient of a cost is the sum of the Jacobians' rows, times its derivatives by the means.
	q = wire.Query{Want: "jacobian,adjoint", States: []float64{0.3, -0.1, 0.5, 0.7}, Plans: []float64{1, -1, 0.5}, Rows: 3, PlanDt: 0.3, Times: []float64{0.5, 1}, MeanAdjoint: []float64{1, 2, 3, 4}}
	if a, refused = ask(t, nc, q.Append(nil)); refused != "" {
		t.Fatal(refused)
	}
	if len(a.Jacobian) != 16 || len(a.InputJacobian) != 24 || len(a.StartGradient) != 4 || len(a.PlanGradient) != 6 || len(a.Mean) != 0 {
		t.Fatalf("%+v", a)
	}
	for _, g := range []struct{ got, jacobian []float64 }{{a.StartGradient, a.Jacobian}, {a.PlanGradient, a.InputJacobian}} {
		n := len(g.got) / 2
		for i, got := range g.got {
			want := 0.0
			for j, bar := range q.MeanAdjoint {
				want += bar * g.jacobian[(i/n*4+j)*n+i%n]
			}
			if math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("number %d of a gradient is %v, want %v", i, got, want)
			}
		}
	}
	predictions := listen(t, nc, wire.PredictSubject("v1"))
	send(t, nc, 1)
	if p := predictions.prediction(); !slices.Equal(p.Tube, []float64{1, 2, 3}) {
		t.Errorf("tube %v", p.Tube)
	}
	for want, q := range map[string]wire.Query{
		"400: want: must be":        {States: []float64{1, 2}, Want: "mean,chance"},
		"400: want: dynamics comes": {States: []float64{1, 2}, Want: "mean,dynamics"},
		"400: half_spaces: has 2":   {States: []float64{1, 2}, Want: "violation", HalfSpaces: []float64{1, 2}},
		"400: half_spaces: is miss": {States: []float64{1, 2}, Want: "violation"},
		"400: boxes: is for":        {States: []float64{1, 2}, Boxes: []float64{1, 2, 3, 4}},
		"400: boxes: number 1":      {States: []float64{1, 2}, Want: "violation", Boxes: []float64{1, math.NaN(), 3, 4}},
		"400: seed: is for":         {States: []float64{1, 2}, Want: "mean,cov", Seed: 1},
		"413: states: the answer":   {States: make([]float64, 8000), Want: "cov", Timeout: 60e9},
		"400: mean_adjoint: is mis": {States: []float64{1, 2}, Want: "mean,adjoint"},
		"400: mean_adjoint: is for": {States: []float64{1, 2}, MeanAdjoint: []float64{1, 2}},
		"400: mean_adjoint: has 3 ": {States: []float64{1, 2}, Want: "adjoint", MeanAdjoint: []float64{1, 2, 3}, Times: []float64{1}},
		"400: std_adjoint: is take": {States: []float64{1, 2}, Want: "adjoint", MeanAdjoint: []float64{1, 2}, StdAdjoint: []float64{1, 2}, Times: []float64{1}, Plans: make([]float64, 1000), Rows: 1000, PlanDt: 0.001},
		"413: times: the answer to": {States: []float64{1, 2}, Want: "jacobian", Plans: make([]float64, 9000), Rows: 9000, PlanDt: 0.001},
	} {
		if _, got := ask(t, nc, q.Append(nil)); !strings.HasPrefix(got, want) {
			t.Errorf("refused with %q, want %q", got, want)
		}
	}
}

// within returns the share of n trajectories from the state of the test that is in the
// intervals of 95 % that are predicted from it.
func within(samples []float64, p *estimator.Fast, n int) float64 {
	d := p.NewPrediction()
	p.Predict(d, &estimator.Query{X0: []float64{0.3, -0.1}})
	inside := 0.0
	for i, x := range samples {
		if j := i % len(d.Mean); math.Abs(x-d.Mean[j]) <= 1.96*d.Std[j] {
			inside++
		}
	}
	return inside / float64(n*len(d.Mean))
}

// Queries in 32 bits, with an uncertain start, with a plan that is longer or shorter than
// the horizon: each is answered as the predictor does alone.
func TestWhatAQueryMayBring(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	m := pendulum()
	run(t, nc, Config{}, m)
	p, err := estimator.NewFast(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := p.NewPrediction()
	x, P0 := []float64{0.25, -0.125}, []float64{0.25, 0, 0, 0.5}
	for name, c := range map[string]struct {
		query wire.Query
		same  estimator.Query
		flags wire.Flags
	}{
		"start":    {wire.Query{P0: P0}, estimator.Query{P0: P0}, wire.CarriedCovariance},
		"32 bits":  {wire.Query{RequestDtype: "f4", U: []float64{0.5}, P0: P0}, estimator.Query{U: []float64{0.5}, P0: P0}, wire.CarriedCovariance},
		"cut":      {wire.Query{Plans: []float64{1, 2, 3}, Rows: 3, PlanDt: 0.5}, estimator.Query{Plan: []float64{1, 2}}, wire.PlanCut},
		"held":     {wire.Query{Plans: []float64{1, 2}, Rows: 2, PlanDt: 0.25}, estimator.Query{Plan: []float64{1, 2, 2, 2}}, wire.PlanHeld},
		"of times": {wire.Query{Plans: []float64{1, 2}, Rows: 2, PlanDt: 0.25, Times: []float64{0.25, 0.5}}, estimator.Query{}, 0},
	} {
		c.query.States, c.same.X0 = x, x
		a, refused := ask(t, nc, c.query.Append(nil))
		if refused != "" || a.Flags != c.flags {
			t.Errorf("%s: %s, flags %#x", name, refused, a.Flags)
			continue
		}
		if p.Predict(d, &c.same); name != "of times" && (!near(a.Mean, d.Mean, 1e-9) || !near(a.Std, d.Std, 1e-9)) {
			t.Errorf("%s: %v ± %v, want %v ± %v", name, a.Mean, a.Std, d.Mean, d.Std)
		}
	}
}

// What a planner must know is there before any state.
func TestAModelIsDescribed(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	m := artificial.New(artificial.Size{K: 2, P: 1, Features: 20, Basis: 1, Points: 10, Horizon: 1, History: []float64{0.1, 0.3999999999999915}}, 1)
	n, _ := run(t, nc, Config{Times: []float64{0.25, 0.5}}, m)
	reply, err := nc.Request(wire.QuerySubject("v1"), (&wire.Query{Want: wire.WantModel}).Append(nil), patience)
	if err != nil {
		t.Fatal(err)
	}
	var got wire.ModelInfo
	if err := got.Decode(reply.Data); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(wire.ModelInfo{
		Vehicle: "v1", Model: m.ID, Instance: n.Instance(), Channels: []string{"x0", "x1"}, Units: []string{"m", "m"},
		InputChannels: []string{"u0"}, InputUnits: []string{"N"}, Layout: wire.Layout(m.Channels),
		ModelHorizon: 1, Points: 10, Horizon: []float64{0.25, 0.5}, History: 0.4, MaxPayload: 1 << 20, DeadTime: []float64{-1}, Lag: []float64{-1},
	}, got); d != "" {
		t.Error(d)
	}
}

// A large answer comes in parts, where the query asks for them.
func TestAnswersInParts(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	run(t, nc, Config{}, pendulum())
	inbox, err := nc.SubscribeSync(nats.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	q := wire.Query{States: make([]float64, 2*4096), Parts: true, Timeout: 60e9}
	for i := range q.States {
		q.States[i] = float64(i) / 8192
	}
	if err := nc.PublishRequest(wire.QuerySubject("v1"), inbox.Subject, q.Append(nil)); err != nil {
		t.Fatal(err)
	}
	var a wire.Answer
	var all []float64
	for part := 1; part == 1 || part <= a.Parts; part++ {
		m, err := inbox.NextMsg(patience)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Decode(m.Data); err != nil {
			t.Fatalf("%v, %v", err, m.Header)
		}
		if a.Part != part || a.Parts != 2 || a.First*20 != len(all) || len(m.Data) > 1<<20 || len(a.OOD)*20 != len(a.Mean) || len(a.Horizon) != 10 {
			t.Fatalf("part %d of %d, from %d on, %d bytes", a.Part, a.Parts, a.First, len(m.Data))
		}
		all = append(all, a.Mean...)
	}
	q = wire.Query{States: q.States[2*4095:]}
	if last, refused := ask(t, nc, q.Append(nil)); len(all) != 4096*20 || refused != "" || last.Part != 0 || !nearTo(last.Mean, all[4095*20:], last.ObsStd) {
		t.Errorf("%d numbers; the last question alone: %+v %s", len(all), last, refused)
	}
}

// The tools of NATS find the service, which describes the model in use, and two vehicles do
// not share their questions.
func TestTheServiceIsFound(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	n, _ := run(t, nc, Config{Times: []float64{0.5}}, pendulum())
	run(t, connect(t, nc.ConnectedUrl(), nil), Config{Vehicle: "v2"}, otherPendulum(5))
	found := func(want ...string) func() bool {
		return func() bool { return slices.Equal(offered(t, nc), want) }
	}
	eventually(t, "both offer their service", found("v1 dgm.query.v1 1 s, x0 m, x1 m by u0 N", "v2 dgm.query.v2 1 s, x0 m, x1 m by u0 N"))
	q := wire.Query{States: []float64{1, 2}}
	for range 20 {
		if a, refused := ask(t, nc, q.Append(nil)); refused != "" || a.Vehicle != "v1" {
			t.Fatalf("vehicle v1 was answered for by %+v, %s", a, refused)
		}
	}
	longer := artificial.New(artificial.Size{K: 2, P: 1, Features: 20, Basis: 1, Points: 10, Horizon: 2}, 1)
	if err := n.Swap(longer); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the service describes the new model", found("v1 dgm.query.v1 2 s, x0 m, x1 m by u0 N", "v2 dgm.query.v2 1 s, x0 m, x1 m by u0 N"))
	if a, refused := ask(t, nc, q.Append(nil)); refused != "" || a.Model != n.Model() {
		t.Errorf("answered by %+v, %s", a, refused)
	}
}

// offered lists the endpoints of the services that answer, with their models, in order.
func offered(t *testing.T, nc *nats.Conn) []string {
	t.Helper()
	inbox, err := nc.SubscribeSync(nats.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = inbox.Unsubscribe() }()
	if err := nc.PublishRequest("$SRV.INFO.dgm-estimator", inbox.Subject, nil); err != nil {
		t.Fatal(err)
	}
	var all []string
	for {
		m, err := inbox.NextMsg(100 * time.Millisecond)
		if err != nil {
			slices.Sort(all)
			return all
		}
		var info micro.Info
		if err := json.Unmarshal(m.Data, &info); err != nil {
			t.Fatal(err)
		}
		for _, e := range info.Endpoints {
			d := info.Metadata
			all = append(all, fmt.Sprintf("%s %s %s s, %s by %s", d["vehicle"], e.Subject, d["model_horizon"], d["channels"], d["input_channels"]))
		}
	}
}

// nearTo reports whether numbers are those wanted but for single precision, in units.
func nearTo(got, want, units []float64) bool {
	for j, w := range want {
		if !(math.Abs(got[j]-w) <= 1e-4*units[j]) {
			return false
		}
	}
	return len(got) == len(want)
}
