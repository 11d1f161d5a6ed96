package queries

import (
	"errors"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// When the service ends, a query that has taken more than a second is refused; before, its
// own timeout holds.
func TestTheEndOfTheServiceEndsLongQueries(t *testing.T) {
	m := artificial.New(artificial.Size{K: 2, P: 1, Features: 4, Points: 2, Horizon: 1}, 1)
	now := int64(0)
	cfg := Config{
		Vehicle: "v1", Clock: func() (unix, steady int64) { now += 1e8; return now, now },
		Model: func() (*model.Model, []float64) { return m, []float64{0.5, 1} },
	}
	q := wire.Query{States: make([]float64, 2*100), Timeout: 30e9, Want: wire.WantJacobian} // one by one
	ended := make(chan struct{})
	close(ended)
	for name, c := range map[string]struct {
		quit <-chan struct{}
		want string
	}{"it goes on": {nil, ""}, "it ends": {ended, "the estimator ends"}} {
		o := answerer{cfg: &cfg, quit: c.quit}
		_, began := cfg.Clock()
		err := o.answer(q.Append(nil), began, 1<<20, func(message) {})
		if c.want == "" && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var r *refusal
		if c.want != "" && (!errors.As(err, &r) || r.code != codeTimeout || r.text != c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One question that cannot be done within the timeout is refused before it is begun: its
// differences, trajectories and violations are many times what was measured once.
func TestOneLongQuestionIsRefused(t *testing.T) {
	m := artificial.New(artificial.Size{K: 2, P: 1, Features: 4, Points: 2, Horizon: 1}, 1)
	now := int64(0)
	cfg := Config{
		Vehicle: "v1", Clock: func() (unix, steady int64) { now += 1e8; return now, now },
		Model: func() (*model.Model, []float64) { return m, []float64{0.5, 1} },
	}
	for name, q := range map[string]wire.Query{
		"gradients":  {Want: wire.WantAdjoint, Plans: make([]float64, 40), Rows: 40, PlanDt: 0.02, MeanAdjoint: make([]float64, 4), StdAdjoint: make([]float64, 4)},
		"samples":    {Want: wire.WantSamples, Samples: 100},
		"violations": {Want: wire.WantViolation, Samples: 100, HalfSpaces: []float64{1, 0, 1}},
	} {
		for timeout, refused := range map[int64]bool{0: true, 3e9: true, 30e9: false} {
			q.States, q.Timeout = make([]float64, 2), timeout
			o := answerer{cfg: &cfg}
			_, began := cfg.Clock()
			err := o.answer(q.Append(nil), began, 1<<20, func(message) {})
			var r *refusal
			if refused && (!errors.As(err, &r) || r.code != codeTimeout) || !refused && err != nil {
				t.Errorf("%s within %d ns: %v", name, timeout, err)
			}
		}
	}
}

// A worker that rests after a long question ends with the service.
func TestARestEndsWithTheService(t *testing.T) {
	s := Service{quit: make(chan struct{})}
	close(s.quit)
	s.pause(time.Hour)
}
