package intake

import (
	"errors"
	"math"
	"slices"

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
}

// decode decodes a state. States that nothing measures become NaN, whatever a message holds of them, and P0 has zeros for each that
// is NaN.
func (in *Intake) decode(s *wire.State, data []byte) error {
	if in.places == nil {
		return s.Decode(data, in.k, in.p)
	}
	if err := s.Decode(data, len(in.places), in.p); err == nil {
		in.spread(s)
	} else {
		var refused *wire.Error
		if !errors.As(err, &refused) || refused.Reason != wire.WrongSize || s.Decode(data, in.k, in.p) != nil {
			return err
		}
	}
	for k := range s.X {
		if !slices.Contains(in.places, k) {
			s.X[k] = math.NaN()
		}
		for j := 0; j < len(s.P0) && math.IsNaN(s.X[k]); j += in.k {
			s.P0[j+k], s.P0[k*in.k+j/in.k] = 0, 0
		}
	}
	return nil
}

// spread moves the numbers of the measured states to their places among those of all states.
func (in *Intake) spread(s *wire.State) {
	in.measured = append(append(in.measured[:0], s.X...), s.P0...)
	x, P0 := in.measured[:len(s.X)], in.measured[len(s.X):]
	n, size := in.k, min(len(P0), 1)*in.k*in.k
	s.X, s.P0 = slices.Grow(s.X[:0], n)[:n], slices.Grow(s.P0[:0], size)[:size]
	for i, k := range in.places {
		s.X[k] = x[i]
		for j, l := range in.places[:min(len(P0), len(x))] {
			s.P0[k*in.k+l] = P0[i*len(x)+j]
		}
	}
}
