package priordynamics

import "github.com/dgm-robotics/dgm/estimator/motion"

// Field evaluates the model's vector field: the increment of a step over its
// length. The learned vector field adds to it.
type Field struct {
	m      *Model
	k      int
	v      []float64
	slope  []float64
	normal []float64
	psi    []float64
	net    *netWork
	motion *motion.Work
	psibar []float64
	vbar   []float64
	d      []float64 // K, an increment
	dbar   []float64 // K, its adjoint
}

// NewField takes the memory for K states.
func NewField(m *Model, k int) *Field {
	n := m.Lift.Dim() + len(m.UMean)
	return &Field{
		m: m, k: k, v: make([]float64, n), slope: make([]float64, n), normal: make([]float64, n),
		psi: make([]float64, m.Terms()), net: newNetWork(m), motion: motion.NewWork(&m.Motion, k, len(m.UMean), m.Step), psibar: make([]float64, m.Terms()), vbar: make([]float64, n),
		d: make([]float64, k), dbar: make([]float64, k),
	}
}

// At writes dx/dt at state x (K) and input u (P), per second, to dst (K).
func (f *Field) At(dst, x, u []float64) {
	f.m.Coordinates(f.v, nil, x, u)
	f.m.Monomials(f.psi, f.v)
	f.m.apply(dst, f.psi)
	f.net.add(dst, f.v)
	f.m.Chain.Add(dst, x, u, f.m.Step)
	f.motion.Add(dst, x, u)
	f.m.Body.Add(dst, x, f.m.Step)
	for k := range dst {
		dst[k] /= f.m.Step
	}
}

// Adjoint adds ∂(fbar·dx/dt)/∂x at state x and input u to xbar (K).
func (f *Field) Adjoint(xbar, x, u, fbar []float64) {
	f.m.Coordinates(f.v, f.slope, x, u)
	for k, g := range fbar {
		f.dbar[k] = g / f.m.Step
	}
	if !f.m.Body.Empty() {
		// The kinematic relations read the whole increment.
		f.m.Monomials(f.psi, f.v)
		f.m.apply(f.d, f.psi)
		f.net.add(f.d, f.v)
		f.m.Chain.Add(f.d, x, u, f.m.Step)
		f.m.Body.Add(f.d, x, f.m.Step)
		f.m.Body.Adjoint(xbar, f.dbar, x, f.d, f.m.Step)
	}
	f.m.Chain.Adjoint(xbar, f.dbar, x, u, f.m.Step)
	f.motion.Adjoint(xbar, f.dbar, x, u)
	for j := range f.psibar {
		s := 0.0
		for k, w := range f.m.Weights[j*f.k : (j+1)*f.k] {
			s += w * f.dbar[k]
		}
		f.psibar[j] = s
	}
	clear(f.vbar)
	f.m.Adjoint(f.vbar, f.v, f.psibar)
	f.net.addAdjoint(f.vbar, f.v, f.dbar)
	f.m.Ellipsoid.Adjoint(f.vbar, f.v, f.normal, f.d)
	for l, of := range f.m.Lift.Of {
		xbar[of] += f.vbar[l] * f.slope[l]
	}
}
