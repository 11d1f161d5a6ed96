package node

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/dgm-robotics/dgm/estimator"
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
	listening(listen(t, nc, wire.StatusSubject("v1")))

	plans := make([]float64, 64*5)
	for i := range plans {
		plans[i] = math.Sin(float64(i))
	}
	q := wire.Query{States: []float64{0.3, -0.1}, Plans: plans, Rows: 5}
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
		if !slices.Equal(a.Mean[i*n:(i+1)*n], want.Mean) || !slices.Equal(a.Std[i*n:(i+1)*n], want.Std) || !slices.Equal(a.ObsStd[i*n:(i+1)*n], want.ObsStd) || a.OOD[i] != want.OOD {
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
	if again, _ := ask(t, nc, q.Append(nil)); !slices.Equal(again.Samples, a.Samples) {
		t.Error("the same seed gave other samples")
	}
}

func TestQuestionsRefused(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	run(t, nc, Config{}, pendulum())
	listening(listen(t, nc, wire.StatusSubject("v1")))
	for want, q := range map[string]wire.Query{
		"400: there is no state":                       {U: []float64{1}},
		"400: states has 3 numbers":                    {States: []float64{1, 2, 3}},
		"400: element 0 of states is 1e+300":           {States: []float64{1e300, 0}},
		"400: element 1 of states is NaN":              {States: []float64{1, math.NaN()}},
		"400: plans are 3, and others 2":               {States: []float64{1, 2, 3, 4}, Plans: []float64{1, 2, 3}},
		"400: plans has 4 numbers, which":              {States: []float64{1, 2}, Plans: []float64{1, 2, 3, 4}, Rows: 3},
		"400: want is \"chance\"":                      {States: []float64{1, 2}, Want: "chance"},
		"400: dtype is \"f2\"":                         {States: []float64{1, 2}, Dtype: "f2"},
		"400: times must ascend within the horizon":    {States: []float64{1, 2}, Times: []float64{0.5, 5}},
		"400: 2000 times, at most":                     {States: []float64{1, 2}, Times: make([]float64, 2000)},
		"400: 5000 questions":                          {States: make([]float64, 10000)},
		"400: 100000 samples":                          {States: []float64{1, 2}, Samples: 100000},
		"400: the answer would have more than":         {States: make([]float64, 8000), Want: wire.WantSamples, Samples: 9999},
		"413: the answer has":                          {States: make([]float64, 8000), Timeout: 60e9},
		"408: 0 of 64 questions were answered within":  {States: make([]float64, 128), Timeout: 1},
		"400: u has 2 numbers, which is no multiple o": {},
	} {
		data := q.Append(nil)
		if len(q.States)+len(q.U) == 0 {
			data = []byte{0xc1}
			want = "400: malformed"
		}
		if _, got := ask(t, nc, data); !strings.HasPrefix(got, want) {
			t.Errorf("refused with %q, want %q", got, want)
		}
	}
	q := wire.Query{States: []float64{1, 2}}
	if _, refused := ask(t, nc, q.Append(nil)); refused != "" {
		t.Errorf("after all that: %s", refused)
	}
}

// The tools of NATS find the service, and two vehicles do not share their questions.
func TestTheServiceIsFound(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	run(t, nc, Config{}, pendulum())
	run(t, connect(t, nc.ConnectedUrl(), nil), Config{Vehicle: "v2"}, otherPendulum(5))
	eventually(t, "both offer their service", func() bool {
		inbox, err := nc.SubscribeSync(nats.NewInbox())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = inbox.Unsubscribe() }()
		if err := nc.PublishRequest("$SRV.INFO.dgm-estimator", inbox.Subject, nil); err != nil {
			t.Fatal(err)
		}
		vehicles := map[string]bool{}
		for {
			m, err := inbox.NextMsg(100 * time.Millisecond)
			if err != nil {
				break
			}
			var info micro.Info
			if err := json.Unmarshal(m.Data, &info); err != nil {
				t.Fatal(err)
			}
			for _, e := range info.Endpoints {
				vehicles[info.Metadata["vehicle"]+" "+e.Subject] = true
			}
		}
		return vehicles["v1 dgm.query.v1"] && vehicles["v2 dgm.query.v2"]
	})
	q := wire.Query{States: []float64{1, 2}}
	for range 20 {
		if a, refused := ask(t, nc, q.Append(nil)); refused != "" || a.Vehicle != "v1" {
			t.Fatalf("vehicle v1 was answered for by %+v, %s", a, refused)
		}
	}
}

func TestTooManyQuestionsAreRefusedAtOnce(t *testing.T) {
	s := serve(t, 0)
	nc := connect(t, s.ClientURL(), nil)
	run(t, nc, Config{}, pendulum())
	listening(listen(t, nc, wire.StatusSubject("v1")))
	client := connect(t, s.ClientURL(), nil)
	inbox, err := client.SubscribeSync(nats.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	q := wire.Query{States: make([]float64, 2*500), Dtype: "f4"}
	const n = 200
	for range n {
		if err := client.PublishRequest(wire.QuerySubject("v1"), inbox.Subject, q.Append(nil)); err != nil {
			t.Fatal(err)
		}
	}
	codes := map[string]int{}
	for range n {
		m, err := inbox.NextMsg(patience)
		if err != nil {
			t.Fatal(err)
		}
		codes[m.Header.Get(micro.ErrorCodeHeader)]++
	}
	if codes[""] == 0 || codes["429"] == 0 || codes[""]+codes["429"]+codes["408"] != n {
		t.Errorf("answered by code: %v", codes)
	}
}

// Questions come while the node ends: those that were taken are answered, and
// nothing panics about the rest.
func TestShutdownDuringQueries(t *testing.T) {
	s := serve(t, 0)
	for range 10 {
		_, stop := run(t, connect(t, s.ClientURL(), nil), Config{}, pendulum())
		client := connect(t, s.ClientURL(), nil)
		listening(listen(t, client, wire.StatusSubject("v1")))
		q := wire.Query{States: []float64{1, 2}}
		b := q.Append(nil)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for range 300 {
				_ = client.PublishRequest(wire.QuerySubject("v1"), "nowhere", b)
			}
		}()
		stop()
		<-done
	}
}
