package queries

import (
	"errors"
	"testing"

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
	q := wire.Query{States: make([]float64, 2*100), Timeout: 30e9}
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
