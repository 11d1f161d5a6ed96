package evaluate

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/linear"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/baseline"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// planRows is the least number of rows a recorded input is averaged into: as
// fine as a planner's, so that the shape of the input within a knot is kept.
const planRows = 50

// overflow is the displacement that a linear roll-out that overflowed counts
// with, in the channel's unit: unmistakable and still finite when squared.
const overflow = 1e12

// outcome holds what one window gave: displacements from x0 in the order
// horizon, channel (T×K). Truth is NaN where nothing was measured.
type outcome struct {
	truth, mean, std []float64
	velocity, linear []float64
	shift            []float64        // K, of the start that was told from the measured one
	turns            []attitudeErrors // T, errors of the attitude; none without one
	flagged, ok      bool
}

// replayer predicts windows. One per goroutine.
type replayer struct {
	m        *model.Model
	opt      Options
	p        *estimator.Predictor
	pred     *estimator.Prediction
	velocity *baseline.Velocity
	linear   *linear.Rollout // nil = none in the model
	plan     []float64       // rows×P
	u        []float64       // P
	input    window.Input
	held     held
	query    estimator.Query
	shake    *startNoise         // nil = starts are as measured
	attitude *priordynamics.Body // nil = there is none
	moved    []float64           // K
}

// held is an input that stays at its value.
type held struct{ u []float64 }

// Mean implements linear.Signal.
func (h *held) Mean(dst []float64, _, _ float64) { copy(dst, h.u) }

func newReplayer(m *model.Model, opt Options) (*replayer, error) {
	p, err := estimator.New(m, opt.Horizons)
	if err != nil {
		return nil, err
	}
	states := m.Channels[:m.K]
	r := &replayer{m: m, opt: opt, p: p, pred: p.NewPrediction(), velocity: baseline.NewVelocity(states), u: make([]float64, m.P)}
	r.held.u = r.u
	if m.P > 0 && opt.Readout == estimator.Plan {
		knots := max(1, m.Inputs.Knots)
		rows := knots * ((planRows + knots - 1) / knots)
		r.plan = make([]float64, rows*m.P)
	}
	r.attitude, r.moved = attitudeOf(m, &opt.Kinematics), make([]float64, m.K)
	if opt.StartNoise > 0 {
		if r.shake, err = newStartNoise(m, opt); err != nil {
			return nil, err
		}
	}
	if len(m.Baseline.A) > 0 {
		if r.linear, err = linear.New(&m.Baseline, states, m.P, opt.Horizons); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// newOutcomes takes the memory for n windows.
func (r *replayer) newOutcomes(n int) []outcome {
	size := len(r.opt.Horizons) * r.m.K
	out := make([]outcome, n)
	for i := range out {
		all := make([]float64, 5*size+r.m.K)
		o := &out[i]
		o.truth, o.mean, o.std = all[:size:size], all[size:2*size:2*size], all[2*size:3*size:3*size]
		o.velocity, o.linear = all[3*size:4*size:4*size], all[4*size:5*size:5*size]
		o.shift = all[5*size:]
		if r.attitude != nil {
			o.turns = make([]attitudeErrors, len(r.opt.Horizons))
		}
	}
	return out
}

// window predicts the window that starts at sample start of f. dst.ok tells
// whether the model's prediction was finite.
func (r *replayer) window(dst *outcome, f *window.Flight, start int) {
	K, x0, t0 := r.m.K, f.State(start), f.T[start]
	from := x0
	r.query = estimator.Query{}
	if r.shake != nil {
		from, r.query.P0 = r.shake.start(dst.shift, f, start)
	}
	r.query.X0 = from
	if r.m.P > 0 {
		copy(r.u, f.Input(start))
		r.query.U = r.u
		r.recordedPlan(f, t0)
		r.query.Plan = r.plan
	}
	dst.ok = r.p.Predict(r.pred, &r.query)
	dst.flagged = r.pred.OutOfDistribution
	std := r.pred.ObsStd
	if r.opt.Truth {
		std = r.pred.Std
	}
	copy(dst.std, std)
	for i, h := range r.opt.Horizons {
		f.Displacement(dst.truth[i*K:(i+1)*K], start, h)
		for k := range K {
			dst.mean[i*K+k] = r.pred.Mean[i*K+k] - x0[k]
			dst.velocity[i*K+k] = dst.shift[k] + r.velocity.Displacement(k, from, h)
		}
	}
	r.rollOut(dst.linear, from, f, start)
	for i := range dst.linear {
		dst.linear[i] += dst.shift[i%K]
	}
	if r.attitude != nil {
		r.turned(dst, x0)
	}
}

// recordedPlan averages the recorded input into the plan's rows.
func (r *replayer) recordedPlan(f *window.Flight, t0 float64) {
	P := r.m.P
	rows := len(r.plan) / P
	for i := range rows {
		a, b := float64(i)/float64(rows), float64(i+1)/float64(rows)
		f.InputMean(r.plan[i*P:(i+1)*P], t0+a*r.m.Horizon, t0+b*r.m.Horizon)
	}
}

// rollOut writes the linear model's displacements to dst.
func (r *replayer) rollOut(dst, x0 []float64, f *window.Flight, start int) {
	if r.linear == nil {
		clear(dst)
		return
	}
	r.input.Flight, r.input.Start = f, start
	var u linear.Signal = &r.input
	if r.opt.Readout == estimator.Hold {
		u = &r.held
	}
	if !r.linear.Predict(dst, x0, u) {
		for i := range dst {
			dst[i] = overflow
		}
	}
	for i, d := range dst {
		dst[i] = math.Max(-overflow, math.Min(overflow, d))
	}
}
