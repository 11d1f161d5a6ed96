package priordynamics

import "github.com/dgm-robotics/dgm/estimator/numeric/mlp"

// hasNet reports whether a net adds to the increments.
func (m *Model) hasNet() bool { return len(m.Net.Layers) > 0 }

// netWork evaluates the net of a model at one place; nil without one.
type netWork struct {
	m    *Model
	tape *mlp.Tape
	bar  [2][]float64 // adjoints of a layer's outputs and inputs
}

func newNetWork(m *Model) *netWork {
	if !m.hasNet() {
		return nil
	}
	most := m.Net.Widest()
	return &netWork{m, mlp.NewTape(&m.Net, 1, true), [2][]float64{make([]float64, most), make([]float64, most)}}
}

// add adds the net's part of the increment at coordinates v (L+P) to dst (K).
func (w *netWork) add(dst, v []float64) {
	if w == nil {
		return
	}
	w.m.Net.Forward(w.tape, 1, v, nil)
	for k, o := range w.tape.Out() {
		dst[k] += w.m.NetScale[k] * o
	}
}

// addJVP adds the tangent of that along dv (L+P) to dst (K).
func (w *netWork) addJVP(dst, v, dv []float64) {
	if w == nil {
		return
	}
	w.m.Net.Forward(w.tape, 1, v, dv)
	for k, o := range w.tape.DOut() {
		dst[k] += w.m.NetScale[k] * o
	}
}

// addAdjoint adds ∂(dbar·(the net's part of the increment))/∂v at coordinates v to vbar
// (L+P).
func (w *netWork) addAdjoint(vbar, v, dbar []float64) {
	if w == nil {
		return
	}
	net := &w.m.Net
	net.Forward(w.tape, 1, v, nil)
	for k, b := range dbar {
		w.bar[0][k] = w.m.NetScale[k] * b
	}
	for i, b := range net.Adjoint(w.tape, 0, w.bar[0], w.bar[1]) {
		vbar[i] += b
	}
}
