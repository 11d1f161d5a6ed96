package posterior

import "github.com/dgm-robotics/dgm/estimator/numeric/matmul"

// Sum conditions one channel on more rows than fit in memory: A and Φᵀ diag(s) r
// are sums over rows, so one pass in pieces is enough.
type Sum struct {
	T     int
	a     factor
	q, w  []float64 // T
	sr    []float64 // rows, scratch
	psi   []float64 // rows×T, scratch
	mul   matmul.Work
	right matmul.Packed // L⁻ᵀ
}

// NewSum takes the memory for T features and pieces of up to rows rows.
func NewSum(T, rows int) *Sum {
	v := func(n int) []float64 { return make([]float64, n) }
	return &Sum{T: T, a: factor{n: T, L: v(T * T), linv: v(T * T)}, q: v(T), w: v(T), sr: v(rows), psi: v(rows * T)}
}

// Reset starts from the prior: A = I.
func (p *Sum) Reset() {
	clear(p.a.L)
	clear(p.q)
	for j := range p.T {
		p.a.L[j*p.T+j] = 1
	}
}

// Add adds n rows: features phi (n×T), residuals r and precisions prec (n each,
// prec 0 = not measured).
func (p *Sum) Add(phi []float64, n int, r, prec []float64) {
	T := p.T
	for i, s := range prec[:n] {
		p.sr[i] = 0
		if s > 0 {
			p.sr[i] = s * r[i]
		}
	}
	rows := matmul.Matrix(n, T, phi)
	p.mul.Mul(matmul.Matrix(1, T, p.q), 1, false, matmul.Matrix(1, n, p.sr), false, rows, 1)
	p.mul.Gram(matmul.Matrix(T, T, p.a.L), 1, rows, prec[:n], 1)
}

// Solve factorises A and computes w. ok is false if A is not positive definite.
func (p *Sum) Solve() (ok bool) {
	if !p.a.decompose(&p.mul) {
		return false
	}
	p.right.Pack(p.a.inverse(), true, true)
	copy(p.w, p.q)
	p.a.solve(p.w)
	ok = true
	for _, v := range p.w {
		ok = ok && finite(v)
	}
	return ok
}

// At writes the posterior's mean φ·w and variance ‖L⁻¹φ‖² at n rows of features.
func (p *Sum) At(phi []float64, n int, mean, v []float64) {
	rows, psi := matmul.Matrix(n, p.T, phi), matmul.Matrix(n, p.T, p.psi)
	p.mul.MulPacked(psi, 1, false, rows, &p.right, 0)
	matmul.Dots(v[:n], psi, psi)
	matmul.Dots(mean[:n], rows, matmul.Matrix(1, p.T, p.w))
}

// Weights returns a copy of w.
func (p *Sum) Weights() []float64 { return append([]float64(nil), p.w...) }

// InverseFactor returns L⁻¹, its lower triangle packed by rows.
func (p *Sum) InverseFactor() (packed []float64) {
	return p.a.packed(make([]float64, 0, p.T*(p.T+1)/2))
}
