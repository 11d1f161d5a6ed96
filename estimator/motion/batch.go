package motion

import "github.com/dgm-robotics/dgm/estimator/program"

// lanes is how many places a Batch evaluates at once.
const lanes = 16

// Batch evaluates the increments of an equation at many places: as Work, derivatives in single precision. A nil Batch is of no equation.
type Batch struct {
	k, p  int
	value machine[float64]
	by    machine[float32]
}

// NewBatch takes the memory for steps of h seconds, K states and P inputs; nil without an equation.
func NewBatch(e *Equation, K, P int, h float64) *Batch {
	if e.Empty() {
		return nil
	}
	w := &Batch{k: K, p: P}
	w.value, w.by = compile[float64](e, K, P, h, false, program.Options{Lanes: lanes}), compile[float32](e, K, P, h, false, program.Options{Lanes: lanes, Seeds: K + P})
	w.by.unitDirections(K, P)
	return w
}

// each evaluates the states xs (n×K) under the inputs us (n×P), and calls done with every place and its lane.
func (m *machine[T]) each(n int, xs, us []float64, derivatives bool, done func(i, lane int)) {
	K, P := len(xs)/max(n, 1), len(us)/max(n, 1)
	for from := 0; from < n; from += lanes {
		last := min(lanes, n-from) - 1
		for lane := range lanes {
			i := from + min(lane, last)
			for k, v := range xs[i*K : (i+1)*K] {
				m.Set(m.x, k, 0, lane, v)
			}
			for j, v := range us[i*P : (i+1)*P] {
				m.Set(m.u, j, 0, lane, v)
			}
		}
		m.Value()
		if derivatives {
			m.Tangent()
		}
		for lane := range last + 1 {
			done(from+lane, lane)
		}
	}
}

// Add adds the increments at n states xs (n×K) under inputs us (n×P) to dst (n×K).
func (w *Batch) Add(dst, xs, us []float64, n int) {
	if w == nil {
		return
	}
	w.value.each(n, xs[:n*w.k], us[:n*w.p], false, func(i, lane int) {
		for k := range w.k {
			dst[i*w.k+k] += w.value.Get(w.value.out, k, 0, lane)
		}
	})
}

// Jacobians writes the derivatives of the increments at n states xs (n×K) under inputs us (n×P) to g (n×(K+P)×K), see
// Work.Jacobian.
func (w *Batch) Jacobians(g, xs, us []float64, n int) {
	size := (w.k + w.p) * w.k
	w.by.each(n, xs[:n*w.k], us[:n*w.p], true, func(i, lane int) {
		for c := range w.k + w.p {
			for k := range w.k {
				g[i*size+c*w.k+k] = w.by.TangentOf(w.by.out, k, 0, lane, c)
			}
		}
	})
}
