package posterior

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// Sum conditions one channel on more rows than fit in memory: A and Φᵀ diag(s) r
// are sums over rows, so one pass in pieces is enough.
type Sum struct {
	T      int
	a      []float64 // T×T, lower: A, then its factor L
	linv   []float64 // T×T, L⁻¹, zero above the diagonal
	q, w   []float64 // T
	sr     []float64 // rows, scratch
	psi    []float64 // rows×T, scratch
	mul    matmul.Work
	factor matmul.Packed // L⁻ᵀ
}

// NewSum takes the memory for T features and pieces of up to rows rows.
func NewSum(T, rows int) *Sum {
	v := func(n int) []float64 { return make([]float64, n) }
	return &Sum{T: T, a: v(T * T), linv: v(T * T), q: v(T), w: v(T), sr: v(rows), psi: v(rows * T)}
}

// Reset starts from the prior: A = I.
func (p *Sum) Reset() {
	clear(p.a)
	clear(p.q)
	for j := range p.T {
		p.a[j*p.T+j] = 1
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
	p.mul.Gram(matmul.Matrix(T, T, p.a), 1, rows, prec[:n], 1)
}

// Solve factorises A and computes w. ok is false if A is not positive definite.
func (p *Sum) Solve() (ok bool) {
	linv := matmul.Matrix(p.T, p.T, p.linv)
	if !p.mul.Cholesky(matmul.Matrix(p.T, p.T, p.a), linv) {
		return false
	}
	p.factor.Pack(linv, true, true)
	copy(p.w, p.q)
	blas64.Trsv(blas.NoTrans, p.lower(), vector(p.w))
	blas64.Trsv(blas.Trans, p.lower(), vector(p.w))
	ok = true
	for _, v := range p.w {
		ok = ok && finite(v)
	}
	return ok
}

func (p *Sum) lower() blas64.Triangular {
	return blas64.Triangular{N: p.T, Stride: p.T, Data: p.a, Uplo: blas.Lower, Diag: blas.NonUnit}
}

// At writes the posterior's mean φ·w and variance ‖L⁻¹φ‖² at n rows of features.
func (p *Sum) At(phi []float64, n int, mean, v []float64) {
	rows, psi := matmul.Matrix(n, p.T, phi), matmul.Matrix(n, p.T, p.psi)
	p.mul.MulPacked(psi, 1, false, rows, &p.factor, 0)
	matmul.Dots(v[:n], psi, psi)
	matmul.Dots(mean[:n], rows, matmul.Matrix(1, p.T, p.w))
}

// Weights returns a copy of w.
func (p *Sum) Weights() []float64 { return append([]float64(nil), p.w...) }

// InverseFactor returns L⁻¹, its lower triangle packed by rows.
func (p *Sum) InverseFactor() (packed []float64) {
	return triangle(make([]float64, 0, p.T*(p.T+1)/2), p.linv, p.T)
}

// triangle appends the lower triangle of a (n×n), packed by rows, to dst.
func triangle(dst, a []float64, n int) []float64 {
	for j := range n {
		dst = append(dst, a[j*n:j*n+j+1]...)
	}
	return dst
}
