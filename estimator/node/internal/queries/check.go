package queries

import (
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// mostTimes bounds the memory that one query can ask a robot for.
const mostTimes = 1000

// batch is a checked query: which state, input and plan each question has.
type batch struct {
	n      int // questions
	states vector
	u      vector
	plans  vector
	past   *samples
}

// at returns question i.
func (b *batch) at(i int) estimator.Query {
	q := estimator.Query{X0: b.states.row(i)}
	if len(b.u.x) > 0 {
		q.U = b.u.row(i)
	}
	if len(b.plans.x) > 0 {
		q.Plan = b.plans.row(i)
	}
	return q
}

// check returns the questions of a query to a model.
func check(q *wire.Query, m *model.Model) (*batch, error) {
	if q.Rows == 0 {
		q.Rows = 1
	}
	b := &batch{
		states: vector{"states", q.States, m.K, "states"},
		u:      vector{"u", q.U, m.P, "inputs"},
		plans:  vector{"plans", q.Plans, q.Rows * m.P, "rows × inputs"},
	}
	var err error
	if b.past, err = checkHistory(q, m); err != nil {
		return nil, err
	}
	for _, v := range []*vector{&b.states, &b.u, &b.plans, &b.past.x, &b.past.u} {
		n, err := v.rows()
		if err != nil {
			return nil, err
		}
		if n > 1 && b.n > 1 && n != b.n {
			return nil, wrong("%s are %d, and others %d: give one, or as many", v.name, n, b.n)
		}
		b.n = max(b.n, n)
	}
	for i, x := range q.States {
		if wire.Coarse(x, m.Scale[i%m.K]) {
			return nil, wrong("element %d of states is %g: numbers of that size are too far apart for predictions that move by %g", i, x, m.Scale[i%m.K])
		}
	}
	return b, b.bounded(q, m)
}

// bounded returns an error for a query that is too large, or whose times are not
// within the model's horizon.
func (b *batch) bounded(q *wire.Query, m *model.Model) error {
	switch {
	case len(q.States) == 0:
		return wrong("there is no state")
	case b.n > wire.MaxBatch:
		return wrong("%d questions, at most %d", b.n, wire.MaxBatch)
	case len(q.Times) > mostTimes:
		return wrong("%d times, at most %d", len(q.Times), mostTimes)
	case q.Samples > wire.MaxSamples:
		return wrong("%d samples, at most %d", q.Samples, wire.MaxSamples)
	case q.Dtype != "" && q.Dtype != "f8" && q.Dtype != "f4":
		return wrong("dtype is %q, and must be f8 or f4", q.Dtype)
	}
	for i, t := range q.Times {
		if !(t > 0 && t <= m.Horizon*(1+1e-9)) || (i > 0 && t <= q.Times[i-1]) {
			return wrong("times must ascend within the horizon (0, %g] s, and %g s is at place %d", m.Horizon, t, i)
		}
	}
	samples := 1
	if q.Want == wire.WantSamples {
		samples = max(int(q.Samples), 1)
	}
	if T := max(len(q.Times), 1); b.n*samples > wire.MaxNumbers/(T*m.K) {
		return wrong("the answer would have more than %d numbers in one vector; ask for less", wire.MaxNumbers)
	}
	return nil
}
