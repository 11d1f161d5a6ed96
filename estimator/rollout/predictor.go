package rollout

import "math"

// Signal is the input u over the horizon, time measured from its start.
type Signal interface {
	// Mean writes the mean of u over [a, b], seconds, a < b, to dst (P).
	Mean(dst []float64, a, b float64)
}

// Predictor rolls a model out from one state after the other. It takes all its
// memory in New and is not safe for concurrent use.
type Predictor struct {
	m       *Model
	k       int
	nodes   int       // steps to the horizon and one beyond
	x       []float64 // nodes+1 × K, displacement from x0
	v       []float64 // nodes × (L+P)
	slope   []float64 // nodes × L
	psi     []float64 // N
	vbar    []float64 // L+P
	now, u  []float64 // K, P
	tangent []float64 // nodes+1 × K
}

// New takes the memory for roll-outs of K states up to a horizon, s.
func New(m *Model, k int, horizon float64) *Predictor {
	n := max(1, int(math.Ceil(horizon/m.Step-1e-9))) + 1
	L, P := m.Lift.Dim(), len(m.UMean)
	return &Predictor{
		m: m, k: k, nodes: n,
		x: make([]float64, (n+1)*k), tangent: make([]float64, (n+1)*k),
		v: make([]float64, n*(L+P)), slope: make([]float64, n*L),
		psi: make([]float64, m.Terms()), vbar: make([]float64, L+P),
		now: make([]float64, k), u: make([]float64, P),
	}
}

// Roll rolls the model out from x0 (K) under the input u (nil without inputs).
func (p *Predictor) Roll(x0 []float64, u Signal) {
	m, K := p.m, p.k
	L, P := m.Lift.Dim(), len(m.UMean)
	clear(p.x[:K])
	for n := range p.nodes {
		here, next := p.x[n*K:(n+1)*K], p.x[(n+1)*K:(n+2)*K]
		for k, d := range here {
			p.now[k] = x0[k] + d
		}
		if P > 0 {
			u.Mean(p.u, float64(n)*m.Step, float64(n+1)*m.Step)
		}
		v := p.v[n*(L+P) : (n+1)*(L+P)]
		m.Read(v, p.slope[n*L:(n+1)*L], p.now, p.u)
		m.Monomials(p.psi, v)
		copy(next, here)
		for j, c := range p.psi {
			for k, w := range m.Weights[j*K : (j+1)*K] {
				next[k] += w * c
			}
		}
	}
}

// At writes the displacement x(t) − x0 of the last Roll to dst (K) and, unless
// nil, its time derivative per second to ddst (K).
func (p *Predictor) At(dst, ddst []float64, t float64) { p.between(dst, ddst, p.x, t) }

// Turn takes the derivative of the last Roll along the direction dx (K) of x0.
func (p *Predictor) Turn(dx []float64) {
	m, K := p.m, p.k
	L, P := m.Lift.Dim(), len(m.UMean)
	clear(p.tangent[:K])
	for n := range p.nodes {
		here, next := p.tangent[n*K:(n+1)*K], p.tangent[(n+1)*K:(n+2)*K]
		copy(next, here)
		v := p.v[n*(L+P) : (n+1)*(L+P)]
		// ∂(Wᵀψ)_k/∂v by one adjoint for each channel: K is small.
		for k := range K {
			for j := range p.psi {
				p.psi[j] = m.Weights[j*K+k]
			}
			clear(p.vbar)
			m.Adjoint(p.vbar, v, p.psi)
			for l, of := range m.Lift.Of {
				next[k] += p.vbar[l] * p.slope[n*L+l] * (here[of] + dx[of])
			}
		}
	}
}

// TurnAt writes the derivative of the displacement along the direction of the
// last Turn to dst (K). What the start itself adds to the state is not in it.
func (p *Predictor) TurnAt(dst []float64, t float64) { p.between(dst, nil, p.tangent, t) }

// between interpolates the nodes x ((nodes+1)×K) at time t by a cubic whose
// slopes are central differences.
func (p *Predictor) between(dst, ddst, x []float64, t float64) {
	K, h := p.k, p.m.Step
	n := max(0, min(int(t/h), p.nodes-1))
	s := t/h - float64(n)
	s2, s3 := s*s, s*s*s
	for k := range K {
		a, b := x[n*K+k], x[(n+1)*K+k]
		ma, mb := p.nodeSlope(x, n, k), p.nodeSlope(x, n+1, k)
		dst[k] = (2*s3-3*s2+1)*a + (s3-2*s2+s)*ma + (3*s2-2*s3)*b + (s3-s2)*mb
		if ddst != nil {
			ddst[k] = ((6*s2-6*s)*(a-b) + (3*s2-4*s+1)*ma + (3*s2-2*s)*mb) / h
		}
	}
}

// nodeSlope returns the slope at node n, per step; at both ends that of the
// parabola through the last three nodes.
func (p *Predictor) nodeSlope(x []float64, n, k int) float64 {
	K := p.k
	switch n {
	case 0:
		return -1.5*x[k] + 2*x[K+k] - 0.5*x[2*K+k]
	case p.nodes:
		return 1.5*x[n*K+k] - 2*x[(n-1)*K+k] + 0.5*x[(n-2)*K+k]
	}
	return 0.5 * (x[(n+1)*K+k] - x[(n-1)*K+k])
}

// Field evaluates the model's vector field: the increment of a step over its
// length. It is what the dynamics starts from.
type Field struct {
	m      *Model
	k      int
	v      []float64
	slope  []float64
	psi    []float64
	psibar []float64
	vbar   []float64
}

// NewField takes the memory for K states.
func NewField(m *Model, k int) *Field {
	n := m.Lift.Dim() + len(m.UMean)
	return &Field{
		m: m, k: k, v: make([]float64, n), slope: make([]float64, m.Lift.Dim()),
		psi: make([]float64, m.Terms()), psibar: make([]float64, m.Terms()), vbar: make([]float64, n),
	}
}

// At writes dx/dt at state x (K) and input u (P), per second, to dst (K).
func (f *Field) At(dst, x, u []float64) {
	f.m.Read(f.v, nil, x, u)
	f.m.Monomials(f.psi, f.v)
	clear(dst)
	for j, c := range f.psi {
		for k, w := range f.m.Weights[j*f.k : (j+1)*f.k] {
			dst[k] += w * c / f.m.Step
		}
	}
}

// Adjoint adds ∂(fbar·dx/dt)/∂x at state x and input u to xbar (K).
func (f *Field) Adjoint(xbar, x, u, fbar []float64) {
	f.m.Read(f.v, f.slope, x, u)
	for j := range f.psibar {
		s := 0.0
		for k, w := range f.m.Weights[j*f.k : (j+1)*f.k] {
			s += w * fbar[k]
		}
		f.psibar[j] = s / f.m.Step
	}
	clear(f.vbar)
	f.m.Adjoint(f.vbar, f.v, f.psibar)
	for l, of := range f.m.Lift.Of {
		xbar[of] += f.vbar[l] * f.slope[l]
	}
}
