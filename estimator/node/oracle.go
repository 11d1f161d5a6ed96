package node

import (
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// oracle answers questions, one after the other, with predictors of its own.
type oracle struct {
	n    *Node
	from *model.Model // that the following were made for
	m    *model.Model // the same, this oracle's own

	times     []float64
	of        predictors
	predictor predictor
	dst       *estimator.Prediction
	dynamics  *dynamics
	sampler   *sampler

	query    wire.Query
	answered wire.Answer
}

// batch is a checked query: which state, input and plan each question has.
type batch struct {
	n, K, P int
	states  []float64
	u       []float64
	plans   []float64
	plan    int // numbers of a plan
}

// at returns the query of question i.
func (b *batch) at(i int) estimator.Query {
	q := estimator.Query{X0: pick(b.states, i, b.K)}
	if len(b.u) > 0 {
		q.U = pick(b.u, i, b.P)
	}
	if len(b.plans) > 0 {
		q.Plan = pick(b.plans, i, b.plan)
	}
	return q
}

// pick returns row i of rows of so many numbers, or the only one.
func pick(v []float64, i, size int) []float64 {
	if len(v) == size {
		return v
	}
	return v[i*size : (i+1)*size]
}

// answer answers a message that came at a steady time. The answer belongs to the
// oracle.
func (o *oracle) answer(data []byte, at int64) (*wire.Answer, error) {
	q := &o.query
	if err := q.Decode(data); err != nil {
		return nil, err
	}
	o.n.models.mu.Lock()
	m, times := o.n.models.current, o.n.models.times
	o.n.models.mu.Unlock()
	if m != o.from {
		own := private(m)
		*o = oracle{n: o.n, from: m, m: own, of: predictors{m: own, plain: o.n.cfg.Plain}, dynamics: newDynamics(own), query: o.query, answered: o.answered}
	}
	b, err := o.check(q)
	if err != nil {
		return nil, err
	}
	timeout := queryTimeout
	if q.Timeout > 0 {
		timeout = q.Timeout
	}
	if len(q.Times) > 0 {
		times = q.Times
	}
	a := &o.answered
	*a = wire.Answer{
		Vehicle: o.n.cfg.Vehicle, Model: m.ID, Channels: a.Channels[:0], Inputs: model.Hold.String(), Dtype: q.Dtype,
		Horizon: a.Horizon[:0], Mean: a.Mean[:0], Std: a.Std[:0], ObsStd: a.ObsStd[:0], OOD: a.OOD[:0], F: a.F[:0], SD: a.SD[:0], Samples: a.Samples[:0],
	}
	if a.Dtype == "" {
		a.Dtype = "f8"
	}
	if m.P == 0 || len(b.plans) > 0 {
		a.Inputs = model.Plan.String()
	}
	for _, c := range m.Channels[:m.K] {
		a.Channels = append(a.Channels, c.Name)
	}
	each, err := o.prepare(q, times)
	if err != nil {
		return nil, err
	}
	for i := range b.n {
		if _, now := o.n.cfg.Clock(); now-at > timeout {
			return nil, &refusal{codeTimeout, fmt.Sprintf("%d of %d questions were answered within the timeout", i, b.n)}
		}
		query := b.at(i)
		if err := each(a, &query, i); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// mostQueryTimes bounds the memory that one question can ask a robot for.
const mostQueryTimes = 1000

// check returns the questions of a query.
func (o *oracle) check(q *wire.Query) (*batch, error) {
	m := o.m
	if q.Rows == 0 {
		q.Rows = 1
	}
	b := &batch{K: m.K, P: m.P, states: q.States, u: q.U, plans: q.Plans, plan: q.Rows * m.P}
	for _, v := range [...]struct {
		name string
		x    []float64
		size int
		of   string
	}{
		{"states", q.States, m.K, "states"}, {"u", q.U, m.P, "inputs"}, {"plans", q.Plans, b.plan, "rows × inputs"},
	} {
		if len(v.x) == 0 {
			continue
		}
		if v.size == 0 {
			return nil, wrong("%s has %d numbers, and the model has no inputs", v.name, len(v.x))
		}
		if len(v.x)%v.size != 0 {
			return nil, wrong("%s has %d numbers, which is no multiple of %d (%s)", v.name, len(v.x), v.size, v.of)
		}
		for i, x := range v.x {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, wrong("element %d of %s is %v", i, v.name, x)
			}
			if v.name == "states" && wire.Coarse(x, m.Scale[i%m.K]) {
				return nil, wrong("element %d of states is %g: numbers of that size are too far apart for predictions that move by %g", i, x, m.Scale[i%m.K])
			}
		}
		n := len(v.x) / v.size
		if n > 1 && b.n > 1 && n != b.n {
			return nil, wrong("%s are %d, and others %d: give one, or as many", v.name, n, b.n)
		}
		b.n = max(b.n, n)
	}
	switch {
	case len(q.States) == 0:
		return nil, wrong("there is no state")
	case b.n > wire.MaxBatch:
		return nil, wrong("%d questions, at most %d", b.n, wire.MaxBatch)
	case len(q.Times) > mostQueryTimes:
		return nil, wrong("%d times, at most %d", len(q.Times), mostQueryTimes)
	case q.Samples > wire.MaxSamples:
		return nil, wrong("%d samples, at most %d", q.Samples, wire.MaxSamples)
	case q.Dtype != "" && q.Dtype != "f8" && q.Dtype != "f4":
		return nil, wrong("dtype is %q, and must be f8 or f4", q.Dtype)
	}
	for i, t := range q.Times {
		if !(t > 0 && t <= m.Horizon*(1+1e-9)) || (i > 0 && t <= q.Times[i-1]) {
			return nil, wrong("times must ascend within the horizon (0, %g] s, and %g s stands at place %d", m.Horizon, t, i)
		}
	}
	samples := 1
	if q.Want == wire.WantSamples {
		samples = max(int(q.Samples), 1)
	}
	if T := max(len(q.Times), 1); b.n*samples > wire.MaxNumbers/(T*m.K) {
		return nil, wrong("the answer would have more than %d numbers in one vector; ask for less", wire.MaxNumbers)
	}
	return b, nil
}

// prepare returns what answers one question and appends it.
func (o *oracle) prepare(q *wire.Query, times []float64) (func(*wire.Answer, *estimator.Query, int) error, error) {
	a := &o.answered
	switch q.Want {
	case "", wire.WantPredict:
		if !slices.Equal(o.times, times) {
			p, err := o.of.at(times)
			if err != nil {
				return nil, wrong("%v", err)
			}
			o.times, o.predictor, o.dst = slices.Clone(times), p, p.NewPrediction()
		}
		a.Horizon = append(a.Horizon, times...)
		return o.predict, nil
	case wire.WantDynamics, wire.WantSamples:
		if o.dynamics == nil {
			return nil, &refusal{codeCannot, "the model has no dynamics net"}
		}
		if q.Want == wire.WantDynamics {
			return o.derivative, nil
		}
		a.Horizon = append(a.Horizon, times...)
		if o.sampler == nil {
			o.sampler = newSampler(o.dynamics)
		}
		return o.sample, nil
	}
	return nil, wrong("want is %q, and must be predict, dynamics or samples", q.Want)
}

var errNotFinite = &refusal{codeNotSound, "a result is not finite; is the state plausible?"}

func (o *oracle) predict(a *wire.Answer, q *estimator.Query, _ int) error {
	if !o.predictor.Predict(o.dst, q) {
		return errNotFinite
	}
	a.Mean, a.Std, a.ObsStd = append(a.Mean, o.dst.Mean...), append(a.Std, o.dst.Std...), append(a.ObsStd, o.dst.ObsStd...)
	a.OOD = append(a.OOD, o.dst.OOD)
	return nil
}

// inputs returns the input (P) of a question at its start.
func (o *oracle) inputs(q *estimator.Query) []float64 {
	switch {
	case len(q.Plan) > 0:
		return q.Plan[:o.m.P]
	case q.U != nil:
		return q.U
	}
	return o.m.Inputs.InputMean[:o.m.P]
}

func (o *oracle) derivative(a *wire.Answer, q *estimator.Query, _ int) error {
	K, n := o.m.K, len(a.F)
	a.F, a.SD = append(a.F, q.X0...), append(a.SD, q.X0...) // room
	f, sD := a.F[n:n+K], a.SD[n:n+K]
	o.dynamics.at(f, sD, q.X0, o.inputs(q))
	for k := range K {
		if v := f[k] + sD[k]; math.IsNaN(v) || math.IsInf(v, 0) {
			return errNotFinite
		}
	}
	return nil
}

func (o *oracle) sample(a *wire.Answer, q *estimator.Query, i int) error {
	s := o.sampler
	for j := range max(o.query.Samples, 1) {
		n := len(a.Samples)
		a.Samples = slices.Grow(a.Samples, len(a.Horizon)*o.m.K)[:n+len(a.Horizon)*o.m.K]
		if !s.draw(a.Samples[n:], a.Horizon, q, o.inputs(q), o.query.Seed, uint64(i), j) {
			return errNotFinite
		}
	}
	return nil
}
