package attribution

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Times. Predictions over two fifths of the horizon, in whole intervals between samples, start up to twenty times in it. As long as they
// start before a change, what is measured after it contradicts all that was measured before.
const (
	horizonShare = 0.4
	starts       = 20
	memory       = 3.0 // s: onsets are sought so far back
	longest      = memory / 3
)

// moment is one prediction over the short time.
type moment struct {
	start, end float64     // s, in the segment
	keep       []float64   // of each span of the past, see whitening: what its mean keeps of itself
	z          []float64   // K: measured less predicted, over the standard deviation; NaN = not measured
	deviation  []float64   // K: standard deviations
	signature  [][]float64 // of each fault that lasts: K, in standard deviations
	recent     [][]float64 // of each offset: rows×K, where it shows in the start and in none, one, … of the newest rows of history but the last
}

// So many moments have the same signatures, onsets are so many moments apart, and so many moments
// have the same recent signatures: what a map makes of its history hardly depends on the state.
const (
	apart       = 5
	apartRecent = 50
)

// predictor predicts a window as it was commanded and measured, and as it would be with a fault.
type predictor struct {
	m            *model.Model
	rows         int // of a plan
	all          []Fault
	fast         *estimator.Fast
	w            *replay.Window
	q, changed   *estimator.Query
	nominal, dst *estimator.Prediction

	count           int         // of moments
	last            float64     // start of the one before
	lasting, recent [][]float64 // see moment
}

// moments predicts a flight, once as it was commanded and measured, and once for each fault.
func moments(ctx context.Context, m *model.Model, all []Fault, f *window.Flight) ([]moment, error) {
	flights := []window.Flight{*f}
	interval := window.Interval(flights)
	h := math.Max(1, math.Round(math.Min(horizonShare*m.Horizon, longest)/interval)) * interval // between samples nothing is measured
	if h > m.Horizon {
		return nil, fmt.Errorf("segment %q has a sample every %.3g s, and the model predicts up to %g s: log more often", f.Name, interval, m.Horizon)
	}
	fast, err := estimator.NewFast(m, []float64{h})
	if err != nil {
		return nil, err
	}
	p := &predictor{m: m, rows: window.PlanRows(flights, m.Horizon), all: all, fast: fast, q: &estimator.Query{}, changed: &estimator.Query{X0: make([]float64, m.K)}, nominal: fast.NewPrediction(), dst: fast.NewPrediction()}
	if m.P > 0 {
		p.changed.U, p.changed.Plan = make([]float64, m.P), make([]float64, p.rows*m.P)
	}
	var out []moment
	for w := range replay.Each(flights, window.Cut(flights, h, h/starts), []float64{h}) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.w = w
		w.Query(p.q, m, model.Plan, p.rows)
		if !fast.Predict(p.nominal, p.q) {
			return nil, fmt.Errorf("segment %q at %.3f s: a prediction is not finite", f.Name, f.T[w.Start])
		}
		if m.History.Rows() == 0 || !p.nominal.NoHistory {
			out = append(out, p.moment(f.InSegment(w.Start), h))
		}
	}
	return out, nil
}

// moment returns what the prediction leaves, with the signatures of all faults.
func (p *predictor) moment(start, h float64) moment {
	passed := h / starts
	if p.count > 0 {
		passed = start - p.last
	}
	out := moment{start: start, end: start + h, keep: kept(passed / h), deviation: slices.Clone(p.nominal.ObsStd), z: make([]float64, p.m.K)}
	for k, y := range p.w.Measured {
		out.z[k] = (y + p.w.X0[k] - p.nominal.Mean[k]) / p.nominal.ObsStd[k]
	}
	if p.count%apart == 0 {
		p.lasting = make([][]float64, len(p.all))
		for i := range p.all {
			p.lasting[i] = p.signature(&p.all[i], p.m.History.Rows())
		}
	}
	if p.count%apartRecent == 0 {
		p.recent = make([][]float64, len(p.all))
		for i := range p.all {
			p.recent[i] = p.young(&p.all[i])
		}
	}
	p.count++
	p.last = start
	out.signature, out.recent = p.lasting, p.recent
	return out
}

// young returns the signatures of an offset that shows in none, one, … but the last of the rows of
// history; nil of another fault.
func (p *predictor) young(f *Fault) (out []float64) {
	if f.Kind != Offset {
		return nil
	}
	for rows := range p.m.History.Rows() {
		out = append(out, p.signature(f, rows)...)
	}
	return out
}

// signature returns what a fault changes (K), in standard deviations. An offset shows in so many rows of history.
func (p *predictor) signature(f *Fault, rows int) []float64 {
	f.change(p.changed, p.q, p.w, p.m, rows)
	s := make([]float64, p.m.K)
	if !p.fast.Predict(p.dst, p.changed) {
		return s
	}
	for k := range s {
		d := p.dst.Mean[k] - p.nominal.Mean[k]
		if f.Kind == Offset { // both ends are off
			d = -d
			if k == f.at {
				d += f.step
			}
		}
		s[k] = d / p.nominal.ObsStd[k]
	}
	return s
}
