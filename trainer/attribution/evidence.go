package attribution

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// onset gathers the sums for faults since one time.
type onset struct {
	at      float64
	moments int
	sz, ss  []float64 // J
	pasts   []float64 // J×V, of the signatures
}

// evidence is what one fault has for it at a moment.
type evidence struct {
	D, amount float64 // amount in steps of the fault
	since     float64 // s
}

// shortly is how long before the end of a moment the newest onset is that shows in it, s.
const shortly = 1e-6

// ages are the ends of the ranges of time since an onset that have thresholds of their own, s: what a model errs adds up over
// seconds, and hardly resembles the jump when a fault begins.
var ages = [...]float64{memory / 8, memory / 4, memory / 2, memory}

// watcher gathers the evidence of a flight.
type watcher struct {
	*whitening
	faults []Fault
	edges  []float64 // of the history that the model reads
	onsets []onset
	added  int       // moments
	past   []float64 // V, of what was measured
	z, s   []float64 // K, innovations, and signature
	none   []float64 // K, 0
}

func newWatcher(w *whitening, all []Fault, edges []float64) *watcher {
	K := len(w.offset)
	return &watcher{
		whitening: w, faults: all, edges: edges,
		past: make([]float64, len(spans)*K), z: make([]float64, K), s: make([]float64, K), none: make([]float64, K),
	}
}

// add takes the next moment and returns the evidence for each fault, for each range of ages.
func (w *watcher) add(m *moment) []evidence {
	J, V := len(w.faults), len(w.past)
	w.innovations(w.z, w.past, m.z, w.offset, m)
	w.onsets = slices.DeleteFunc(w.onsets, func(o onset) bool { return o.at < m.end-memory })
	if w.added%apart == 0 {
		w.onsets = append(w.onsets, onset{at: m.end - shortly, sz: make([]float64, J), ss: make([]float64, J), pasts: make([]float64, J*V)})
	}
	w.added++
	best := make([]evidence, len(ages)*J)
	for i := range w.onsets {
		o := &w.onsets[i]
		o.moments++
		age, _ := slices.BinarySearch(ages[:len(ages)-1], m.end-o.at)
		for j := range J {
			w.signature(w.s, m, j, o.at)
			w.innovations(w.s, o.pasts[j*V:(j+1)*V], w.s, w.none, m)
			o.sz[j] += floats.Dot(w.s, w.z)
			o.ss[j] += floats.Dot(w.s, w.s)
			if e := w.faults[j].weigh(o.sz[j], o.ss[j]); o.moments > 1 && e.D > best[j*len(ages)+age].D {
				e.since = o.at
				best[j*len(ages)+age] = e
			}
		}
	}
	return best
}

// signature writes that of a fault since a time to dst (K). An input that changes within a prediction
// changes what it does after it. An offset shows in the end alone, later in the start. Both show in as much
// of the history as is younger.
func (w *watcher) signature(dst []float64, m *moment, j int, since float64) {
	f, age, K := &w.faults[j], m.start-since, len(dst)
	add := func(weight float64, rows []float64, i int) {
		if i >= 0 && (i+1)*K <= len(rows) {
			floats.AddScaled(dst, weight, rows[i*K:(i+1)*K])
		}
	}
	clear(dst)
	switch {
	case age >= 0:
		copy(dst, m.lasting[j])
		before := 0.0
		for row, edge := range w.edges {
			if age < edge {
				share := (age - before) / (edge - before)
				add(1-share, m.recent[j], row)
				add(share, m.recent[j], row+1)
				return
			}
			before = edge
		}
	case f.Kind == Offset:
		dst[f.at] = f.step / m.deviation[f.at]
	default:
		whole, share := math.Modf(parts * (m.end - since) / (m.end - m.start))
		add(1-share, m.partial[j], int(whole)-1)
		add(share, m.partial[j], int(whole))
		if int(whole) == parts-1 {
			floats.AddScaled(dst, share, m.lasting[j])
			add(share, m.recent[j], 0)
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
