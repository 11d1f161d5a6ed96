package node

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A query that cannot be answered within its timeout is refused soon, with what could.
func TestQuestionsThatTakeTooLong(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	run(t, nc, Config{}, pendulum())
	q := wire.Query{States: make([]float64, 2*1000), Timeout: 500e3, Want: wire.WantJacobian, Parts: true} // 1 µs each by the clock of the test, at least
	_, refused := ask(t, nc, q.Append(nil))
	var at int
	if _, err := fmt.Sscanf(refused[strings.LastIndex(refused, "at most"):], "at most %d at a time", &at); !strings.HasPrefix(refused, "408: timeout: 1000 questions take about") || err != nil || at < 1 || at > 999 {
		t.Errorf("refused with %q", refused)
	}
}

func TestQuestionsRefused(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	run(t, nc, Config{}, pendulum())
	for want, q := range map[string]wire.Query{
		"400: states: is missing":                         {U: []float64{1}},
		"400: states: has 3 numbers":                      {States: []float64{1, 2, 3}},
		"400: states: element 0 is 1e+300":                {States: []float64{1e300, 0}},
		"400: states: of question 1: element 0 is 1e+300": {States: []float64{0, 0, 1e300, 0}},
		"400: states: element 1 (x1) is NaN":              {States: []float64{1, math.NaN()}},
		"400: plans: 3 of them, and others are 2":         {States: []float64{1, 2, 3, 4}, Plans: []float64{1, 2, 3}, Rows: 1, PlanDt: 1},
		"400: plans: has 4 numbers, which":                {States: []float64{1, 2}, Plans: []float64{1, 2, 3, 4}, Rows: 3, PlanDt: 1},
		"400: rows: is missing":                           {States: []float64{1, 2}, Plans: []float64{1, 2, 3, 4}, PlanDt: 1},
		"400: rows: comes without plans":                  {States: []float64{1, 2}, Rows: 2},
		"400: plan_dt: is missing: the seconds of each row of the plans; the model's horizon is 1 s, of which 4 rows have 0.25 s each": {States: []float64{1, 2}, Plans: []float64{1, 2, 3, 4}, Rows: 4},
		"400: plan_dt: must be":                                {States: []float64{1, 2}, Plans: []float64{1, 2, 3, 4}, Rows: 4, PlanDt: -1},
		"400: u: comes with plans":                             {States: []float64{1, 2}, Plans: []float64{1}, Rows: 1, PlanDt: 1, U: []float64{1}},
		"400: P0: has 3 numbers":                               {States: []float64{1, 2}, P0: []float64{1, 0, 1}},
		"400: P0: variance of state 1 is -1":                   {States: []float64{1, 2}, P0: []float64{1, 0, 0, -1}},
		"400: P0: of question 1: is not positive semidefinite": {States: []float64{1, 2}, P0: []float64{1, 0, 0, 1, 1, 2, 2, 1}},
		"400: samples: is for":                                 {States: []float64{1, 2}, Samples: 2},
		"400: times: is not for":                               {States: []float64{1, 2}, Times: []float64{0.5}, Want: wire.WantDynamics},
		"400: want: must be":                                   {States: []float64{1, 2}, Want: "chance"},
		"400: dtype: must be":                                  {States: []float64{1, 2}, Dtype: "f2"},
		"400: times: must ascend within the horizon":           {States: []float64{1, 2}, Times: []float64{0.5, 5}},
		"400: times: 2000, at most":                            {States: []float64{1, 2}, Times: make([]float64, 2000)},
		"400: states: 5000 questions":                          {States: make([]float64, 10000)},
		"400: samples: 100000, at most":                        {States: []float64{1, 2}, Want: wire.WantSamples, Samples: 100000},
		"400: history_x: is missing":                           {States: []float64{1, 2}, HistoryT: []float64{0}},
		"400: history_t: is missing":                           {States: []float64{1, 2}, HistoryX: []float64{1, 2}},
		"413: states: the answer would have more than":         {States: make([]float64, 8000), Want: wire.WantSamples, Samples: 9999},
		"413: states: the answer to 4000 questions at 10 times has 1953024 bytes, and the server takes 1048576: ask for at most 2146 questions, or dtype f4 for 4293, or parts = true": {States: make([]float64, 8000), Timeout: 60e9},
		"413: samples: the answer to 1 questions at 10 times has 1601032 bytes, and the server takes 1048576: ask for at most 6547 samples":                                            {States: []float64{1, 2}, Want: wire.WantSamples, Samples: 10000, Parts: true},
		"400: timeout: must be ns above 0, at most 60 s":       {States: make([]float64, 2), Timeout: math.MaxInt64},
		"408: timeout: 0 of 64 questions were answered within": {States: make([]float64, 128), Timeout: 1},
		"400: malformed": {},
	} {
		data := q.Append(nil)
		if len(q.States)+len(q.U) == 0 {
			data = []byte{0xc1}
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

func TestTooManyQuestionsAreRefusedAtOnce(t *testing.T) {
	s := serve(t, 0)
	nc := connect(t, s.ClientURL(), nil)
	run(t, nc, Config{}, pendulum())
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

// Who asks names where the answer goes: elsewhere than at an inbox there is none, since the estimator may publish where who asks
// may not.
func TestNoAnswerElsewhere(t *testing.T) {
	s := serve(t, 0)
	run(t, connect(t, s.ClientURL(), nil), Config{}, pendulum())
	client := connect(t, s.ClientURL(), nil)
	stolen, err := client.SubscribeSync("stolen.>")
	if err != nil {
		t.Fatal(err)
	}
	q := wire.Query{States: []float64{1, 2}}
	asked := map[string][]byte{
		wire.QuerySubject("v1"): q.Append(nil), wire.ModelSubject("v1"): (&wire.Command{Action: wire.ResetAdaptation}).Append(nil),
		"$SRV.PING": nil, "$SRV.INFO.dgm-estimator": nil, "$SRV.STATS": nil,
	}
	for subject, data := range asked {
		if err := client.PublishRequest(subject, "stolen.dgm.predict.v1", data); err != nil {
			t.Fatal(err)
		}
	}
	for subject, data := range asked {
		if _, err := client.Request(subject, data, patience); err != nil {
			t.Errorf("%s: no answer at an inbox: %v", subject, err)
		}
	}
	if m, err := stolen.NextMsg(50 * time.Millisecond); err == nil {
		t.Errorf("an answer at %s: %q", m.Subject, m.Data)
	}
}

// Questions come while the node ends: those that were taken are answered, and
// nothing panics about the rest.
func TestShutdownDuringQueries(t *testing.T) {
	s := serve(t, 0)
	for range 10 {
		_, stop := run(t, connect(t, s.ClientURL(), nil), Config{}, pendulum())
		client := connect(t, s.ClientURL(), nil)
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
