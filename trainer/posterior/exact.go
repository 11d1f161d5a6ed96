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
//
// The RBF part of the kernel is evaluated once for every pair: in Condition, and in At where
// the support points are others. All else follows from it by products.
type Exact struct {
	m        *feature.Map
	k        int
	obs, sup *feature.Eval
	random   float64 // e^2a1
	linear   float64 // e^2a2

	prec   []float64 // N, the caller's
	gate   []float64 // N, of the observations; 0 where nothing was measured
	rbf    []float64 // N×N, RBF part of the kernel between observations, without gates
	crbf   []float64 // Ns×N, between support points and observations; rbf where these are the same
	z, zs  []float64 // N×(D+1), Ns×(D+1): features and a 1, of the observations and the support points
	dzs    []float64 // Ns×(D+1): their tangents and a 0
	bar    []float64 // rows×(D+1), product with one of these
	M      factor    // N×N
	Mbar   []float64 // N×N
	alpha  []float64 // N
	q      []float64 // N: ᾱ, then q̄
	cross  []float64 // Ns×N: k
	dcross []float64 // Ns×N: k̇
	V, U   []float64 // Ns×N: k̇L⁻ᵀ and k̇M⁻¹; in Adjoint the weights of pairs
	mul    matmul.Work
	right  matmul.Packed // L⁻ᵀ, then L⁻¹
}

// NewExact takes the memory for n observations and ns support points.
func NewExact(n, ns int) *Exact {
	v := func(n int) []float64 { return make([]float64, n) }
	return &Exact{
		M: factor{L: v(n * n), linv: v(n * n)}, Mbar: v(n * n), rbf: v(n * n), gate: v(n), alpha: v(n), q: v(n),
		cross: v(ns * n), dcross: v(ns * n), V: v(ns * n), U: v(ns * n),
	}
}

// Condition implements Kernel. A row that was not measured (prec 0) is cut out
// of M by a unit row.
func (p *Exact) Condition(m *feature.Map, obs *feature.Eval, k int, r, prec []float64) (fit Fit, ok bool) {
	p.m, p.k, p.obs, p.prec = m, k, obs, prec
	p.random, p.linear = math.Exp(2*m.LogAmp[2*k]), math.Exp(2*m.LogAmp[2*k+1])
	N := obs.Rows.N
	p.M.n = N
	p.z = p.gather(p.z, obs, false)
	for i, s := range prec[:N] {
		p.gate[i] = 0
		if s > 0 {
			p.gate[i] = obs.Rows.Gate[i]
		}
	}
	p.matrix()
	for i, s := range prec[:N] {
		if s == 0 {
			p.M.L[i*N+i] = 1
			continue
		}
		p.M.L[i*N+i] += 1 / s
		fit.LogDet += math.Log(s)
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

// matrix sets rbf, and the lower triangle of M.L to that of K.
func (p *Exact) matrix() {
	N := p.obs.Rows.N
	for i := range N {
		row, gi := p.rbf[i*N:i*N+i+1], p.gate[i]
		p.evaluate(row, p.z, i)
		for j, v := range row {
			p.rbf[j*N+i] = v
			lin, _ := p.linearPart(p.obs, i, j)
			p.M.L[i*N+j] = gi * p.gate[j] * (v + lin)
		}
	}
}

// gather returns the features of the channel at all rows, or their tangents, and a last
// column of ones, of zeros with the tangents. It reuses the memory of dst.
func (p *Exact) gather(dst []float64, e *feature.Eval, tangents bool) []float64 {
	dst = dst[:0]
	for i := range e.Rows.N {
		z, dz := p.m.Z(e, i, p.k)
		if tangents {
			dst = append(append(dst, dz...), 0)
		} else {
			dst = append(append(dst, z...), 1)
		}
	}
	return dst
}

// evaluate sets dst to the RBF part of the kernel between row i of z and the first
// observations.
func (p *Exact) evaluate(dst, z []float64, i int) {
	D := p.m.D
	zi := z[i*(D+1) : i*(D+1)+D]
	for j := range dst {
		sq := 0.0
		zj := p.z[j*(D+1):]
		for d, v := range zi {
			delta := v - zj[d]
			sq += delta * delta
		}
		dst[j] = p.random * math.Exp(-0.5*sq)
	}
}

// linearPart returns the linear part of the kernel between row i of e and observation j, and
// its derivative along the tangent of row i.
func (p *Exact) linearPart(e *feature.Eval, i, j int) (lin, dlin float64) {
	if p.m.Basis.Terms == 0 {
		return 0, 0
	}
	o, at := p.m.Exact(p.obs, j, p.k), p.m.Exact(e, i, p.k)
	for q, v := range o.B {
		lin += p.linear * v * at.B[q]
		dlin += p.linear * v * at.DB[q]
	}
	return lin, dlin
}

// At implements Kernel.
func (p *Exact) At(sup *feature.Eval, mean, dmean, dvar []float64) (ok bool) {
	p.sup = sup
	N, Ns := p.obs.Rows.N, sup.Rows.N
	p.covariances()
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

// covariances sets cross and dcross, and what they are made of.
func (p *Exact) covariances() {
	N, Ns, D := p.obs.Rows.N, p.sup.Rows.N, p.m.D
	same := p.sup == p.obs
	if same {
		p.zs = append(p.zs[:0], p.z...)
	} else {
		p.zs = p.gather(p.zs, p.sup, false)
		if len(p.crbf) < Ns*N {
			p.crbf = make([]float64, Ns*N)
		}
	}
	p.dzs = p.gather(p.dzs, p.sup, true)
	for i := range Ns {
		row := p.pairs(i)
		if !same {
			p.evaluate(row, p.zs, i)
		}
		gate, dgate := p.sup.Rows.Gate[i], p.sup.Rows.DGate[i]
		zi, dzi := p.zs[i*(D+1):i*(D+1)+D], p.dzs[i*(D+1):]
		cross, dcross := p.cross[i*N:(i+1)*N], p.dcross[i*N:(i+1)*N]
		for j, rbf := range row {
			lin, dlin := p.linearPart(p.sup, i, j)
			cross[j] = gate * p.gate[j] * (rbf + lin)
			dcross[j] = p.gate[j] * (dgate*(rbf+lin) + gate*(dlin-rbf*radial(zi, dzi, p.z[j*(D+1):])))
		}
	}
}

// pairs returns the RBF part of the kernel between support point i and all observations.
func (p *Exact) pairs(i int) []float64 {
	N := p.obs.Rows.N
	if p.sup == p.obs {
		return p.rbf[i*N : (i+1)*N]
	}
	return p.crbf[i*N : (i+1)*N]
}

// radial returns the derivative of ½‖z − o‖² along dz.
func radial(z, dz, o []float64) float64 {
	s := 0.0
	for d, v := range z {
		s += (v - o[d]) * dz[d]
	}
	return s
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
