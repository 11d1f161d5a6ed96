package trainer

import (
	"errors"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/nets"
)

// finish rounds the model as its file does, and adds self-checks made from these
// very numbers.
func finish(m *model.Model, d nets.Data) (*model.Model, error) {
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
	var checks []model.SelfCheck
	for i := range 3 {
		w := d.Windows[(i*2+1)*len(d.Windows)/6]
		fl := &d.Flights[w.Flight]
		q := estimator.Query{X0: fl.State(w.Start)}
		c := model.SelfCheck{X0: q.X0}
		if m.P > 0 {
			q.U = fl.Input(w.Start)
			c.U = q.U
			if i > 0 {
				q.Plan = make([]float64, m.Inputs.Knots*m.P)
				for j := range m.Inputs.Knots {
					a := fl.T[w.Start] + m.Horizon*float64(j)/float64(m.Inputs.Knots)
					fl.InputMean(q.Plan[j*m.P:(j+1)*m.P], a, a+m.Horizon/float64(m.Inputs.Knots))
				}
				c.Plan = q.Plan
			}
		}
		dst := p.NewPrediction()
		if !p.Predict(dst, &q) {
			return nil, errors.New("the trained model predicts numbers that are not finite: the data may hold values far outside their channel's range; run the data check")
		}
		c.Readout, c.Times, c.Mean, c.Std, c.ObsStd = dst.Readout, dst.Times, dst.Mean, dst.Std, dst.ObsStd
		checks = append(checks, c)
	}
	m.Checks = checks
	_, err = m.Encode()
	return m, err
}
