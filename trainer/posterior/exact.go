package posterior

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// Exact is the posterior with the exact RBF kernel (ARD, unit variance, its
// lengthscales in the feature head): cost N³. It is the limit that the
// random features converge to, and the better choice for small logs.
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

	prec   []float64 // N, the caller's
	M      factor    // N×N
	Mbar   []float64 // N×N
	alpha  []float64 // N
	q      []float64 // N: ᾱ, then q̄
	cross  []float64 // Ns×N: k
	dcross []float64 // Ns×N: k̇
	V, U   []float64 // Ns×N: k̇L⁻ᵀ and k̇M⁻¹
	mul    matmul.Work
	right  matmul.Packed // L⁻ᵀ, then L⁻¹
}

// NewExact takes the memory for n observations and ns support points.
func NewExact(n, ns int) *Exact {
	return &Exact{
		M: factor{L: make([]float64, n*n), linv: make([]float64, n*n)}, Mbar: make([]float64, n*n), alpha: make([]float64, n), q: make([]float64, n),
		cross: make([]float64, ns*n), dcross: make([]float64, ns*n), V: make([]float64, ns*n), U: make([]float64, ns*n),
	}
}

// Condition implements Kernel. A row that was not measured (prec 0) is cut out
// of M by a unit row.
func (p *Exact) Condition(m *feature.Map, obs *feature.Eval, k int, r, prec []float64) (fit Fit, ok bool) {
	p.m, p.k, p.obs, p.prec = m, k, obs, prec
	N := obs.Rows.N
	p.M.n = N
	L := p.M.L
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
	if !p.M.decompose(&p.mul) {
		return fit, false
	}
	fit.LogDet = p.M.addLogDet(fit.LogDet)
	for i := range N {
		p.alpha[i] = 0
		if prec[i] > 0 {
			p.alpha[i] = r[i]
		}
	}
	fit.Quad = 0
	p.M.solve(p.alpha[:N])
	for i := range N {
		if prec[i] > 0 {
			fit.Quad += p.alpha[i] * r[i]
		}
	}
	return fit, finite(fit.Quad) && finite(fit.LogDet)
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
	cross, dcross := matmul.Matrix(Ns, N, p.cross[:Ns*N]), matmul.Matrix(Ns, N, p.dcross[:Ns*N])
	V, alpha := matmul.Matrix(Ns, N, p.V[:Ns*N]), matmul.Matrix(1, N, p.alpha[:N])
	p.right.Pack(p.M.inverse(), true, true)
	p.mul.MulPacked(V, 1, false, dcross, &p.right, 0)
	p.right.Pack(p.M.inverse(), false, true)
	p.mul.MulPacked(matmul.Matrix(Ns, N, p.U[:Ns*N]), 1, false, V, &p.right, 0)
	matmul.Dots(dvar[:Ns], V, V)
	matmul.Dots(mean[:Ns], cross, alpha)
	matmul.Dots(dmean[:Ns], dcross, alpha)
	ok = true
	for i := range Ns {
		ps := p.m.Exact(sup, i, p.k)
		_, prior := p.m.PriorVariance(p.k, &ps)
		dvar[i] = prior - dvar[i]
		ok = ok && dvar[i] > 0 && finite(dvar[i])
	}
	return ok
}

// Alpha returns α (N), a view.
func (p *Exact) Alpha() []float64 { return p.alpha[:p.obs.Rows.N] }

// Factor returns L (N×N), its lower triangle, a view.
func (p *Exact) Factor() []float64 { return p.M.L }

// InverseFactor writes L⁻¹, its lower triangle packed by rows, to dst
// (N(N+1)/2).
func (p *Exact) InverseFactor(dst []float64) {
	p.M.packed(dst[:0])
}
