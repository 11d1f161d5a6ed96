package adapt

import (
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// start rolls the equation out under the input u, with θ and without, for a prediction from a query. It returns
// false where what θ adds is not finite. With theta nil the roll-out with θ stays that of the last start.
func (c *Corrector) start(dst *estimator.Prediction, q *estimator.Query, u channel.Command, theta []float64, horizon float64) bool {
	c.rollout.Run(q.X0, c.actuators.Start(u, q.History), theta, horizon, false)
	c.before.start(q.X0, q.History, dst.Readout.Condition(dst.NoHistory), theta, false)
	c.deltaAt(c.instant(len(c.instants), horizon), false)
	return finite(c.delta)
}

// deltaAt sets what θ adds at an instant after the last start and, where it is asked for, its derivative by time.
func (c *Corrector) deltaAt(at *instant, derivative bool) {
	var ddelta []float64
	if derivative {
		ddelta = c.ddelta
	}
	c.rollout.AtPlace(c.delta, ddelta, &at.inRollout)
	if derivative {
		c.before.subtractRate(ddelta, c.work, at.inMaps.t)
	}
	c.before.subtract(c.delta, &at.inMaps)
}

// signal returns the input over the horizon as a predictor reads a query.
func (c *Corrector) signal(q *estimator.Query) channel.Command {
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
