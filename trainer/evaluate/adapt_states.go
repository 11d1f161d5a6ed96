package evaluate

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// estimated is a flight whose states are estimated by a filter that moves the robot as adaptation has learned it, as on board.
type estimated struct {
	m      *model.Model
	by     *filter.Estimator
	change *priordynamics.Change
	flight window.Flight
	y      []float64 // K
}

// newEstimated returns nil for a model without a filter.
func newEstimated(m *model.Model) (*estimated, error) {
	by, err := filter.NewEstimator(m)
	if by == nil || err != nil {
		return nil, err
	}
	return &estimated{m: m, by: by, change: priordynamics.NewChange(m.K, m.P), y: make([]float64, m.K)}, nil
}

// begin begins a flight and returns it; its states are the old ones until they are taken.
func (e *estimated) begin(f *window.Flight) *window.Flight {
	if e == nil {
		return f
	}
	e.flight = *f
	e.flight.X, e.flight.Y = append([]float64(nil), f.X...), append([]float64(nil), f.Y...)
	e.by.Filter.Reset()
	return &e.flight
}

// take estimates the state of sample i, at t, ns, with what was learned before it.
func (e *estimated) take(t int64, i int, learned *adapt.Filter) {
	if e == nil {
		return
	}
	f := &e.flight
	x, compared := f.State(i), f.Compared(i)
	copy(e.y, compared)
	for k, c := range e.m.Channels[:e.m.K] {
		if c.Estimated {
			e.y[k] = math.NaN()
		}
	}
	learned.Change(e.change)
	e.by.Changed(e.change)
	e.by.Take(t, e.y, f.Input(i), false)
	e.by.State(x, e.y)
	for k, c := range e.m.Channels[:e.m.K] {
		if c.Estimated {
			compared[k] = x[k]
		}
	}
}
