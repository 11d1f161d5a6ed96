package priordynamics

import (
	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// Jacobian writes the derivatives of the last Evaluate by the start state to dst: N×K×K, the
// derivative of displacement k by state c at c·K + k of each time. Increments change with
// the state they start from by G = ∂Δ/∂x, so that with X_n = ∂(x_n − x0)/∂x0 at the nodes
//
//	X_(n+1) = X_n + G (I + X_n)    H0 = G0 (I + X_n)    H1 = G1 (I + X_n + H0)
//	X(t) = X_n + σ H0 + ½σ(σ−1) (H1 − H0)
//
// All matrices are stored transposed.
func (f *BatchedRollout) Jacobian(dst []float64) {
	K := f.p.k
	f.setNodes()
	f.differentiate(&f.nodes, f.p.nodes)
	f.differentiate(&f.first, len(f.between))
	f.differentiate(&f.second, len(f.between))
	clear(f.nodeJacobian[:K*K])
	for i := range f.p.nodes {
		here, next := f.matrix(f.nodeJacobian, i), f.matrix(f.nodeJacobian, i+1)
		f.plusIdentity(here)
		f.product(next, f.y, f.matrix(f.nodes.g, i))
		f64.Add(next, next, here)
	}
	for i, step := range f.step {
		copy(f.matrix(dst, i), f.matrix(f.nodeJacobian, step))
	}
	for j, i := range f.between {
		to := f.matrix(dst, i)
		f.plusIdentity(to)
		f.product(f.h0, f.y, f.matrix(f.first.g, j))
		f64.Add(f.y, f.y, f.h0)
		f.product(f.h1, f.y, f.matrix(f.second.g, j))
		matmul.LinearCombination(to, 1, to, f.part[j]-f.curve[j], f.h0, f.curve[j], f.h1)
	}
}

// matrix returns matrix i of K×K each.
func (f *BatchedRollout) matrix(of []float64, i int) []float64 {
	n := f.p.k * f.p.k
	return of[i*n : (i+1)*n]
}

// plusIdentity sets y to I + x (K×K).
func (f *BatchedRollout) plusIdentity(x []float64) {
	copy(f.y, x)
	for k := range f.p.k {
		f.y[k*(f.p.k+1)]++
	}
}

// product sets c to a·b, K×K each.
func (f *BatchedRollout) product(c, a, b []float64) {
	K := f.p.k
	f.work.Affine(matmul.Matrix(K, K, c), matmul.Matrix(K, K, a), matmul.Matrix(K, K, b), nil)
}

// setNodes sets the increments of the nodes of the last Run, as far as their derivatives
// read them.
func (f *BatchedRollout) setNodes() {
	p, s, K := f.p, &f.nodes, f.p.k
	V, N := len(p.va), len(p.psi)
	copy(s.v, p.v)
	copy(s.slope, p.slope)
	for i := range p.nodes {
		p.m.Monomials(s.psi[i*N:(i+1)*N], s.v[i*V:(i+1)*V])
		for k, x0 := range p.x0 {
			s.x[i*K+k], s.delta[i*K+k] = x0+p.x[i*K+k], p.x[(i+1)*K+k]-p.x[i*K+k]
		}
	}
}

// differentiate sets the derivatives g of n increments.
func (f *BatchedRollout) differentiate(s *increments, n int) {
	p, m, K, L := f.p, f.p.m, f.p.k, f.p.m.Lift.Dim()
	lower := len(f.derivatives) / max(L*K, 1)
	psi := matmul.Matrix(n, lower, s.psi)
	psi.Stride = len(p.psi)
	f.work.Affine(matmul.Matrix(n, L*K, s.d), psi, matmul.Matrix(lower, L*K, f.derivatives), nil)
	f.net.addJacobian(s.d, s.v, n)
	clear(s.g[:n*K*K])
	for i := range n {
		g := f.matrix(s.g, i)
		for l, of := range m.Lift.Of {
			slope, row := s.slope[i*L+l], g[of*K:(of+1)*K]
			for k, d := range s.d[(i*L+l)*K : (i*L+l+1)*K] {
				row[k] += slope * d
			}
		}
		if m.Body.Empty() {
			continue
		}
		for c := range K {
			clear(f.unit)
			f.unit[c] = 1
			m.Body.JVP(g[c*K:(c+1)*K], f.unit, s.x[i*K:(i+1)*K], s.delta[i*K:(i+1)*K], m.Step)
		}
	}
}

// derivatives returns the weights of the derivatives of Wᵀψ by the states' coordinates,
// T'×(L·K): these are sums of the monomials of one degree less, which are the first T' of ψ.
func (m *Model) derivatives(K int) []float64 {
	L, n := m.Lift.Dim(), m.Lift.Dim()+len(m.UMean)
	lower := 1
	if m.Degree > 1 {
		lower = terms(L, n-L, m.Degree-1)
	}
	out := make([]float64, lower*L*K)
	// add adds the weights of monomial at to those of its derivative by l, monomial low.
	add := func(low, l, at int) {
		if l >= L { // an input
			return
		}
		for k, w := range m.Weights[at*K : (at+1)*K] {
			out[(low*L+l)*K+k] += w
		}
	}
	pair := func(i, j int) int { return 1 + n + i*n - i*(i-1)/2 + j - i } // place of v_i v_j, i ≤ j
	for i := range n {
		add(0, i, 1+i)
		for j := i; j < n && m.Degree > 1; j++ {
			add(1+j, i, pair(i, j))
			add(1+i, j, pair(i, j))
		}
	}
	at := terms(L, n-L, 2)
	for i := 0; i < L && m.Degree > 2; i++ {
		for j := i; j < L; j++ {
			for k := j; k < L; k++ {
				add(pair(j, k), i, at)
				add(pair(i, k), j, at)
				add(pair(i, j), k, at)
				at++
			}
		}
	}
	return out
}
