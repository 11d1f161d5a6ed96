package prediction

import (
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// Predictor predicts at fixed times: an estimator.Fast, or an estimator.Predictor
// where the configuration asks for the plain one.
type Predictor interface {
	Predict(dst *estimator.Prediction, q *estimator.Query) (ok bool)
	NewPrediction() *estimator.Prediction

	NewGradient(numbers int) *estimator.Gradient
	Adjoint(dst *estimator.Gradient, q *estimator.Query, mean, std []float64) (ok bool)
}

// Predictors makes the predictors of one model, which share what depends on it alone.
// It is for one goroutine.
type Predictors struct {
	Model      *model.Model // not shared, see Private
	Plain      bool
	Correction *Correction // (optional) of the predictions

	fast *estimator.Fast // the first one
}

// At returns a predictor for the times, s.
func (s *Predictors) At(times []float64) (Predictor, error) {
	p, err := s.uncorrected(times)
	if err != nil || s.Correction == nil {
		return p, err
	}
	return &corrected{p, s.Correction}, nil
}

// uncorrected returns a predictor of the model alone.
func (s *Predictors) uncorrected(times []float64) (Predictor, error) {
	var p Predictor
	var err error
	switch {
	case s.Plain:
		p, err = estimator.New(s.Model, times)
	case s.fast == nil:
		s.fast, err = estimator.NewFast(s.Model, times)
		p = s.fast
	default:
		p, err = s.fast.For(times)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Batch returns what answers many questions at the times with one worker; nil where the plain predictor is asked for.
func (s *Predictors) Batch(times []float64) (b *estimator.Batch, err error) {
	switch {
	case s.Plain:
		return nil, nil
	case s.fast != nil:
		b, err = s.fast.Batch(times, 1)
	default:
		b, err = estimator.NewBatch(s.Model, times, 1)
	}
	if err == nil && s.Correction != nil {
		b.Corrected(func() estimator.Correction { return s.Correction })
	}
	return b, err
}
