package evaluate

import (
	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// planRows is the least number of rows a recorded input is averaged into: as
// fine as a planner's, so that the shape of the input within a knot is kept.
const planRows = 50

// predictor predicts windows of flights by the model and by its prior dynamics alone.
// One per goroutine.
type predictor struct {
	m        *model.Model
	onboard  *estimator.Predictor
	dynamics *estimator.PriorDynamics
	noise    *startNoise // nil = starts are as measured
	signal   feature.Plan
	slope    []float64 // K

	// The last window, and what was predicted for it.
	replay.Window
	query estimator.Query
	shift []float64 // K, query.X0 − X0
	pred  *estimator.Prediction
	prior []float64 // T×K, displacement from query.X0 by the prior dynamics alone
}

func newPredictor(m *model.Model, opt Options) (*predictor, error) {
	onboard, err := estimator.New(m, opt.Horizons)
	if err != nil {
		return nil, err
	}
	p := &predictor{
		m: m, onboard: onboard, dynamics: estimator.PriorDynamicsOf(m), signal: feature.Plan{P: m.P, Step: m.Horizon}, slope: make([]float64, m.K), shift: make([]float64, m.K),
		Window: *replay.New(m.K, opt.Horizons), pred: onboard.NewPrediction(), prior: make([]float64, len(opt.Horizons)*m.K),
	}
	if m.P > 0 && opt.Readout == model.Plan {
		knots := max(1, m.Inputs.Knots)
		rows := knots * ((planRows + knots - 1) / knots)
		p.query.Plan = make([]float64, rows*m.P)
		p.signal.Step /= float64(rows)
	}
	if opt.StartNoise > 0 {
		if p.noise, err = newStartNoise(m, opt); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// window predicts the window that starts at a sample of f, and reports whether the
// prediction is finite.
func (p *predictor) window(f *window.Flight, start int) (ok bool) {
	p.Read(f, start)
	q := &p.query
	q.X0 = p.X0
	if p.noise != nil {
		q.X0, q.P0 = p.noise.start(p.shift, f, start)
	}
	var u feature.Signal // nil without inputs
	if p.m.P > 0 {
		q.U = f.Input(start)
		p.signal.Values = q.U
		if q.Plan != nil {
			p.plan(q.Plan)
			p.signal.Values = q.Plan
		}
		u = &p.signal
	}
	p.dynamics.Start(q.X0, u)
	for i, t := range p.Times {
		p.dynamics.At(p.prior[i*p.m.K:(i+1)*p.m.K], p.slope, t)
	}
	return p.onboard.Predict(p.pred, q)
}

// plan averages the recorded input over the rows of dst (rows×P). The ends of the rows are
// fractions of the horizon: a row ends exactly where the next one begins.
func (p *predictor) plan(dst []float64) {
	P, H, t0 := p.m.P, p.m.Horizon, p.Flight.T[p.Start]
	rows := len(dst) / P
	for i := range rows {
		a, b := float64(i)/float64(rows), float64(i+1)/float64(rows)
		p.Flight.InputMean(dst[i*P:(i+1)*P], t0+a*H, t0+b*H)
	}
}
