package replay

import (
	"errors"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// checks are the windows that a model checks itself by, of which the first has its input held.
const checks = 3

// mostRounding is by how much of itself a standard deviation may change for a file with factors of three bytes a number.
const mostRounding = 1e-4

// SelfChecked rounds the model as its file does, and adds self-checks made from these
// very numbers: of a model that reads history also without, first with the input held, then
// with a plan. A model whose posterior is so much narrower than its prior that factors of three bytes a number change the
// standard deviations is to be written in version 2 of the format, with four.
func SelfChecked(m *model.Model, flights []window.Flight, windows []window.Window) (*model.Model, error) {
	usual := m.Usual()
	short, err := selfChecked(m, usual, flights, windows)
	if err != nil || usual != model.Version { // others have four
		return short, err
	}
	single, err := selfChecked(m, 2, flights, windows)
	if err != nil || !sameDeviations(short.Checks, single.Checks) {
		return single, err
	}
	return short, nil
}

// sameDeviations reports whether the standard deviations of self-checks of one model differ by rounding only.
func sameDeviations(a, b []model.SelfCheck) bool {
	for i := range a {
		for j, want := range b[i].Std {
			if !(math.Abs(a[i].Std[j]-want) <= mostRounding*want) {
				return false
			}
		}
	}
	return true
}

// selfChecked is SelfChecked in a version of the format.
func selfChecked(m *model.Model, version int, flights []window.Flight, windows []window.Window) (*model.Model, error) {
	m.Format = version
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
	var checked []window.Window
	for i := range checks {
		checked = append(checked, windows[(i*2+1)*len(windows)/(2*checks)])
	}
	if m.History.Rows() > 0 {
		checked = append(checked, checked[:2]...)
	}
	m.Checks = nil
	for w := range Each(flights, checked, nil) {
		var q estimator.Query
		readout := model.Plan
		if w.Number%checks == 0 {
			readout = model.Hold
		}
		w.Query(&q, m, readout, m.Inputs.Knots)
		if w.Number >= checks {
			q.History = nil
		}
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
