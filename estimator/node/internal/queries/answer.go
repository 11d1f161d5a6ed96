package queries

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// answerer answers queries, one after the other, with predictors of its own.
type answerer struct {
	cfg    *Config
	served *model.Model // that the following were made for
	model  *model.Model // the same, this answerer's own

	times      []float64
	predictors prediction.Predictors
	predictor  prediction.Predictor
	dst        *estimator.Prediction
	dynamics   *prediction.Dynamics
	past       past
	sampler    *sampler

	query    wire.Query
	answered wire.Answer
}

// answer answers a message that came at a steady time, ns. The answer belongs to the
// answerer.
func (o *answerer) answer(data []byte, at int64) (*wire.Answer, error) {
	q := &o.query
	if err := q.Decode(data); err != nil {
		return nil, err
	}
	m, times := o.cfg.Model()
	if m != o.served {
		own := prediction.Private(m)
		*o = answerer{
			cfg: o.cfg, served: m, model: own, predictors: prediction.Predictors{Model: own, Plain: o.cfg.Plain},
			dynamics: prediction.NewDynamics(own), past: newPast(own), query: o.query, answered: o.answered,
		}
	}
	b, err := check(q, o.model)
	if err != nil {
		return nil, err
	}
	limit := timeout
	if q.Timeout > 0 {
		limit = q.Timeout
	}
	if len(q.Times) > 0 {
		times = q.Times
	}
	a := o.begin(b)
	each, err := o.prepare(times)
	if err != nil {
		return nil, err
	}
	_, now := o.cfg.Clock()
	if !o.past.begin(b.past, o.cfg.History, time.Duration(at+limit-now)) {
		return nil, &refusal{codeTimeout, "the history of the stream could not be read within the timeout"}
	}
	for i := range b.n {
		if _, now := o.cfg.Clock(); now-at > limit {
			return nil, &refusal{codeTimeout, fmt.Sprintf("%d of %d questions were answered within the timeout", i, b.n)}
		}
		question, all := b.at(i), false
		if question.History, all = o.past.before(b.past, i, question.X0); !all && len(a.Horizon) > 0 && o.query.Want != wire.WantSamples {
			a.NoHistory++
		}
		if err := each(&question, i); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// begin empties the answer and fills in what does not depend on the questions.
func (o *answerer) begin(b *batch) *wire.Answer {
	a, m := &o.answered, o.served
	*a = wire.Answer{
		Vehicle: o.cfg.Vehicle, Model: m.ID, Channels: a.Channels[:0], Inputs: model.Hold.String(), Dtype: o.query.Dtype,
		Horizon: a.Horizon[:0], Mean: a.Mean[:0], Std: a.Std[:0], ObsStd: a.ObsStd[:0], OOD: a.OOD[:0], F: a.F[:0], SD: a.SD[:0], Samples: a.Samples[:0],
	}
	if a.Dtype == "" {
		a.Dtype = "f8"
	}
	if m.P == 0 || len(b.plans.x) > 0 {
		a.Inputs = model.Plan.String()
	}
	for _, c := range m.Channels[:m.K] {
		a.Channels = append(a.Channels, c.Name)
	}
	return a
}

// prepare returns what answers question i and appends its numbers to the answer.
func (o *answerer) prepare(times []float64) (each func(q *estimator.Query, i int) error, err error) {
	a, want := &o.answered, o.query.Want
	switch want {
	case "", wire.WantPredict:
		if !slices.Equal(o.times, times) {
			p, err := o.predictors.At(times)
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
		if want == wire.WantDynamics {
			return o.derivative, nil
		}
		a.Horizon = append(a.Horizon, times...)
		if o.sampler == nil {
			o.sampler = newSampler(o.dynamics, o.model)
		}
		return o.sample, nil
	}
	return nil, wrong("want is %q, and must be predict, dynamics or samples", want)
}

var errNotFinite = &refusal{codeNotSound, "a result is not finite; is the state plausible?"}

func (o *answerer) predict(q *estimator.Query, _ int) error {
	if !o.predictor.Predict(o.dst, q) {
		return errNotFinite
	}
	a, d := &o.answered, o.dst
	a.Mean, a.Std, a.ObsStd = append(a.Mean, d.Mean...), append(a.Std, d.Std...), append(a.ObsStd, d.ObsStd...)
	a.OOD = append(a.OOD, d.OOD)
	return nil
}

// inputs returns the input (P) of a question at its start.
func (o *answerer) inputs(q *estimator.Query) []float64 {
	switch {
	case len(q.Plan) > 0:
		return q.Plan[:o.model.P]
	case q.U != nil:
		return q.U
	}
	return o.model.Inputs.InputMean[:o.model.P]
}

func (o *answerer) derivative(q *estimator.Query, _ int) error {
	a := &o.answered
	K, n := o.model.K, len(a.F)
	a.F, a.SD = append(a.F, q.X0...), append(a.SD, q.X0...) // room
	f, sD := a.F[n:n+K], a.SD[n:n+K]
	o.dynamics.At(f, sD, q.X0, o.inputs(q))
	for k := range K {
		if v := f[k] + sD[k]; math.IsNaN(v) || math.IsInf(v, 0) {
			return errNotFinite
		}
	}
	return nil
}

func (o *answerer) sample(q *estimator.Query, i int) error {
	a := &o.answered
	for j := range max(o.query.Samples, 1) {
		n, size := len(a.Samples), len(a.Horizon)*o.model.K
		a.Samples = slices.Grow(a.Samples, size)[:n+size]
		if !o.sampler.draw(a.Samples[n:], a.Horizon, q, o.inputs(q), o.query.Seed, uint64(i), j) {
			return errNotFinite
		}
	}
	return nil
}
