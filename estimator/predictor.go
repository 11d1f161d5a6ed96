package estimator

import (
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/ood"
)

// Predictor evaluates one model at fixed times. It is not safe for concurrent
// use: one per goroutine.
type Predictor struct {
	m       *model.Model
	times   []float64
	rows    *feature.Rows
	members []memberWork
	refits  []memberWork
	prior   *PriorDynamics

	plan          feature.Plan
	planRow       feature.PlanRow // a direction of plan
	held          []float64       // P
	x0            []float64       // L, lifted
	scratch       []float64       // P
	slope         []float64       // L
	mean, v       []float64       // T×K of one member
	sum           []float64       // T×K accumulators
	sumSq         []float64
	sumV          []float64
	sigma2        []float64 // T×K, mean over members
	displacement  []float64 // T×K, of the prior dynamics, output units
	ddisplacement []float64 // T×K, its derivative by standardised time
	noise         []float64 // T×Q weights of the noise knots
	networkWeight [model.Conditions]networkWeights
	jacobian      []float64 // T×K×K, ∂x(t)/∂x0, output over state units
	diff          []float64 // K×K, P0 − R
	white         []float64 // L, whitened, for the distance from the training states
	nearest       []float64 // L, the last white that distance is of
	distance      float64
	rms           ood.RunningRMS
	intervals     intervals
	correlations  correlations
	spread        []float64 // T×K, between the components of the prior dynamics, state units
	disagreement  []float64 // T×K, of its direct maps, state units squared
	dmean, dv     []float64
	dsum          []float64
	dsumSq        []float64
	dsumV         []float64
	ratio         float64 // posterior over prior variance, sum over members and channels
	variances     int     // members that give a variance
	adjoints      adjoints[float64]
}

// New allocates all memory for predictions at the given times, in seconds within (0, horizon]; nil means the
// model's own points. It evaluates the model's self-checks, and refuses a model whose numbers this program does
// not reproduce.
func New(m *model.Model, times []float64) (*Predictor, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	times, err := checkTimes(m, times)
	if err != nil {
		return nil, err
	}
	if err := selfChecks(m, func(times []float64) checkable { return build(m, times) }, reproduced(m)); err != nil {
		return nil, err
	}
	return build(m, times), nil
}

// build takes the memory.
func build(m *model.Model, times []float64) *Predictor {
	T, K, P := len(times), m.K, m.P
	most := feature.Basis{}
	for e := range m.All() {
		most.Terms = max(most.Terms, e.Map.Basis.Terms)
	}
	p := &Predictor{
		m: m, times: append([]float64(nil), times...), rows: feature.NewRows(T, &m.Inputs, most),
		held: make([]float64, P), x0: make([]float64, m.Inputs.Lift.Dim()), slope: make([]float64, m.Inputs.Lift.Dim()),
		scratch: make([]float64, P), noise: make([]float64, T*len(m.NoiseKnots)),
		jacobian: make([]float64, T*K*K), diff: make([]float64, K*K), white: make([]float64, m.Inputs.Lift.Dim()),
	}
	for _, b := range []*[]float64{&p.mean, &p.v, &p.sum, &p.sumSq, &p.sumV, &p.sigma2, &p.dmean, &p.dv, &p.dsum, &p.dsumSq, &p.dsumV, &p.displacement, &p.ddisplacement, &p.spread, &p.disagreement} {
		*b = make([]float64, T*K)
	}
	p.nearest = slices.Repeat([]float64{math.NaN()}, len(p.white))
	p.rows.N = T
	for i := range m.Members {
		p.members = append(p.members, newMember(&m.Members[i], T))
		if p.members[i].variance {
			p.variances++
		}
	}
	for i := range m.Refits {
		p.refits = append(p.refits, newMember(&m.Refits[i], T))
	}
	p.prior = PriorDynamicsOf(m)
	p.rms = ood.NewRunningRMS(&m.RMSDisplacement, m.NoiseKnots)
	p.intervals = newIntervals(m, times)
	p.correlations = newCorrelations(m, times)
	for r := range p.networkWeight {
		p.networkWeight[r] = networkWeightsAt(m, model.Condition(r), times)
	}
	for i, t := range times {
		model.KnotWeights(p.noise[i*len(m.NoiseKnots):(i+1)*len(m.NoiseKnots)], m.NoiseKnots, t/m.Horizon)
	}
	return p
}

// NewPrediction returns a prediction with memory for the results of Predict.
func (p *Predictor) NewPrediction() *Prediction {
	n := len(p.times) * p.m.K
	return &Prediction{
		Times: append([]float64(nil), p.times...),
		Mean:  make([]float64, n), Std: make([]float64, n), ObsStd: make([]float64, n),
		RMSRatio: make([]float64, p.rmsTimes()),
	}
}

// rmsTimes returns the number of times at which RMSRatio is measured: all or none.
func (p *Predictor) rmsTimes() int {
	if len(p.m.RMSDisplacement.Typical) == 0 || len(p.m.RMSDisplacement.Exponent) == 0 {
		return 0
	}
	return len(p.times)
}

// Model returns the model that the predictor evaluates. It must not be changed.
func (p *Predictor) Model() *model.Model { return p.m }

// Predict writes the distribution of the state over the horizon to dst. ok is
// false if a number of the query or of the prediction is not finite; dst is then
// not to be used. It panics if a length does not fit the model.
func (p *Predictor) Predict(dst *Prediction, q *Query) (ok bool) {
	if !p.accepts(dst, q) {
		return false
	}
	dst.Readout = p.signal(q)
	derivative := dst.DMean != nil
	p.fill(dst, q)
	zero(p.sum, p.sumSq, p.sumV, p.sigma2)
	if derivative {
		zero(p.dsum, p.dsumSq, p.dsumV)
	}
	p.ratio = 0
	for i := range p.members {
		w := &p.members[i]
		p.evaluate(w, dst.Readout, derivative, w.variance)
		p.accumulate(w.e.At(dst.Readout), derivative, w.variance)
	}
	p.score(dst)
	p.combine(dst, derivative)
	for i := range p.refits {
		w := &p.refits[i]
		p.evaluate(w, dst.Readout, false, false)
		for j, v := range p.mean {
			d := v - p.sum[j]
			p.sumSq[j] += d * d // combine has cleared it
		}
	}
	if n := float64(len(p.refits)); n > 0 {
		for j, s := range p.sumSq {
			p.sumV[j] = math.Max(p.sumV[j], s/n)
		}
	}
	return p.finish(dst, q)
}

// accepts reports whether all numbers of a query are finite: a saturated net would hide
// that one is not. It panics if a length of the query or the prediction does not fit.
func (p *Predictor) accepts(dst *Prediction, q *Query) bool {
	K, P, n := p.m.K, p.m.P, len(p.times)*p.m.K
	switch {
	case len(q.X0) != K, q.P0 != nil && len(q.P0) != K*K, q.U != nil && len(q.U) != P,
		P == 0 && len(q.Plan) > 0, P > 0 && len(q.Plan)%P != 0, len(q.History)%(K+P) != 0,
		len(dst.Mean) != n, len(dst.Std) != n, len(dst.ObsStd) != n, len(dst.RMSRatio) != p.rmsTimes(),
		dst.DMean != nil && (len(dst.DMean) != n || len(dst.DStd) != n),
		dst.Jacobian != nil && (len(dst.Jacobian) != n*K || !p.m.Displacement), dst.Correlation != nil && len(dst.Correlation) != n*K,
		dst.InputJacobian != nil && len(dst.InputJacobian) != n*max(len(q.Plan), P), dst.Covariates != nil && len(dst.Covariates) != n*int(model.Covariates),
		dst.Prior != nil && len(dst.Prior) != n:
		panic(wrongLength)
	}
	return allFinite(q.X0) && allFinite(q.P0) && allFinite(q.U) && allFinite(q.Plan) && q.PlanStep >= 0 && finite(q.PlanStep) && allFinite(q.History)
}

// signal sets the input over the horizon and returns its readout.
func (p *Predictor) signal(q *Query) Readout {
	m := p.m
	if m.P == 0 {
		return Plan
	}
	if len(q.Plan) > 0 {
		p.plan = feature.Plan{Values: q.Plan, P: m.P, Step: q.PlanStep}
		if q.PlanStep == 0 {
			p.plan.Step = m.Horizon / float64(len(q.Plan)/m.P)
		}
		return Plan
	}
	copy(p.held, m.Inputs.InputMean)
	copy(p.held, q.U)
	p.plan = feature.Plan{Values: p.held, P: m.P, Step: m.Horizon}
	return Hold
}

// fill writes the input rows for the start state, with time as the tangent, and the prior
// dynamics.
func (p *Predictor) fill(dst *Prediction, q *Query) {
	in, r := &p.m.Inputs, p.rows
	in.Lift.Apply(p.x0, q.X0)
	I := in.Dim()
	for i, t := range p.times {
		in.Row(r.S[i*I:(i+1)*I], r.DS[i*I:(i+1)*I], t, p.x0, &p.plan, p.scratch)
	}
	K := p.m.K
	p.begin(dst, q)
	for i, t := range p.times {
		value, rate := p.displacement[i*K:(i+1)*K], p.ddisplacement[i*K:(i+1)*K]
		if dst.DMean == nil {
			rate = nil
		}
		p.prior.At(value, rate, t)
		copy(p.spread[i*K:], p.prior.Spread())
		copy(p.disagreement[i*K:], p.prior.Disagreement())
		if dst.Prior != nil {
			copy(dst.Prior[i*K:], value)
		}
		for k, d := range p.m.Scale {
			value[k] /= d
		}
		for k := range rate {
			rate[k] *= in.TimeStd / p.m.Scale[k]
		}
	}
}

// begin starts the prior dynamics, after signal.
func (p *Predictor) begin(dst *Prediction, q *Query) {
	p.prior.Start(q.X0, &p.plan, dst.Readout, q.History)
	dst.NoHistory = dst.Readout.Condition(true) == p.prior.Condition()
	dst.Leverage = p.prior.Leverage()
}

// accumulate adds one member to the ensemble's sums.
func (p *Predictor) accumulate(post *model.Posterior, derivative, variance bool) {
	K, Q := p.m.K, len(p.m.NoiseKnots)
	for j, v := range p.mean {
		p.sum[j] += v
		p.sumSq[j] += v * v
		if variance {
			p.sumV[j] += p.v[j]
		}
		if derivative {
			p.dsum[j] += p.dmean[j]
			p.dsumSq[j] += p.dmean[j] * p.dmean[j]
			if variance {
				p.dsumV[j] += p.dv[j]
			}
		}
	}
	for i := range p.times {
		for k := range K {
			ls := dot(p.noise[i*Q:(i+1)*Q], post.LogSigma[k*Q:(k+1)*Q])
			p.sigma2[i*K+k] += math.Exp(2 * ls)
		}
	}
}
