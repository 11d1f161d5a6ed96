package posterior

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/matmul"
)

// Exact is the posterior with the exact RBF kernel (ARD, unit variance, its
// lengthscales in the feature head): cost N³. It is the oracle that the random
// features converge to, and the better choice for small logs.
//
//	M = K + diag(1/s) = L Lᵀ      α = M⁻¹r      dmean = k̇·α      dvar = k̈ − k̇ M⁻¹ k̇ᵀ
//	L_data = ½ [ r·α + logdet M + Σ log s + c Σ log σ² ]
//
// Adjoint, with U = M⁻¹k̇ᵀ and the a, b, g of the package documentation:
//
//	ᾱ = Σ a k + b k̇      q̄ = M⁻¹ᾱ      M̄ = ½(M⁻¹ − ααᵀ) − q̄αᵀ + Σ g UUᵀ
//	k̄ = a α      k̇̄ = b α − 2 g U      k̈̄ = g      r̄ = α + q̄
//	log σ̄_i = c − 1 + 2 M̄_ii / s_i
type Exact struct {
	m        *feature.Map
	k        int
	obs, sup *feature.Eval

	prec    []float64 // N, the caller's
	L       []float64 // N×N, lower
	Mbar    []float64 // N×N
	alpha   []float64 // N
	q       []float64 // N: ᾱ, then q̄
	cross   []float64 // Ns×N: k
	dcross  []float64 // Ns×N: k̇
	U       []float64 // Ns×N
	scratch []float64 // Ns×N
}

// NewExact takes the memory for n observations and ns support points.
func NewExact(n, ns int) *Exact {
	return &Exact{
		L: make([]float64, n*n), Mbar: make([]float64, n*n), alpha: make([]float64, n), q: make([]float64, n),
		cross: make([]float64, ns*n), dcross: make([]float64, ns*n), U: make([]float64, ns*n), scratch: make([]float64, ns*n),
	}
}

// Condition implements Kernel. A row that was not measured (prec 0) is cut out
// of M by a unit row.
func (p *Exact) Condition(m *feature.Map, obs *feature.Eval, k int, r, prec []float64) (fit Fit, ok bool) {
	p.m, p.k, p.obs, p.prec = m, k, obs, prec
	N := obs.Rows.N
	L := p.L[:N*N]
	for i := range N {
		pi := m.Exact(obs, i, k)
		for j := range i + 1 {
			pj := m.Exact(obs, j, k)
			if prec[i] == 0 || prec[j] == 0 {
				L[i*N+j] = 0
				continue
			}
			L[i*N+j], _ = m.Covariance(k, &pi, &pj)
		}
		if prec[i] == 0 {
			L[i*N+i] = 1
		} else {
			L[i*N+i] += 1 / prec[i]
			fit.LogDet += math.Log(prec[i])
		}
	}
	logdet, ok := factorise(L, N)
	if !ok {
		return fit, false
	}
	fit.LogDet += logdet
	for i := range N {
		p.alpha[i] = 0
		if prec[i] > 0 {
			p.alpha[i] = r[i]
		}
	}
	fit.Quad = 0
	p.solve(p.alpha[:N])
	for i := range N {
		if prec[i] > 0 {
			fit.Quad += p.alpha[i] * r[i]
		}
	}
	return fit, finite(fit.Quad) && finite(fit.LogDet)
}

func (p *Exact) lower() blas64.Triangular {
	N := p.obs.Rows.N
	return blas64.Triangular{N: N, Stride: N, Data: p.L[:N*N], Uplo: blas.Lower, Diag: blas.NonUnit}
}

func (p *Exact) solve(x []float64) {
	blas64.Trsv(blas.NoTrans, p.lower(), vector(x))
	blas64.Trsv(blas.Trans, p.lower(), vector(x))
}

// At implements Kernel.
func (p *Exact) At(sup *feature.Eval, mean, dmean, dvar []float64) (ok bool) {
	p.sup = sup
	N, Ns := p.obs.Rows.N, sup.Rows.N
	for i := range Ns {
		ps := p.m.Exact(sup, i, p.k)
		for j := range N {
			if p.prec[j] == 0 {
				p.cross[i*N+j], p.dcross[i*N+j] = 0, 0
				continue
			}
			pj := p.m.Exact(p.obs, j, p.k)
			p.cross[i*N+j], p.dcross[i*N+j] = p.m.Covariance(p.k, &ps, &pj)
		}
	}
	U := p.U[:Ns*N]
	copy(U, p.dcross[:Ns*N])
	blas64.Trsm(blas.Right, blas.Trans, 1, p.lower(), matmul.Matrix(Ns, N, U))
	ok = true
	for i := range Ns {
		ps := p.m.Exact(sup, i, p.k)
		_, prior := p.m.PriorVariance(p.k, &ps)
		row := U[i*N : (i+1)*N]
		dvar[i] = prior - blas64.Dot(vector(row), vector(row))
		mean[i] = blas64.Dot(vector(p.cross[i*N:(i+1)*N]), vector(p.alpha[:N]))
		dmean[i] = blas64.Dot(vector(p.dcross[i*N:(i+1)*N]), vector(p.alpha[:N]))
		ok = ok && dvar[i] > 0 && finite(dvar[i])
	}
	blas64.Trsm(blas.Right, blas.NoTrans, 1, p.lower(), matmul.Matrix(Ns, N, U))
	return ok
}

// Alpha returns α (N), a view.
func (p *Exact) Alpha() []float64 { return p.alpha[:p.obs.Rows.N] }

// InverseFactor writes L⁻¹, its lower triangle packed by rows, to dst
// (N(N+1)/2).
func (p *Exact) InverseFactor(dst []float64) (ok bool) {
	N := p.obs.Rows.N
	copy(p.Mbar[:N*N], p.L[:N*N])
	if !lapack64.Trtri(blas64.Triangular{N: N, Stride: N, Data: p.Mbar[:N*N], Uplo: blas.Lower, Diag: blas.NonUnit}) {
		return false
	}
	for j, o := 0, 0; j < N; j++ {
		o += copy(dst[o:], p.Mbar[j*N:j*N+j+1])
	}
	return true
}
