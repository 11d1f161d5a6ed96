package posterior

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/matmul"
)

// Sum conditions one channel on more rows than fit in memory: A and Φᵀ diag(s) r
// are sums over rows, so one pass in pieces is enough.
type Sum struct {
	T   int
	a   []float64 // T×T, lower: A, then its factor
	q   []float64 // T
	psi []float64 // rows×T scratch
	w   []float64 // T
}

// NewSum takes the memory for T features and pieces of up to rows rows.
func NewSum(T, rows int) *Sum {
	return &Sum{T: T, a: make([]float64, T*T), q: make([]float64, T), psi: make([]float64, rows*T), w: make([]float64, T)}
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
	psi := p.psi[:n*p.T]
	for i := range n {
		s := math.Sqrt(prec[i])
		row := psi[i*p.T : (i+1)*p.T]
		for j, v := range phi[i*p.T : (i+1)*p.T] {
			row[j] = s * v
		}
		if prec[i] > 0 {
			blas64.Axpy(s*r[i], vector(row), vector(p.q))
		}
	}
	blas64.Syrk(blas.Trans, 1, matmul.Matrix(n, p.T, psi), 1, blas64.Symmetric{N: p.T, Stride: p.T, Data: p.a, Uplo: blas.Lower})
}

// Solve factorises A and computes w. ok is false if A is not positive definite.
func (p *Sum) Solve() (ok bool) {
	if _, ok = factorise(p.a, p.T); !ok {
		return false
	}
	copy(p.w, p.q)
	blas64.Trsv(blas.NoTrans, p.lower(), vector(p.w))
	blas64.Trsv(blas.Trans, p.lower(), vector(p.w))
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
	psi := p.psi[:n*p.T]
	copy(psi, phi[:n*p.T])
	blas64.Trsm(blas.Right, blas.Trans, 1, p.lower(), matmul.Matrix(n, p.T, psi))
	for i := range n {
		mean[i] = blas64.Dot(vector(phi[i*p.T:(i+1)*p.T]), vector(p.w))
		row := vector(psi[i*p.T : (i+1)*p.T])
		v[i] = blas64.Dot(row, row)
	}
}

// Weights returns a copy of w.
func (p *Sum) Weights() []float64 { return append([]float64(nil), p.w...) }

// InverseFactor returns L⁻¹, its lower triangle packed by rows. ok is false if L
// is singular.
func (p *Sum) InverseFactor() (packed []float64, ok bool) {
	T := p.T
	inv := append([]float64(nil), p.a...)
	if !lapack64.Trtri(blas64.Triangular{N: T, Stride: T, Data: inv, Uplo: blas.Lower, Diag: blas.NonUnit}) {
		return nil, false
	}
	packed = make([]float64, 0, T*(T+1)/2)
	for j := range T {
		packed = append(packed, inv[j*T:j*T+j+1]...)
	}
	return packed, true
}
