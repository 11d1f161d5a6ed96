package prediction

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// rollout predicts at times that may lie beyond the model's horizon, as a chain of
// segments of one horizon each: the first starts at the state, every other where the
// one before ended, with its standard deviations as the covariance of its start. That
// neglects the correlation between the errors of the channels. Segments after the first
// are predicted without history. A plan goes on in them as far as it covers them; then its
// last row is held.
type rollout struct {
	m        *model.Model
	segments []segment
	P        []float64 // K×K
	at       estimator.Query
	plan     []float64 // rows×P, from the start of a segment on
}

// segment is the part of a rollout within one horizon.
type segment struct {
	predictor Predictor
	dst       *estimator.Prediction
	from      int // first row of the rollout
	n         int // rows of the rollout; one more of dst is where the next segment begins
}

// mostSegments is how many horizons a rollout may have.
const mostSegments = 8

// newRollout allocates the memory for predictions at the times, s, ascending. Without
// chain they must be within the horizon.
func newRollout(of *Predictors, times []float64, chain bool) (*rollout, error) {
	m := of.Model
	H := m.Horizon
	last := times[len(times)-1]
	if !chain || last <= H*(1+1e-9) {
		p, err := of.At(times)
		if err != nil {
			return nil, err
		}
		return &rollout{m: m, segments: []segment{{predictor: p, dst: p.NewPrediction(), n: len(times)}}}, nil
	}
	if !m.Displacement {
		return nil, fmt.Errorf("times up to %g s are beyond the horizon of %g s, and the model does not start its predictions at the state, so that none can continue another", last, H)
	}
	if last > mostSegments*H {
		return nil, fmt.Errorf("times up to %g s are more than %d horizons of %g s", last, mostSegments, H)
	}
	c := &rollout{m: m, P: make([]float64, m.K*m.K)}
	for i, row := 0, 0; row < len(times); i++ {
		start := float64(i) * H
		var within []float64
		s := segment{from: row}
		for row < len(times) && times[row]-start <= H*(1+1e-9) {
			within = append(within, min(times[row]-start, H))
			row++
			s.n++
		}
		if row < len(times) && (s.n == 0 || within[s.n-1] < H) {
			within = append(within, H)
		}
		var err error
		if s.predictor, err = of.At(within); err != nil {
			return nil, err
		}
		s.dst = s.predictor.NewPrediction()
		c.segments = append(c.segments, s)
	}
	return c, nil
}

// verify compares each fast predictor with the plain one.
func (c *rollout) verify() error {
	for i := range c.segments {
		if f := c.fast(i); f != nil {
			if err := f.Verify(); err != nil {
				return err
			}
		}
	}
	return nil
}

// verifyLevels verifies the roll-outs of the levels of a horizon: the first one by the plain predictor, the others, whose
// times are the first of its, by that.
func verifyLevels(levels []level) error {
	whole := levels[0].rollout
	if err := whole.verify(); err != nil {
		return err
	}
	var first []*estimator.Fast
	for _, l := range levels[1:] {
		if l.rollout.chained() || whole.fast(0) == nil {
			if err := l.rollout.verify(); err != nil {
				return err
			}
		} else if f := l.rollout.fast(0); f != nil {
			first = append(first, f)
		}
	}
	if len(first) == 0 {
		return nil
	}
	return whole.fast(0).VerifyFirst(first)
}

// fast returns the fast predictor of a segment; nil where the plain one predicts.
func (c *rollout) fast(segment int) *estimator.Fast {
	p := c.segments[segment].predictor
	if c, ok := p.(*corrected); ok {
		p = c.Predictor
	}
	f, _ := p.(*estimator.Fast)
	return f
}

// newPrediction returns the memory for what predict writes: within the horizon what
// the predictor asks for.
func (c *rollout) newPrediction(times []float64) *estimator.Prediction {
	if !c.chained() {
		return c.segments[0].predictor.NewPrediction()
	}
	n := len(times) * c.m.K
	return &estimator.Prediction{Times: times, Mean: make([]float64, n), Std: make([]float64, n), ObsStd: make([]float64, n)}
}

// chained reports whether the rollout goes beyond the horizon.
func (c *rollout) chained() bool { return len(c.segments) > 1 }

// predict is Predict of a predictor, over all segments.
func (c *rollout) predict(dst *estimator.Prediction, q *estimator.Query) (ok bool) {
	if !c.chained() {
		return c.segments[0].predictor.Predict(dst, q)
	}
	K, P := c.m.K, c.m.P
	at := &c.at
	*at = *q
	for i := range c.segments {
		s := &c.segments[i]
		if !s.predictor.Predict(s.dst, at) {
			return false
		}
		rows := s.n * K
		copy(dst.Mean[s.from*K:], s.dst.Mean[:rows])
		copy(dst.Std[s.from*K:], s.dst.Std[:rows])
		copy(dst.ObsStd[s.from*K:], s.dst.ObsStd[:rows])
		if i == 0 {
			dst.Readout, dst.OOD, dst.OutOfDistribution = s.dst.Readout, s.dst.OOD, s.dst.OutOfDistribution
		} else {
			dst.OOD = max(dst.OOD, s.dst.OOD)
			dst.OutOfDistribution = dst.OutOfDistribution || s.dst.OutOfDistribution
		}
		end := len(s.dst.Mean) - K
		at.X0, at.P0, at.History = s.dst.Mean[end:], c.P, nil
		clear(c.P)
		for k, std := range s.dst.Std[end:] {
			c.P[k*K+k] = std * std
		}
		switch {
		case len(q.Plan) > 0 && q.PlanStep > 0:
			c.plan = shifted(c.plan, q.Plan, P, float64(i+1)*c.m.Horizon/q.PlanStep)
			at.Plan = c.plan
		case len(at.Plan) > P:
			at.Plan = at.Plan[len(at.Plan)-P:]
		}
	}
	return true
}
