package prediction

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator"
)

// consistency is the early consistency check: it compares the two models of the same
// motion that training made agree, the smoother's derivative and the dynamics net, at
// states that the smoother predicts. Where they disagree, the smoother extrapolates.
// It needs no measurement, so it warns before the states have come that would.
type consistency struct {
	dynamics  *Dynamics
	predictor Predictor
	dst       *estimator.Prediction

	f, sD, u []float64
	mean     float64 // running mean of the squared differences in standard deviations
	any      bool
}

const consistencyWeight = 0.1 // of a new check in the mean

// newConsistency returns nil for a model that cannot be checked so.
func newConsistency(of *Predictors, times []float64) *consistency {
	m := of.Model
	d := NewDynamics(m)
	if d == nil || !m.Displacement {
		return nil
	}
	last := min(times[len(times)-1], m.Horizon)
	p, err := of.uncorrected([]float64{last / 4, last})
	if err != nil {
		return nil // predictors for other times were made, so there is no reason left
	}
	return &consistency{dynamics: d, predictor: p, dst: p.NewPrediction().WithDerivatives(), f: make([]float64, m.K), sD: make([]float64, m.K), u: make([]float64, m.P)}
}

// check adds one query to the score.
func (c *consistency) check(q *estimator.Query) {
	if !c.predictor.Predict(c.dst, q) {
		return
	}
	K := c.dynamics.model.K
	sum, n := 0., 0
	for i, t := range c.dst.Times {
		c.inputAt(q, t)
		row := func(v []float64) []float64 { return v[i*K : (i+1)*K] }
		c.dynamics.At(c.f, c.sD, row(c.dst.Mean), c.u)
		slope, std := row(c.dst.DMean), row(c.dst.DStd)
		for k, f := range c.f {
			if v := std[k]*std[k] + c.sD[k]*c.sD[k]; v > 0 {
				d := slope[k] - f
				sum += d * d / v
				n++
			}
		}
	}
	if n == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return
	}
	if !c.any {
		c.any, c.mean = true, sum/float64(n)
	}
	c.mean += consistencyWeight * (sum/float64(n) - c.mean)
}

// inputAt sets u to the input that a query assumes at time t, s.
func (c *consistency) inputAt(q *estimator.Query, t float64) {
	m := c.dynamics.model
	switch {
	case m.P == 0:
	case len(q.Plan) > 0:
		rows := len(q.Plan) / m.P
		span := m.Horizon
		if q.PlanStep > 0 {
			span = q.PlanStep * float64(rows)
		}
		row := int(math.Min(t/span*float64(rows), float64(rows-1)))
		copy(c.u, q.Plan[row*m.P:])
	case q.U != nil:
		copy(c.u, q.U)
	default:
		copy(c.u, m.Inputs.InputMean)
	}
}

// score returns the root mean square, −1 before the first check.
func (c *consistency) score() float64 {
	if c == nil || !c.any {
		return -1
	}
	return math.Sqrt(c.mean)
}
