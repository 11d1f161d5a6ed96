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

// Times. Predictions over a fifth of the horizon show a change soon, and more of it than of the
// sensors' noise; they start up to twenty times in it.
const (
	horizonShare = 0.2
	starts       = 20
	memory       = 3.0 // s: onsets are sought so far back
	planRows     = 50
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

// moments predicts a flight, once as it was commanded and measured, and once for each fault.
func moments(ctx context.Context, m *model.Model, all []Fault, f *window.Flight) ([]moment, error) {
	h := horizonShare * m.Horizon
	p, err := estimator.NewFast(m, []float64{h})
	if err != nil {
		return nil, err
	}
	var out []moment
	flights := []window.Flight{*f}
	dst, changed := p.NewPrediction(), p.NewPrediction()
	q, other := &estimator.Query{}, &estimator.Query{X0: make([]float64, m.K)}
	if m.P > 0 {
		other.U, other.Plan = make([]float64, m.P), make([]float64, planRows*m.P)
	}
	var lasting, recent [][]float64
	for w := range replay.Each(flights, window.Cut(flights, h, h/starts), []float64{h}) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.Query(q, m, model.Plan, planRows)
		if !p.Predict(dst, q) {
			return nil, fmt.Errorf("segment %q at %.3f s: a prediction is not finite", f.Name, f.T[w.Start])
		}
		if m.History.Rows() > 0 && dst.NoHistory {
			continue
		}
		one := moment{start: f.InSegment(w.Start), deviation: slices.Clone(dst.ObsStd), z: make([]float64, m.K)}
		one.end = one.start + h
		for k, y := range w.Measured {
			if !math.IsNaN(y) {
				one.z[k] = (y + w.X0[k] - dst.Mean[k]) / dst.ObsStd[k]
			}
		}
		signature := func(fault *Fault, rows int) []float64 {
			fault.change(other, q, w, m, rows)
			s := make([]float64, m.K)
			if !p.Predict(changed, other) {
				return s
			}
			for k := range s {
				if s[k] = (changed.Mean[k] - dst.Mean[k]) / dst.ObsStd[k]; math.IsNaN(w.Measured[k]) {
					s[k] = 0
				}
			}
			if fault.Kind == Offset { // both ends are off
				for k := range s {
					s[k] = -s[k]
				}
				if !math.IsNaN(w.Measured[fault.at]) {
					s[fault.at] += fault.step / dst.ObsStd[fault.at]
				}
			}
			return s
		}
		if len(out)%apart == 0 {
			lasting = make([][]float64, len(all))
			for i := range all {
				lasting[i] = signature(&all[i], m.History.Rows())
			}
		}
		if len(out)%apartRecent == 0 {
			recent = make([][]float64, len(all))
			for i := range all {
				for rows := range m.History.Rows() {
					if all[i].Kind == Offset {
						recent[i] = append(recent[i], signature(&all[i], rows)...)
					}
				}
			}
		}
		one.signature, one.recent = lasting, recent
		out = append(out, one)
	}
	return out, nil
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
