package node

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator"
)

// health compares the two models of the same motion that training made agree: the
// smoother's derivative and the dynamics net, at states that the smoother
// predicts. Where they disagree, the smoother extrapolates. It needs no
// measurement, so it speaks before the states have come that would tell.
type health struct {
	d   *dynamics
	p   predictor
	dst *estimator.Prediction

	f, sD, u []float64
	mean     float64 // running mean of the squared differences in standard deviations
	any      bool
}

const (
	healthEvery  = 32 // predictions from one look to the next
	healthWeight = 0.1
)

// newHealth returns nil for a model that cannot be looked at so.
func newHealth(of *predictors, times []float64) *health {
	m := of.m
	d := newDynamics(m)
	if d == nil || !m.Displacement {
		return nil
	}
	last := min(times[len(times)-1], m.Horizon)
	p, err := of.at([]float64{last / 4, last})
	if err != nil {
		return nil // it has been made for other times, so for these no reason is left
	}
	return &health{d: d, p: p, dst: p.NewPrediction().WithDerivatives(), f: make([]float64, m.K), sD: make([]float64, m.K), u: make([]float64, m.P)}
}

// look takes one query into the score.
func (h *health) look(q *estimator.Query) {
	if !h.p.Predict(h.dst, q) {
		return
	}
	m := h.d.m
	sum, n := 0., 0
	for i, t := range h.dst.Times {
		h.inputAt(q, t)
		row := func(v []float64) []float64 { return v[i*m.K : (i+1)*m.K] }
		h.d.at(h.f, h.sD, row(h.dst.Mean), h.u)
		slope, std := row(h.dst.DMean), row(h.dst.DStd)
		for k, f := range h.f {
			if v := std[k]*std[k] + h.sD[k]*h.sD[k]; v > 0 {
				d := slope[k] - f
				sum += d * d / v
				n++
			}
		}
	}
	if n == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return
	}
	if !h.any {
		h.any, h.mean = true, sum/float64(n)
	}
	h.mean += healthWeight * (sum/float64(n) - h.mean)
}

// inputAt sets u to the input that a query assumes at time t, s.
func (h *health) inputAt(q *estimator.Query, t float64) {
	m := h.d.m
	switch {
	case m.P == 0:
	case len(q.Plan) > 0:
		rows := len(q.Plan) / m.P
		row := min(int(t/m.Horizon*float64(rows)), rows-1)
		copy(h.u, q.Plan[row*m.P:])
	case q.U != nil:
		copy(h.u, q.U)
	default:
		copy(h.u, m.Inputs.InputMean)
	}
}

// score returns the root mean square, −1 before the first look.
func (h *health) score() float64 {
	if h == nil || !h.any {
		return -1
	}
	return math.Sqrt(h.mean)
}
