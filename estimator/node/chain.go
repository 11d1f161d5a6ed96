package node

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// course predicts at times that may lie beyond the model's horizon: in legs of one
// horizon each, the first from the state, every other from where the one before
// ended, with its standard deviations as the covariance of its start. That leaves
// out how the errors of the channels belong together. A plan ends with the first
// horizon; from there on its last input is held.
type course struct {
	m    *model.Model
	legs []leg
	P    []float64 // K×K
	at   estimator.Query
}

// leg is the part of a course within one horizon.
type leg struct {
	p    predictor
	dst  *estimator.Prediction
	from int // first row of the course
	n    int // rows of the course; one more of dst is where the next leg begins
}

// mostLegs is how many horizons a course may have.
const mostLegs = 8

// newCourse takes the memory for predictions at the times, s, ascending. Without
// chain they must be within the horizon.
func newCourse(of *predictors, times []float64, chain bool) (*course, error) {
	m := of.m
	H := m.Horizon
	last := times[len(times)-1]
	if !chain || last <= H*(1+1e-9) {
		p, err := of.at(times)
		if err != nil {
			return nil, err
		}
		return &course{m: m, legs: []leg{{p: p, dst: p.NewPrediction(), n: len(times)}}}, nil
	}
	if !m.Displacement {
		return nil, fmt.Errorf("times up to %g s are beyond the horizon of %g s, and the model does not start its predictions at the state, so that none can go on from another", last, H)
	}
	if last > mostLegs*H {
		return nil, fmt.Errorf("times up to %g s are more than %d horizons of %g s", last, mostLegs, H)
	}
	c := &course{m: m, P: make([]float64, m.K*m.K)}
	for i, row := 0, 0; row < len(times); i++ {
		start := float64(i) * H
		var within []float64
		l := leg{from: row}
		for row < len(times) && times[row]-start <= H*(1+1e-9) {
			within = append(within, min(times[row]-start, H))
			row++
			l.n++
		}
		if row < len(times) && (l.n == 0 || within[l.n-1] < H) {
			within = append(within, H)
		}
		var err error
		if l.p, err = of.at(within); err != nil {
			return nil, err
		}
		l.dst = l.p.NewPrediction()
		c.legs = append(c.legs, l)
	}
	return c, nil
}

// newPrediction returns the memory for what predict writes: within the horizon what
// the predictor asks for.
func (c *course) newPrediction(times []float64) *estimator.Prediction {
	if !c.chained() {
		return c.legs[0].p.NewPrediction()
	}
	n := len(times) * c.m.K
	return &estimator.Prediction{Times: times, Mean: make([]float64, n), Std: make([]float64, n), ObsStd: make([]float64, n)}
}

// chained says whether the course goes beyond the horizon.
func (c *course) chained() bool { return len(c.legs) > 1 }

// predict is Predict of a predictor, over all legs.
func (c *course) predict(dst *estimator.Prediction, q *estimator.Query) (ok bool) {
	if !c.chained() {
		return c.legs[0].p.Predict(dst, q)
	}
	K, P := c.m.K, c.m.P
	at := &c.at
	*at = *q
	for i := range c.legs {
		l := &c.legs[i]
		if !l.p.Predict(l.dst, at) {
			return false
		}
		rows := l.n * K
		copy(dst.Mean[l.from*K:], l.dst.Mean[:rows])
		copy(dst.Std[l.from*K:], l.dst.Std[:rows])
		copy(dst.ObsStd[l.from*K:], l.dst.ObsStd[:rows])
		if i == 0 {
			dst.Readout, dst.OOD, dst.OutOfDistribution = l.dst.Readout, l.dst.OOD, l.dst.OutOfDistribution
		} else {
			dst.OOD = max(dst.OOD, l.dst.OOD)
			dst.OutOfDistribution = dst.OutOfDistribution || l.dst.OutOfDistribution
		}
		end := len(l.dst.Mean) - K
		at.X0, at.P0 = l.dst.Mean[end:], c.P
		clear(c.P)
		for k, s := range l.dst.Std[end:] {
			c.P[k*K+k] = s * s
		}
		if len(at.Plan) > P {
			at.Plan = at.Plan[len(at.Plan)-P:]
		}
	}
	return true
}
