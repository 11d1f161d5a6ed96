package adapt

import (
	"math"

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
	ends          []mixture // B×K
}

// NewCorrector takes all memory for a model that can adapt, see Parameters.
func NewCorrector(m *model.Model) *Corrector {
	e, a, err := Parameters(m)
	if err != nil {
		return nil
	}
	return &Corrector{m: m, before: newPast(m, e, a, nil), rollout: priordynamics.NewAdapted(e, m.K, a, m.Horizon), plan: feature.Plan{P: m.P}, delta: make([]float64, m.K), ddelta: make([]float64, m.K), work: make([]float64, m.K), ends: make([]mixture, len(fractions)*m.K)}
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
		c.ends[j] = mixtureOf(s.Weights[j*experts:(j+1)*experts], s.Offsets[j], s.Rests[j], s.Variances[j])
	}
	for i, t := range dst.Times {
		c.rollout.At(c.delta, ddelta, t)
		if ddelta != nil {
			c.before.subtractRate(ddelta, c.work, t)
		}
		c.before.subtract(c.delta, t)
		p := placeOf(t / c.m.Horizon)
		before, at := c.ends[p.before*K:(p.before+1)*K], c.ends[p.bucket*K:(p.bucket+1)*K]
		mean, std, obsStd := dst.Mean[i*K:(i+1)*K], dst.Std[i*K:(i+1)*K], dst.ObsStd[i*K:(i+1)*K]
		for k, delta := range c.delta[:K] {
			a, b := &before[k], &at[k]
			slope := a.slope + p.share*(b.slope-a.slope)
			shift := p.part * (a.shift + p.share*(b.shift-a.shift))
			square := p.part * p.part * (a.square + p.share*(b.square-a.square))
			moved := slope*delta + shift
			cross := p.part * (a.cross + p.share*(b.cross-a.cross))
			added := (a.curve+p.share*(b.curve-a.curve))*delta*delta + 2*cross*delta + square - moved*moved
			if added < 0 { // rounding
				added = 0
			}
			variance, obs := p.part*p.part*(a.variance+p.share*(b.variance-a.variance)), obsStd[k]*obsStd[k]
			if variance > obs {
				variance = obs
			}
			added += slope * variance
			mean[k] += moved
			std[k] = math.Sqrt(std[k]*std[k] + added)
			obsStd[k] = math.Sqrt(obs + added)
			if ddelta != nil {
				onWay := p.shareRate * ((b.slope-a.slope)*delta + p.part*(b.shift-a.shift))
				dst.DMean[i*K+k] += slope*ddelta[k] + (onWay+p.partRate*(a.shift+p.share*(b.shift-a.shift)))/c.m.Horizon
			}
		}
	}
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
	before, bucket      int
	share               float64 // of the way from the one to the other
	part                float64 // of the way from the start to the first end, at most 1
	shareRate, partRate float64 // by the share of the horizon
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
	p := place{before: b - 1, bucket: b, part: 1, shareRate: 1 / (fractions[b] - fractions[b-1])}
	p.share = min((tau-fractions[b-1])*p.shareRate, 1)
	return p
}
