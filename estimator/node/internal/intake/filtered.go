package intake

import (
	"errors"
	"math"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// filtered prepares for the states of a model with a filter: these hold the measured channels, or all of them with NaN for
// what was not measured.
func (in *Intake) filtered(m *model.Model) {
	if m.Filter == nil {
		return
	}
	measured := m.Measured()
	in.limits.Layout, in.limits.Spelt, in.limits.Whole = wire.Layout(measured), wire.LayoutAsSpelt(measured), wire.Layout(m.Channels)
	in.limits.Absent = make([]bool, m.K)
	for _, c := range m.Filter.Chains {
		in.limits.Absent[c.Position], in.limits.Absent[c.Rate] = true, true
	}
	for k, c := range m.Channels[:m.K] {
		if !c.Estimated {
			in.places = append(in.places, k)
		}
	}
	in.measured = make([]float64, len(in.places))
}

// decode decodes a state. States that nothing measures become NaN, whatever a message holds of them.
func (in *Intake) decode(s *wire.State, data []byte) error {
	if in.places == nil {
		return s.Decode(data, in.k, in.p)
	}
	err := s.Decode(data, len(in.places), in.p)
	if err == nil {
		copy(in.measured, s.X)
	} else {
		var refused *wire.Error
		if !errors.As(err, &refused) || refused.Reason != wire.WrongSize || s.Decode(data, in.k, in.p) != nil {
			return err
		}
		for i, k := range in.places {
			in.measured[i] = s.X[k]
		}
	}
	s.X, s.P0 = s.X[:0], s.P0[:0] // the filter has a covariance of its own
	for range in.k {
		s.X = append(s.X, math.NaN())
	}
	for i, k := range in.places {
		s.X[k] = in.measured[i]
	}
	return nil
}
