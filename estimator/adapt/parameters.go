package adapt

import (
	"errors"
	"fmt"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Predictor predicts at fixed times: an estimator.Fast or an estimator.Predictor.
type Predictor interface {
	Predict(dst *estimator.Prediction, q *estimator.Query) (ok bool)
	NewPrediction() *estimator.Prediction
}

// ErrNone is why a model cannot adapt.
var ErrNone = errors.New("the model holds nothing to adapt: no rates, or no difference equation; train it again")

// mostParameters bounds the time of learning, which grows with the cube of their number: a
// window of 96 takes a few milliseconds, one of 400 half a second, in which no state is
// answered.
const mostParameters = 96

// Parameters returns the difference equation of a model that adaptation changes, and its
// parameters.
func Parameters(m *model.Model) (*priordynamics.Model, priordynamics.Adaptation, error) {
	e := model.EquationOf(m.Stack)
	if e == nil && m.Adaptation.Equation.Degree > 0 {
		e = &m.Adaptation.Equation
	}
	a := priordynamics.Adaptation{Rate: m.Adaptation.Rate, Fade: biasFade * m.Horizon}
	if e == nil || !m.Displacement || len(a.Rate) != m.K {
		return nil, a, ErrNone
	}
	for k, c := range m.Channels[:m.K] {
		if c.Derivative == "" && !e.Body.Determines(k) && e.Own(k) >= 0 {
			a.Damped = append(a.Damped, k)
		}
	}
	if n := a.Parameters(e); n > mostParameters {
		return nil, a, noneOf(n)
	}
	return e, a, nil
}

// noneOf is ErrNone of a model with too many parameters.
type noneOf int

func (n noneOf) Error() string {
	return fmt.Sprintf("the model holds nothing to adapt: its %d parameters take too long to learn, at most %d do not; train one of fewer states", int(n), mostParameters)
}

func (n noneOf) Is(err error) bool { return err == ErrNone }
