package attribution

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/replay"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// Times. Predictions over a fifth of the horizon, in whole intervals between samples, show a change soon, and more of it than of the
// sensors' noise; they start up to twenty times in it.
const (
	horizonShare = 0.2
	starts       = 20
	memory       = 3.0 // s: onsets are sought so far back
)

// moment is one prediction over the short time.
type moment struct {
	start, end float64     // s, in the segment
	z          []float64   // K: measured less predicted, over the standard deviation; 0 = not measured
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
	lasting, recent [][]float64 // see moment
}

// moments predicts a flight, once as it was commanded and measured, and once for each fault.
func moments(ctx context.Context, m *model.Model, all []Fault, f *window.Flight) ([]moment, error) {
	flights := []window.Flight{*f}
	interval := window.Interval(flights)
	h := math.Max(1, math.Round(horizonShare*m.Horizon/interval)) * interval // between samples nothing is measured
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
	out := moment{start: start, end: start + h, deviation: slices.Clone(p.nominal.ObsStd), z: make([]float64, p.m.K)}
	for k, y := range p.w.Measured {
		if !math.IsNaN(y) {
			out.z[k] = (y + p.w.X0[k] - p.nominal.Mean[k]) / p.nominal.ObsStd[k]
		}
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

// signature returns what a fault changes (K), in standard deviations; 0 where nothing was measured. An
// offset shows in so many rows of history.
func (p *predictor) signature(f *Fault, rows int) []float64 {
	f.change(p.changed, p.q, p.w, p.m, rows)
	s := make([]float64, p.m.K)
	if !p.fast.Predict(p.dst, p.changed) {
		return s
	}
	for k, y := range p.w.Measured {
		if math.IsNaN(y) {
			continue
		}
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

// onset gathers the sums for faults since one time.
type onset struct {
	at      float64
	moments int
	sz, ss  []float64 // J
}

// evidence is what one fault has for it at a moment.
type evidence struct {
	D, amount float64 // amount in steps of the fault
	since     float64 // s
}

// shortly is how long before the end of a moment the newest onset is that shows in it, s.
const shortly = 1e-6

// watcher gathers the evidence of a flight.
type watcher struct {
	faults []Fault
	edges  []float64 // of the history that the model reads
	onsets []onset
	added  int       // moments
	s      []float64 // K scratch
}

// add takes the next moment and returns the evidence for each fault.
func (w *watcher) add(m *moment) []evidence {
	J := len(w.faults)
	w.s = append(w.s[:0], m.z...)
	w.onsets = slices.DeleteFunc(w.onsets, func(o onset) bool { return o.at < m.end-memory })
	if w.added%apart == 0 {
		w.onsets = append(w.onsets, onset{at: m.end - shortly, sz: make([]float64, J), ss: make([]float64, J)})
	}
	w.added++
	best := make([]evidence, J)
	for i := range w.onsets {
		o := &w.onsets[i]
		o.moments++
		for j := range J {
			w.signature(w.s, m, j, o.at)
			o.sz[j] += floats.Dot(w.s, m.z)
			o.ss[j] += floats.Dot(w.s, w.s)
			if e := w.faults[j].weigh(o.sz[j], o.ss[j]); o.moments > 1 && e.D > best[j].D {
				e.since = o.at
				best[j] = e
			}
		}
	}
	return best
}

// signature writes that of a fault since a time to dst (K). An input that changes within a prediction
// changes what it does after it. An offset shows in the end alone, later in the start and in as much
// of the history as is younger.
func (w *watcher) signature(dst []float64, m *moment, j int, since float64) {
	f, age := &w.faults[j], m.start-since
	copy(dst, m.signature[j])
	switch {
	case f.Kind != Offset:
		if age < 0 {
			floats.Scale((m.end-since)/(m.end-m.start), dst)
		}
	case age < 0:
		clear(dst)
		if m.z[f.at] != 0 {
			dst[f.at] = f.step / m.deviation[f.at]
		}
	default:
		K, before := len(dst), 0.0
		for row, edge := range w.edges {
			if age >= edge {
				before = edge
				continue
			}
			recent, share := m.recent[j], (age-before)/(edge-before)
			if next := (row + 1) * K; next < len(recent) {
				copy(dst, recent[next:next+K])
			}
			for k, v := range recent[row*K : (row+1)*K] {
				dst[k] = v + share*(dst[k]-v)
			}
			return
		}
	}
}

// weigh returns the evidence for the most likely amount that may be.
func (f *Fault) weigh(sz, ss float64) evidence {
	if !(ss > 1e-9) {
		return evidence{}
	}
	a := sz / ss
	switch f.Kind {
	case Gain: // an actuator may be lost, or act with half as much again
		a = math.Min(math.Max(a, -100/f.step), 50/f.step)
	case Delay:
		a = math.Min(math.Max(a, 0), 300/f.step)
	}
	return evidence{D: a*sz - 0.5*a*a*ss, amount: a}
}
