package speed

import (
	"math"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// corrections measures what adaptation adds to a prediction: where amounts were learned, and where a gain is known,
// so that the inputs that act are those of the whole model.
type corrections struct {
	corrector      *adapt.Corrector // nil = the model does not adapt
	learned, known *adapt.State
	some, acting   Least
}

// newCorrections returns those of a model, with amounts that were invented.
func newCorrections(m *model.Model) *corrections {
	c := &corrections{corrector: adapt.NewCorrector(m)}
	if c.corrector == nil {
		return c
	}
	f, err := adapt.New(m, func(times []float64) (adapt.Predictor, error) { return estimator.New(m, times) })
	if err != nil {
		panic("speed: " + err.Error()) // it adapts
	}
	c.learned = f.State().Clone()
	for i := range c.learned.Theta {
		c.learned.Theta[i] = 0.03 * math.Sin(float64(i))
	}
	experts := len(c.learned.Weights) / (adapt.Buckets * m.K)
	for i := range c.learned.Weights {
		c.learned.Weights[i] = 1 / float64(experts)
	}
	c.known = c.learned.Clone()
	if m.P > 0 {
		q := len(c.known.Theta)
		c.known.Theta[m.K], c.known.Covariance[m.K*q+m.K], c.known.Acting[0] = -0.2, 1e-6, 1
	}
	return c
}

// measure times some of each; dst is a prediction of the query.
func (c *corrections) measure(fast *estimator.Fast, dst *estimator.Prediction, q *estimator.Query) {
	if c.corrector == nil {
		return
	}
	for range 20 {
		fast.Predict(dst, q)
		c.some.Wall(func() { c.corrector.Correct(dst, c.corrector.Effective(q, c.learned), c.learned) })
		fast.Predict(dst, q)
		c.acting.Wall(func() {
			c.corrector.Effective(q, c.known)
			c.corrector.Correct(dst, q, c.known)
		})
	}
}

// put puts the least times into a row.
func (c *corrections) put(r *study.Row) {
	if c.corrector != nil {
		r.Put("correction_us", c.some.us()).Put("correction_known_gain_us", c.acting.us())
	}
}
