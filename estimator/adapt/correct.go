package adapt

import (
	"math"

	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Corrector applies what was learned to predictions of one model. It is not safe for
// concurrent use.
type Corrector struct {
	m             *model.Model
	rollout       *priordynamics.Adapted
	before        *past
	plan          feature.Plan
	delta, ddelta []float64 // K
	work          []float64 // K
	ends          []end     // B×K
}

// NewCorrector takes all memory for a model that can adapt, see Parameters.
func NewCorrector(m *model.Model) *Corrector {
	e, a, err := Parameters(m)
	if err != nil {
		return nil
	}
	return &Corrector{m: m, before: newPast(m, e, a, nil), rollout: priordynamics.NewAdapted(e, m.K, a, m.Horizon), plan: feature.Plan{P: m.P}, delta: make([]float64, m.K), ddelta: make([]float64, m.K), work: make([]float64, m.K), ends: make([]end, len(fractions)*m.K)}
}

// Correct applies what the filter has learned to a prediction of its model.
func (f *Filter) Correct(dst *estimator.Prediction, q *estimator.Query) bool {
	return f.corrector.Correct(dst, q, &f.state)
}

// Correct applies a state to a prediction that was made from a query: mean, deviations and,
// where they are, derivatives of the mean. It returns false, and has changed nothing, where
// what it would add is not finite.
func (c *Corrector) Correct(dst *estimator.Prediction, q *estimator.Query, s *State) bool {
	K, horizon := c.m.K, 0.0
	for _, t := range dst.Times {
		horizon = math.Max(horizon, t)
	}
	c.rollout.Run(q.X0, c.signal(q), s.Theta, horizon, false)
	c.before.start(q.X0, q.History, dst.Readout.Condition(dst.NoHistory), s.Theta, false)
	c.rollout.At(c.delta, nil, horizon)
	if c.before.subtract(c.delta, horizon); !finite(c.delta) {
		return false
	}
	var ddelta []float64
	if dst.DMean != nil {
		ddelta = c.ddelta
	}
	for j := range c.ends {
		c.ends[j].mixture = mixtureOf(s.Weights[j*experts:(j+1)*experts], s.Offsets[j], s.Rests[j], s.Variances[j])
	}
	for j := range c.ends[K:] {
		c.ends[j].rise = c.ends[j+K].less(&c.ends[j].mixture)
	}
	for i, t := range dst.Times {
		c.rollout.At(c.delta, ddelta, t)
		if ddelta != nil {
			c.before.subtractRate(ddelta, c.work, t)
		}
		c.before.subtract(c.delta, t)
		p := placeOf(t / c.m.Horizon)
		ends := c.ends[p.before*K : (p.before+1)*K]
		if ddelta != nil {
			p.addRates(dst.DMean[i*K:(i+1)*K], ends, c.delta, ddelta, c.m.Horizon)
		}
		p.add(dst.Mean[i*K:(i+1)*K], dst.Std[i*K:(i+1)*K], dst.ObsStd[i*K:(i+1)*K], ends, c.delta)
	}
	f64.Sqrt(dst.Std, dst.Std)
	f64.Sqrt(dst.ObsStd, dst.ObsStd)
	return true
}

// signal returns the input over the horizon as a predictor reads a query.
func (c *Corrector) signal(q *estimator.Query) channel.Signal {
	switch {
	case c.m.P == 0:
		return nil
	case len(q.Plan) > 0:
		c.plan.Values, c.plan.Step = q.Plan, q.PlanStep
		if c.plan.Step == 0 {
			c.plan.Step = c.m.Horizon / float64(len(q.Plan)/c.m.P)
		}
	case q.U != nil:
		c.plan.Values, c.plan.Step = q.U, c.m.Horizon
	default:
		c.plan.Values, c.plan.Step = c.m.Inputs.InputMean[:c.m.P], c.m.Horizon
	}
	return &c.plan
}

// place is where a time is between the ends of two buckets.
type place struct {
	before              int     // the end before it
	share               float64 // of the way from it to the next
	part                float64 // of the way from the start to the first end, at most 1
	shareRate, partRate float64 // by the share of the horizon
}

// add adds to the means of one time (K) what the mixtures at the end before it (K) make of delta,
// and replaces the deviations by the squares of what they become.
func (p *place) add(mean, std, obsStd []float64, ends []end, delta []float64) {
	share, part := p.share, p.part
	mean, std, obsStd, ends = mean[:len(delta)], std[:len(delta)], obsStd[:len(delta)], ends[:len(delta)]
	for k, d := range delta {
		a, b := &ends[k].mixture, &ends[k].rise
		slope := a.slope + share*b.slope
		moved := slope*d + part*(a.shift+share*b.shift)
		added := ((a.curve+share*b.curve)*d+2*part*(a.cross+share*b.cross))*d + part*part*(a.square+share*b.square) - moved*moved
		if added < 0 { // rounding
			added = 0
		}
		variance, obs := part*part*(a.variance+share*b.variance), obsStd[k]*obsStd[k]
		if variance > obs {
			variance = obs
		}
		added += slope * variance
		mean[k] += moved
		std[k] = std[k]*std[k] + added
		obsStd[k] = obs + added
	}
}

// addRates adds what add does to the mean to its derivative by time (K).
func (p *place) addRates(dst []float64, ends []end, delta, ddelta []float64, horizon float64) {
	for k, d := range delta {
		a, b := &ends[k].mixture, &ends[k].rise
		onWay := p.shareRate * (b.slope*d + p.part*b.shift)
		dst[k] += (a.slope+p.share*b.slope)*ddelta[k] + (onWay+p.partRate*(a.shift+p.share*b.shift))/horizon
	}
}

// end is the mixture of a channel at the end of a bucket, and how it rises to that of the next.
type end struct {
	mixture
	rise mixture
}

// placeOf returns where a share of the horizon is.
func placeOf(tau float64) place {
	b := 0
	for b < len(fractions)-1 && fractions[b] < tau {
		b++
	}
	if b == 0 {
		return place{part: tau / fractions[0], partRate: 1 / fractions[0]}
	}
	p := place{before: b - 1, part: 1, shareRate: 1 / (fractions[b] - fractions[b-1])}
	p.share = min((tau-fractions[b-1])*p.shareRate, 1)
	return p
}
