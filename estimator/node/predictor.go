package node

import (
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// predictor predicts at fixed times: an estimator.Fast, or an estimator.Predictor
// where the configuration asks for the plain one.
type predictor interface {
	Predict(dst *estimator.Prediction, q *estimator.Query) (ok bool)
	NewPrediction() *estimator.Prediction
}

// predictors makes those of one model, which share what depends on it alone. It is
// for one goroutine.
type predictors struct {
	m     *model.Model
	plain bool
	fast  *estimator.Fast // the first one
}

// at returns a predictor for the times.
func (s *predictors) at(times []float64) (predictor, error) {
	if s.plain {
		p, err := estimator.New(s.m, times)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
	if s.fast == nil {
		f, err := estimator.NewFast(s.m, times)
		if err != nil {
			return nil, err
		}
		s.fast = f
		return f, nil
	}
	f, err := s.fast.For(times)
	if err != nil {
		return nil, err
	}
	return f, nil
}
