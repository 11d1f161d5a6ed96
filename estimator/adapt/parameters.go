package adapt

import (
	"errors"

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

// Parameters returns the difference equation of a model that adaptation changes, and its
// parameters.
func Parameters(m *model.Model) (*priordynamics.Model, priordynamics.Adaptation, error) {
	e := model.EquationOf(m.Stack)
	if e == nil && m.Adaptation.Equation.Degree > 0 {
		e = &m.Adaptation.Equation
	}
	a := priordynamics.Adaptation{Rate: m.Adaptation.Rate}
	if e == nil || !m.Displacement || len(a.Rate) != m.K {
		return nil, a, ErrNone
	}
	for k, c := range m.Channels[:m.K] {
		if c.Derivative == "" && !e.Body.Determines(k) && e.Own(k) >= 0 {
			a.Damped = append(a.Damped, k)
		}
	}
	return e, a, nil
}
