package queries

import (
	"math"
	"strings"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/intake"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// mostTimes bounds the memory that one query can ask a robot for.
const mostTimes = 1000

// mostDifferences bounds the time of one question: numbers that standard deviations are
// differentiated by.
const mostDifferences = 256

// leastTime is the least of them, s: states have times of whole ns.
const leastTime = 1e-9

// batch is a checked query: which state, input and plan each question has.
type batch struct {
	estimator.Questions
	n     int // questions
	past  *samples
	wants wants
}

// wants is what a query asks for.
type wants struct{ mean, std, cov, tube, samples, violation, jacobian, adjoint, dynamics bool }

// wantsOf returns what a query asks for of a model.
func wantsOf(q *wire.Query, m *model.Model) (w wants, err error) {
	parts := map[string][]*bool{
		"": {&w.mean, &w.std}, wire.WantPredict: {&w.mean, &w.std}, wire.WantMean: {&w.mean}, wire.WantStd: {&w.std}, wire.WantCov: {&w.cov},
		wire.WantTube: {&w.tube}, wire.WantSamples: {&w.samples}, wire.WantViolation: {&w.violation},
		wire.WantJacobian: {&w.jacobian}, wire.WantAdjoint: {&w.adjoint}, wire.WantDynamics: {&w.dynamics},
	}
	for name := range strings.SplitSeq(q.Want, ",") {
		asked, known := parts[name]
		if !known {
			return w, wrong("want", "must be predict, dynamics, samples or model, or a list of mean, std, cov, tube, samples, violation, jacobian, adjoint")
		}
		for _, part := range asked {
			*part = true
		}
	}
	switch {
	case w.dynamics && q.Want != wire.WantDynamics:
		return w, wrong("want", "dynamics comes with nothing else: ask twice")
	case w.tube && (len(m.Joint) == 0 || len(m.Joint[0].Tube) == 0):
		return w, &refusal{codeCannot, "want", "the model has no tubes, as one of an earlier release: train again"}
	case w.jacobian && !m.Displacement:
		return w, &refusal{codeCannot, "want", "the model does not start its predictions at the state, and has no Jacobian by it; adjoint is there"}
	}
	return w, nil
}

// check returns the questions of a query at so many times to a model.
func check(q *wire.Query, m *model.Model, times int) (*batch, error) {
	wants, err := wantsOf(q, m)
	if err != nil {
		return nil, err
	}
	if err := checkKeys(q, wants, m.Horizon); err != nil {
		return nil, err
	}
	if err := checkLimits(q, m.K); err != nil {
		return nil, err
	}
	if len(q.P0) > 0 && !m.Displacement {
		return nil, &refusal{codeCannot, "P0", "the model does not start its predictions at the state"}
	}
	b := &batch{Questions: estimator.NewQuestions(m, q.Rows, 0), wants: wants}
	b.States.X, b.P0.X, b.U.X, b.Plans.X, b.PlanStep = q.States, q.P0, q.U, q.Plans, q.PlanDt
	b.MeanAdjoint.X, b.StdAdjoint.X = q.MeanAdjoint, q.StdAdjoint
	b.MeanAdjoint.Size, b.StdAdjoint.Size = times*m.K, times*m.K
	if b.past, err = checkHistory(q, m); err != nil {
		return nil, err
	}
	if b.n, err = estimator.CountQuestions(&b.States, &b.P0, &b.U, &b.Plans, &b.past.x, &b.past.u, &b.MeanAdjoint, &b.StdAdjoint); err != nil {
		return nil, err
	}
	if err := b.plausible(m); err != nil {
		return nil, err
	}
	return b, b.bounded(q, m)
}

// checkKeys returns an error for a key that is missing, that the result which is asked for
// does not read, or whose value is none of its own.
func checkKeys(q *wire.Query, wants wants, horizon float64) error {
	samples, dynamics := wants.samples, wants.dynamics
	for _, c := range [...]struct {
		refused bool
		key     string
		text    string
	}{
		{len(q.States) == 0, "states", "is missing: one state, or one for each question"},
		{q.Dtype != "" && q.Dtype != "f8" && q.Dtype != "f4", "dtype", "must be f8 or f4"},
		{len(q.Plans) > 0 && q.Rows == 0, "rows", "is missing: how many rows each of the plans has"},
		{len(q.Plans) == 0 && q.Rows != 0, "rows", "comes without plans"},
		{len(q.Plans) == 0 && q.PlanDt != 0, "plan_dt", "comes without plans"},
		{!(q.PlanDt >= 0) || math.IsInf(q.PlanDt, 1), "plan_dt", "must be seconds above 0"},
		{len(q.Plans) > 0 && len(q.U) > 0, "u", "comes with plans, which give the input from the state on: give one of them"},
		{q.Samples > 0 && !samples && !wants.violation, "samples", "is for want = samples or violation"},
		{q.Seed > 0 && !samples && !wants.violation, "seed", "is for want = samples or violation"},
		{wants.violation && len(q.HalfSpaces)+len(q.Boxes) == 0, "half_spaces", "is missing, and so are boxes: what is violated"},
		{!wants.violation && len(q.HalfSpaces) > 0, "half_spaces", "is for want = violation"},
		{!wants.violation && len(q.Boxes) > 0, "boxes", "is for want = violation"},
		{wants.adjoint && len(q.MeanAdjoint) == 0, "mean_adjoint", "is missing: the derivatives of a cost by the means"},
		{!wants.adjoint && len(q.MeanAdjoint) > 0, "mean_adjoint", "is for want = adjoint"},
		{!wants.adjoint && len(q.StdAdjoint) > 0, "std_adjoint", "is for want = adjoint"},
		{len(q.Times) > 0 && dynamics, "times", "is not for want = dynamics, which is at the states"},
		{len(q.P0) > 0 && dynamics, "P0", "is not for want = dynamics"},
		{q.Timeout < 0 || q.Timeout > mostTimeout, "timeout", "must be ns above 0, at most 60 s"},
	} {
		if c.refused {
			return wrong(c.key, "%s", c.text)
		}
	}
	if len(q.Plans) > 0 && q.PlanDt == 0 {
		return wrong("plan_dt", "is missing: the seconds of each row of the plans; the model's horizon is %g s, of which %d rows have %g s each",
			horizon, q.Rows, horizon/float64(q.Rows))
	}
	return nil
}

// checkLimits returns an error for half-spaces and boxes that are none of K states.
func checkLimits(q *wire.Query, K int) error {
	l := estimator.Limits{HalfSpaces: q.HalfSpaces, Boxes: q.Boxes}
	if n := l.Count(K); n > wire.MaxLimits {
		return wrong("half_spaces", "%d with the boxes, at most %d", n, wire.MaxLimits)
	}
	return l.Check(K)
}

// plausible returns an error for a state or covariance that is not.
func (b *batch) plausible(m *model.Model) error {
	limits := intake.Limits(m)
	n := 1
	if !b.States.Same() || !b.P0.Same() {
		n = b.n
	}
	for i := range n {
		s := wire.State{X: b.States.Row(i), P0: b.P0.Row(i)}
		if err := limits.Check(&s); err != nil {
			r := refusalOf(err)
			if r.key == "x" {
				r.key = "states"
			}
			if n > 1 {
				return wrong(r.key, "of question %d: %s", i, r.text)
			}
			return r
		}
	}
	return nil
}

// bounded returns an error for a query that is too large, or whose times are not
// within the model's horizon.
func (b *batch) bounded(q *wire.Query, m *model.Model) error {
	switch {
	case b.n > wire.MaxBatch:
		return wrong("states", "%d questions, at most %d", b.n, wire.MaxBatch)
	case len(q.Times) > mostTimes:
		return wrong("times", "%d, at most %d", len(q.Times), mostTimes)
	case q.Samples > wire.MaxSamples:
		return wrong("samples", "%d, at most %d", q.Samples, wire.MaxSamples)
	case len(q.StdAdjoint) > 0 && m.K+max(q.Rows, 1)*m.P > mostDifferences:
		return wrong("std_adjoint", "is taken by two predictions for each number of the state and of the plan, which are %d, at most %d: ask for fewer rows",
			m.K+max(q.Rows, 1)*m.P, mostDifferences)
	}
	for i, t := range q.Times {
		if !(t >= leastTime && t <= m.Horizon*(1+1e-9)) || (i > 0 && t <= q.Times[i-1]) {
			return wrong("times", "must ascend within the horizon [%g, %g] s, and %g s is at place %d", leastTime, m.Horizon, t, i)
		}
	}
	return nil
}
