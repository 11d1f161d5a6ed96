package replay

import (
	"errors"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// SelfChecked rounds the model as its file does, and adds self-checks made from these
// very numbers.
func SelfChecked(m *model.Model, flights []window.Flight, windows []window.Window) (*model.Model, error) {
	b, err := m.Encode()
	if err != nil {
		return nil, err
	}
	if m, err = model.Decode(b); err != nil {
		return nil, err
	}
	p, err := estimator.New(m, []float64{m.Horizon / 10, m.Horizon / 2, m.Horizon})
	if err != nil {
		return nil, err
	}
	checked := make([]window.Window, 3)
	for i := range checked {
		checked[i] = windows[(i*2+1)*len(windows)/6]
	}
	m.Checks = nil
	for w := range Each(flights, checked, nil) {
		var q estimator.Query
		readout := model.Plan
		if w.Number == 0 {
			readout = model.Hold
		}
		w.Query(&q, m, readout, m.Inputs.Knots)
		dst := p.NewPrediction()
		if !p.Predict(dst, &q) {
			return nil, errors.New("the trained model predicts numbers that are not finite: the data may hold values far outside their channel's range; run the data check")
		}
		m.Checks = append(m.Checks, model.SelfCheck{
			X0: q.X0, U: q.U, Plan: q.Plan, History: slices.Clone(q.History), Readout: dst.Readout, Times: dst.Times, Mean: dst.Mean, Std: dst.Std, ObsStd: dst.ObsStd,
		})
	}
	_, err = m.Encode()
	return m, err
}
