package adapt

import (
	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator"
)

// mostPlan is how many numbers a plan has at most whose gains act in the whole model.
const mostPlan = 4096

// counts is the least weight of what θ adds from which on gains act in the whole model.
const counts = 0.3

// effective is a query with the inputs that act: those of another one times one plus their gains.
type effective struct {
	query            estimator.Query
	u, plan, history []float64 // memory of query
	still            []float64 // q, θ without the gains
	gains            []float64 // P
	used             bool      // by the last Effective
}

// Effective returns the query from which to predict before Correct. It has the inputs changed by their gains, if
// a gain is known, θ counts and the changed inputs have predicted better; else it is q. It is valid until the
// next call.
func (c *Corrector) Effective(q *estimator.Query, s *State) *estimator.Query {
	if c.effective.used = s.Acting[c.readout(q)] > 0 && len(q.Plan) <= mostPlan && s.gainsCount(c.m.K, c.m.P); !c.effective.used {
		return q
	}
	return c.acting(q, s)
}

// readout returns that of a query, of which the state has series.
func (c *Corrector) readout(q *estimator.Query) int {
	if c.m.P > 0 && len(q.Plan) == 0 {
		return int(estimator.Hold)
	}
	return int(estimator.Plan)
}

// acting returns a query with the inputs that act.
func (c *Corrector) acting(q *estimator.Query, s *State) *estimator.Query {
	K, P, e := c.m.K, c.m.P, &c.effective
	gains := e.gains
	copy(gains, s.Theta[K:K+P])
	copy(e.still, s.Theta)
	clear(e.still[K : K+P])
	u := q.U
	if u == nil {
		u = c.m.Inputs.InputMean[:P]
	}
	e.query = *q
	e.query.U, e.query.History = append(e.u[:0], u...), append(e.history[:0], q.History...)
	scale(e.query.U, gains, 0, P)
	scale(e.query.History, gains, K, K+P)
	if q.Plan != nil {
		e.query.Plan = append(e.plan[:0], q.Plan...)
		scale(e.query.Plan, gains, 0, P)
	}
	return &e.query
}

// scale multiplies the numbers from the first on of every row of so many by one plus the gains.
func scale(v, gains []float64, first, row int) {
	for i := first; i+len(gains) <= len(v); i += row {
		for p, g := range gains {
			v[i+p] *= 1 + g
		}
	}
}

// gainsCount reports whether a gain is beyond three standard deviations, and θ counts.
func (s *State) gainsCount(K, P int) bool {
	for i := K; i < K+P; i++ {
		if g := s.Theta[i]; g*g > 9*s.Covariance[i*len(s.Theta)+i] {
			return s.share(half) > counts
		}
	}
	return false
}

// take reports whether the query of the last Effective is another one, once.
func (c *Corrector) take() (used bool) {
	used, c.effective.used = c.effective.used, false
	return used
}

// ByCommands converts the gradient of a prediction of the last Effective from the changed inputs to the inputs
// of the query.
func (c *Corrector) ByCommands(g *estimator.Gradient) {
	if c.take() {
		scale(g.Plan, c.effective.gains, 0, c.m.P)
	}
}

// addStill adds what θ without the gains adds under the inputs that act to a prediction of Effective, and makes its
// derivatives by inputs those of the query's. It returns false, and has changed nothing, where that is not finite.
func (c *Corrector) addStill(dst *estimator.Prediction, horizon float64) bool {
	q := &c.effective.query
	if !c.start(dst, q, c.signal(q), c.effective.still, horizon) {
		return false
	}
	for i, t := range dst.Times {
		c.deltaAt(c.instant(i, t), dst.DMean != nil)
		c.addDelta(dst, i, 1)
	}
	scale(dst.InputJacobian, c.effective.gains, 0, c.m.P)
	return true
}

// addDelta adds the last delta so many times to the mean at time i, and its derivative to the mean's.
func (c *Corrector) addDelta(dst *estimator.Prediction, i int, times float64) {
	K := c.m.K
	f64.AddScaled(dst.Mean[i*K:(i+1)*K], times, c.delta)
	if dst.DMean != nil {
		f64.AddScaled(dst.DMean[i*K:(i+1)*K], times, c.ddelta)
	}
}
