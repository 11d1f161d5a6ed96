package estimator

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// Tolerances of a self-check, in standard deviations of a measurement.
const (
	// plainTolerance: the order of a sum and fused multiply-adds differ between
	// processors, nothing else may.
	plainTolerance = 1e-6
	// fastTolerance: beyond it single precision does not serve the model, and the
	// Predictor evaluates it.
	fastTolerance = 1e-4
)

// checkable is a Predictor or a Fast.
type checkable interface {
	NewPrediction() *Prediction
	Predict(dst *Prediction, q *Query) (ok bool)
}

// selfChecks predicts every self-check of a model, each at its own times, and stops at
// the first error that compare returns.
func selfChecks(m *model.Model, at func(times []float64) checkable, compare func(i int, c *model.SelfCheck, got *Prediction, ok bool) error) error {
	var p checkable
	var times []float64
	for i := range m.Checks {
		c := &m.Checks[i]
		if p == nil || !slices.Equal(times, c.Times) {
			p, times = at(c.Times), c.Times
		}
		q := Query{X0: c.X0, U: c.U, History: c.History}
		if c.Readout == Plan && m.P > 0 {
			q.Plan = c.Plan
		}
		got := p.NewPrediction()
		if err := compare(i, c, got, p.Predict(got, &q)); err != nil {
			return err
		}
	}
	return nil
}

// reproduced returns an error unless got is what the trainer of the model predicted.
func reproduced(m *model.Model) func(i int, c *model.SelfCheck, got *Prediction, ok bool) error {
	return func(i int, c *model.SelfCheck, got *Prediction, ok bool) error {
		if !ok {
			return fmt.Errorf("self-check %d of the model: the prediction is not finite; train again", i)
		}
		for j := range c.Mean {
			for _, v := range [...]struct {
				what      string
				got, want float64
			}{{"mean", got.Mean[j], c.Mean[j]}, {"std", got.Std[j], c.Std[j]}, {"obs_std", got.ObsStd[j], c.ObsStd[j]}} {
				if math.Abs(v.got-v.want) > plainTolerance*c.ObsStd[j]+1e-12*math.Abs(v.want) {
					return fmt.Errorf("self-check %d of the model: %s of channel %q at %g s is %g, and was %g where it was trained: this program does not evaluate the model as its trainer did",
						i, v.what, m.Channels[j%m.K].Name, c.Times[j/m.K], v.got, v.want)
				}
			}
		}
		return nil
	}
}

// errTooFar means that single precision does not serve a model.
var errTooFar = errors.New("a self-check is off by more than single precision may be")

// withinSingle returns errTooFar unless got is within single precision of the self-check.
func withinSingle(_ int, c *model.SelfCheck, got *Prediction, ok bool) error {
	if !ok {
		return errTooFar
	}
	for j, obs := range c.ObsStd {
		if math.Abs(got.Mean[j]-c.Mean[j]) > fastTolerance*obs || math.Abs(got.Std[j]-c.Std[j]) > fastTolerance*obs || math.Abs(got.ObsStd[j]-obs) > fastTolerance*obs {
			return errTooFar
		}
	}
	return nil
}
