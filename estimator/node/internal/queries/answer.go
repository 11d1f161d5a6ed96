package queries

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// answerer answers queries, one after the other, with predictors of its own.
type answerer struct {
	cfg    *Config
	budget *budget         // of processor time; nil = without bounds
	quit   <-chan struct{} // closed when the service ends; nil = never
	served *model.Model    // that the following were made for
	model  *model.Model    // the same, this answerer's own

	times        []float64
	predictors   prediction.Predictors
	predictor    prediction.Predictor
	trajectories *estimator.Trajectories // nil = not yet asked for at the times
	dst          *estimator.Prediction
	correlation  []float64           // T×K×K, of dst; nil = not yet asked for at the times
	gradient     *estimator.Gradient // nil = not yet asked for at the times and the plan's size
	blocks       *blocks             // nil = not yet asked for
	dynamics     *prediction.Dynamics
	past         past
	learned      *adapt.State // what predictions are corrected by

	query    wire.Query
	answered wire.Answer
	until    int64 // ns, steady: when the query must be done
}

// message is one that answers a query.
type message interface{ Append(dst []byte) []byte }

// answer answers a message that came at a steady time, ns, over a link that takes messages
// of most bytes. send sends an answer, or a part of one, which belongs to the answerer.
func (o *answerer) answer(data []byte, at, most int64, send func(message)) error {
	q := &o.query
	if err := q.Decode(data); err != nil {
		return err
	}
	m, times := o.cfg.Model()
	if q.Want == wire.WantModel {
		send(o.cfg.describe(m, times, most))
		return nil
	}
	if m != o.served {
		own := prediction.Private(m)
		*o = answerer{
			cfg: o.cfg, budget: o.budget, quit: o.quit, served: m, model: own, predictors: prediction.Predictors{Model: own, Plain: o.cfg.Plain, Correction: prediction.NewCorrection(own)},
			dynamics: prediction.NewDynamics(own), past: newPast(own), learned: new(adapt.State), query: o.query, answered: o.answered,
		}
	}
	if c := o.predictors.Correction; c != nil {
		if c.State = nil; o.cfg.Adaptation(o.learned, m.ID) {
			c.State = o.learned
		}
	}
	if len(q.Times) > 0 {
		times = q.Times
	}
	b, err := check(q, o.model, len(times))
	if err != nil {
		return err
	}
	o.begin(b, times)
	s := sizeOf(q, b, o.answered.Channels, len(times))
	perPart, err := s.perPart(most, q.Parts)
	if err != nil {
		return err
	}
	many, err := o.prepareBlocks(times, b)
	if err != nil {
		return err
	}
	each, err := o.prepare(times, b)
	if err != nil {
		return err
	}
	w := &questions{answerer: o, batch: b, many: many, each: each, at: at, limit: timeout}
	if q.Timeout > 0 {
		w.limit = q.Timeout
	}
	_, now := o.cfg.Clock()
	if o.until = at + w.limit; !o.past.begin(b.past, o.cfg.History, time.Duration(o.until-now)) {
		return &refusal{codeTimeout, "timeout", "the history of the stream could not be read within it"}
	}
	for first := 0; first < b.n; first += perPart {
		a := o.begin(b, times)
		if !b.wants.dynamics {
			a.Horizon = append(a.Horizon, times...)
		}
		if q.Parts {
			a.Part, a.Parts, a.First = first/perPart+1, (b.n+perPart-1)/perPart, first
		}
		if err := w.run(first, min(first+perPart, b.n)); err != nil {
			return err
		}
		if !a.Fits() {
			return &refusal{codeNotSound, "dtype", "a result is not finite in it; use f8"}
		}
		send(a)
	}
	return nil
}

// begin empties the answer and fills in what does not depend on the questions.
func (o *answerer) begin(b *batch, times []float64) *wire.Answer {
	a, m := &o.answered, o.served
	*a = wire.Answer{
		Vehicle: o.cfg.Vehicle, Model: m.ID, Channels: a.Channels[:0], Inputs: model.Hold.String(), Dtype: o.query.Dtype,
		Horizon: a.Horizon[:0], Mean: a.Mean[:0], Std: a.Std[:0], ObsStd: a.ObsStd[:0], OOD: a.OOD[:0], F: a.F[:0], SD: a.SD[:0], Samples: a.Samples[:0], Cov: a.Cov[:0], Tube: a.Tube[:0], Violation: a.Violation[:0], ViolationWhole: a.ViolationWhole[:0],
		Jacobian: a.Jacobian[:0], InputJacobian: a.InputJacobian[:0], StartGradient: a.StartGradient[:0], PlanGradient: a.PlanGradient[:0],
	}
	if m.P == 0 || len(b.Plans.X) > 0 {
		a.Inputs = model.Plan.String()
	}
	if len(b.Plans.X) > 0 && !b.wants.dynamics {
		a.Flags |= prediction.PlanFlags(b.PlanStep*float64(o.query.Rows), m.Horizon, times[len(times)-1], m.Horizon)
	}
	if len(b.P0.X) > 0 && m.Displacement {
		a.Flags |= wire.CarriedCovariance
	}
	for _, c := range m.Channels[:m.K] {
		a.Channels = append(a.Channels, c.Name)
	}
	return a
}

// prepare returns what answers question i and appends its numbers to the answer.
func (o *answerer) prepare(times []float64, b *batch) (each func(q *estimator.Query, i int) error, err error) {
	w := b.wants
	if w.dynamics {
		if o.dynamics == nil {
			return nil, &refusal{codeCannot, "want", "the model has no dynamics net"}
		}
		return o.derivative, nil
	}
	if !slices.Equal(o.times, times) {
		if err := o.affordable(len(times)); err != nil {
			return nil, err
		}
		p, err := o.predictors.At(times)
		if err != nil {
			return nil, wrong("times", "%v", err)
		}
		o.times, o.predictor, o.dst, o.trajectories, o.correlation = slices.Clone(times), p, p.NewPrediction(), nil, nil
		o.gradient = nil
	}
	o.dst.Jacobian, o.dst.InputJacobian = nil, nil
	if o.dst.Correlation = nil; w.cov {
		if o.correlation == nil {
			o.correlation = o.dst.WithCorrelation().Correlation
		}
		o.dst.Correlation = o.correlation
	}
	if (w.samples || w.violation) && o.trajectories == nil {
		if o.trajectories, err = estimator.NewTrajectories(o.model, o.times); err != nil {
			return nil, wrong("times", "%v", err)
		}
	}
	if numbers := max(b.Plans.Size, b.U.Size); w.adjoint && (o.gradient == nil || len(o.gradient.Plan) != numbers) {
		o.gradient = o.predictor.NewGradient(numbers)
	}
	return func(q *estimator.Query, i int) error { return o.predict(q, i, b) }, nil
}

// prepareBlocks makes what answers the questions of a batch many at once; nil where they are answered one by one.
func (o *answerer) prepareBlocks(times []float64, b *batch) (*blocks, error) {
	if !b.wants.fit(b.n) || o.predictors.Plain || !o.model.Displacement {
		return nil, nil
	}
	if o.blocks == nil || !slices.Equal(o.blocks.times, times) {
		if err := o.affordable(len(times)); err != nil {
			return nil, err
		}
		of, err := o.predictors.Batch(times)
		if err != nil {
			return nil, wrong("times", "%v", err)
		}
		o.blocks = &blocks{of: of, times: slices.Clone(times)}
	}
	return o.blocks, nil
}

// affordable returns a refusal with what would fit if predictors at so many times take more
// memory than a worker has.
func (o *answerer) affordable(times int) error {
	most := o.cfg.MaxMemory
	if most == 0 || estimator.Memory(o.model, times) <= most {
		return nil
	}
	fit := sort.Search(times, func(n int) bool { return estimator.Memory(o.model, n+1) > most })
	return &refusal{codeLarge, "times", fmt.Sprintf("predictions at %d times need %d MB of memory, and a query has %d MB: ask for at most %d times",
		times, estimator.Memory(o.model, times)>>20, most>>20, fit)}
}

// predict answers question i with what is wanted.
func (o *answerer) predict(q *estimator.Query, i int, b *batch) error {
	w := b.wants
	if w.jacobian {
		o.jacobians(b)
	}
	_, began := o.cfg.Clock()
	if !o.predictor.Predict(o.dst, q) || (w.samples || w.violation) && !o.trajectories.Start(o.dst, q) {
		return errNotFinite
	}
	a, d := &o.answered, o.dst
	o.flagCorrected()
	a.OOD = append(a.OOD, d.OOD)
	if w.mean {
		a.Mean = append(a.Mean, d.Mean...)
	}
	if w.std {
		a.Std, a.ObsStd = append(a.Std, d.Std...), append(a.ObsStd, d.ObsStd...)
	}
	if w.tube {
		a.Tube = append(a.Tube, d.Tube[:]...)
	}
	if w.cov {
		n := len(a.Cov)
		a.Cov = append(a.Cov, d.Correlation...) // room
		d.Covariance(a.Cov[n:])
	}
	if w.adjoint {
		g, differences := o.gradient, 0
		if len(b.StdAdjoint.X) > 0 {
			differences = 2 * (len(g.X0) + len(g.Plan))
		}
		if err := o.done(began, differences); err != nil {
			return err
		}
		if !o.predictor.Adjoint(g, q, b.MeanAdjoint.Row(i), b.StdAdjoint.Row(i)) {
			return errNotFinite
		}
		a.StartGradient, a.PlanGradient = append(a.StartGradient, g.X0...), append(a.PlanGradient, g.Plan...)
	}
	if w.violation {
		if err := o.violation(i); err != nil {
			return err
		}
	}
	if w.samples {
		return o.sample(i)
	}
	return nil
}

// done returns a refusal if the query is not done in time after so many times what took the
// time since a steady one, ns.
func (o *answerer) done(began int64, times int) error {
	_, now := o.cfg.Clock()
	if all := (now - began) * int64(times); all > o.until-now {
		return &refusal{codeTimeout, "timeout", fmt.Sprintf("one question takes about %v: ask for fewer times, rows, samples or less of want, or set it", time.Duration(all).Round(time.Millisecond))}
	}
	return nil
}

// jacobians makes the next prediction write its Jacobians to the end of the answer's.
func (o *answerer) jacobians(b *batch) {
	a, d := &o.answered, o.dst
	room := func(all *[]float64, columns int) []float64 {
		n, size := len(*all), len(d.Mean)*columns
		*all = slices.Grow(*all, size)[:n+size]
		return (*all)[n:]
	}
	d.Jacobian, d.InputJacobian = room(&a.Jacobian, o.model.K), room(&a.InputJacobian, max(b.Plans.Size, b.U.Size))
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

// sample draws trajectories of question i from the distribution that predict answers with.
func (o *answerer) sample(i int) error {
	a := &o.answered
	_, began := o.cfg.Clock()
	for j := range max(o.query.Samples, 1) {
		if j == 1 {
			if err := o.done(began, int(o.query.Samples)-1); err != nil {
				return err
			}
		}
		n, size := len(a.Samples), len(o.dst.Mean)
		a.Samples = slices.Grow(a.Samples, size)[:n+size]
		o.trajectories.Draw(a.Samples[n:], rand.New(rand.NewPCG(o.query.Seed, uint64(i)<<32|j)).NormFloat64)
	}
	return nil
}

// violation appends the probabilities of question i to violate the limits.
func (o *answerer) violation(i int) error {
	a, n := &o.answered, len(o.answered.Violation)
	l := estimator.Limits{HalfSpaces: o.query.HalfSpaces, Boxes: o.query.Boxes}
	size := l.Count(o.model.K) * len(o.times)
	a.Violation = slices.Grow(a.Violation, size)[:n+size]
	draws := cmp.Or(int(o.query.Samples), estimator.ViolationDraws)
	random := rand.NewPCG(o.query.Seed, uint64(i)<<32)
	normal := rand.New(random).NormFloat64
	_, began := o.cfg.Clock()
	o.trajectories.Violation(a.Violation[n:], &l, 1, normal) // the time of one draw
	if err := o.done(began, draws); err != nil {
		return err
	}
	random.Seed(o.query.Seed, uint64(i)<<32)
	a.ViolationWhole = append(a.ViolationWhole, o.trajectories.Violation(a.Violation[n:], &l, draws, normal))
	return nil
}
