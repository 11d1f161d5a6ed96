package adapt

import (
	"math"

	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Corrector applies learned amounts to predictions of one model. It is not safe for concurrent use.
type Corrector struct {
	m             *model.Model
	rollout       *priordynamics.Adapted
	actuators     *estimator.Actuators
	before        *past
	plan          feature.Plan
	delta, ddelta []float64 // K
	work          []float64 // K
	ends          []end     // B×K
	at            coordinates
	effective     effective
	instants      []instant
	other         instant // behind them
}

// NewCorrector allocates all memory for a model that can adapt, see Parameters.
func NewCorrector(m *model.Model) *Corrector {
	e, a, err := Parameters(m)
	if err != nil {
		return nil
	}
	acting := effective{u: make([]float64, m.P), plan: make([]float64, mostPlan), history: make([]float64, m.History.Rows()*(m.K+m.P)), still: make([]float64, a.Parameters(e)), gains: make([]float64, m.P)}
	c := &Corrector{m: m, effective: acting, at: newCoordinates(e), before: newPast(m, e, a, nil), rollout: priordynamics.NewAdapted(e, m.K, a, m.Horizon), actuators: estimator.NewActuators(m.Actuators, m.History, m.K, m.Horizon), plan: feature.Plan{P: m.P}, delta: make([]float64, m.K), ddelta: make([]float64, m.K), work: make([]float64, m.K), ends: make([]end, len(fractions)*m.K)}
	c.instants, c.other = c.newInstants(mostInstants), c.newInstants(1)[0]
	return c
}

// Effective returns the query from which to predict before Correct, see Corrector.Effective.
func (f *Filter) Effective(q *estimator.Query) *estimator.Query {
	return f.corrector.Effective(q, &f.state)
}

// Correct applies the learned amounts to a prediction of the filter's model.
func (f *Filter) Correct(dst *estimator.Prediction, q *estimator.Query) bool {
	return f.corrector.Correct(dst, q, &f.state)
}

// Correct applies a state to a prediction made from Effective of a query, or from the query itself without a
// call of Effective. It corrects mean, deviations and, if present, derivatives of the mean. It returns false if
// the correction is not finite.
func (c *Corrector) Correct(dst *estimator.Prediction, q *estimator.Query, s *State) bool {
	K, horizon := c.m.K, 0.0
	for _, t := range dst.Times {
		horizon = math.Max(horizon, t)
	}
	acting := c.take()
	if acting && !c.addStill(dst, horizon) {
		return false
	}
	u := c.signal(q)
	theta := s.Theta
	if acting { // the inputs that act are those of q after their gains
		theta = nil
	}
	if !c.start(dst, q, u, theta, horizon) {
		return false
	}
	F, first := len(c.at.set(q.X0, u, fractions[0]*c.m.Horizon)), c.readout(q)*Buckets*K
	for b, part := range fractions {
		at := c.at.until(u, part*c.m.Horizon)
		for end := b * K; end < (b+1)*K; end++ {
			j := first + end
			c.ends[end].mixture = mixtureOf(s.Weights[j*experts:(j+1)*experts], dot(s.Errors[j*F:(j+1)*F], at), dot(s.Rests[j*F:(j+1)*F], at), s.Variances[j]).times(s.trusted(j))
		}
	}
	for j := range c.ends[K:] {
		c.ends[j].rise = c.ends[j+K].less(&c.ends[j].mixture)
	}
	for i, t := range dst.Times {
		at := c.instant(i, t)
		c.deltaAt(at, dst.DMean != nil)
		if acting { // the mean has it already
			c.addDelta(dst, i, -1)
		}
		p := &at.inBuckets
		ends := c.ends[p.before*K : (p.before+1)*K]
		if dst.DMean != nil {
			p.addRates(dst.DMean[i*K:(i+1)*K], ends, c.delta, c.ddelta, c.m.Horizon)
		}
		p.add(dst.Mean[i*K:(i+1)*K], dst.Std[i*K:(i+1)*K], dst.ObsStd[i*K:(i+1)*K], ends, c.delta)
	}
	f64.Sqrt(dst.Std, dst.Std)
	f64.Sqrt(dst.ObsStd, dst.ObsStd)
	return true
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
