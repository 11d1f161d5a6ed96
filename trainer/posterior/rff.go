package posterior

import (
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// RFF is the posterior in the space of the random Fourier features: cost N F² + F³,
// independent of the kernel matrix.
type RFF struct {
	m        *feature.Map
	k        int
	T        int // features of the channel
	obs, sup *feature.Eval
	phi      *feature.Phi // at the observations
	own      *feature.Phi // at the support points, where these are others, in blocks
	at       *feature.Phi // phi or own: the one of At
	sum      *Sum         // w; q and psi serve Adjoint too

	prec   []float64 // N, the caller's
	e      []float64 // N: r − Φw
	inv    []float64 // T×T, A⁻¹, then A⁻¹ − 2C
	G      []float64 // Ns×T: Φ̇s A⁻¹
	fitted []float64 // N: Φw
	phiq   []float64 // N: Φq̄
	bphi   []float64 // T scratch
	bdphi  []float64 // T scratch
	zbar   []float64 // a block of rows ×D
	dzbar  []float64
	right  matmul.Packed // A⁻¹ − 2C
	left   matmul.Packed // L⁻¹
}

// NewRFF takes the memory for one channel: n observations, ns support points
// (0 when the support points are the observations).
func NewRFF(m *feature.Map, n, ns int) *RFF {
	T := m.Features()
	p := &RFF{
		m: m, T: T, phi: feature.NewPhi(m, n),
		e: make([]float64, n), fitted: make([]float64, n), phiq: make([]float64, n),
		inv: make([]float64, T*T), bphi: make([]float64, T), bdphi: make([]float64, T),
	}
	if ns > 0 {
		p.own = feature.NewBlocks(m, ns, blockRows)
	} else {
		ns = n
	}
	block := min(max(n, ns), blockRows)
	p.sum, p.G = NewSum(T, block), make([]float64, ns*T)
	p.zbar, p.dzbar = make([]float64, block*m.D), make([]float64, block*m.D)
	return p
}

// Condition implements Kernel.
func (p *RFF) Condition(m *feature.Map, obs *feature.Eval, k int, r, prec []float64) (fit Fit, ok bool) {
	p.m, p.k, p.obs, p.prec = m, k, obs, prec
	N, T, s := obs.Rows.N, p.T, p.sum
	s.Reset()
	blocks(N, func(from, to int) {
		m.RandomFeatureRows(p.phi, obs, k, from, to)
		s.Add(p.phi.Phi[from*T:to*T], to-from, r[from:to], prec[from:to])
	})
	if !s.Solve() {
		return fit, false
	}
	fit.LogDet = s.a.addLogDet(0)
	matmul.Dots(p.fitted[:N], matmul.Matrix(N, T, p.phi.Phi[:N*T]), matmul.Matrix(1, T, s.w))
	for i := range N {
		p.e[i] = 0
		if prec[i] != 0 {
			p.e[i] = r[i] - p.fitted[i]
			fit.Quad += prec[i] * p.e[i] * p.e[i]
		}
	}
	fit.Quad += blas64.Dot(vector(s.w), vector(s.w))
	return fit, finite(fit.Quad) && finite(fit.LogDet)
}

// At implements Kernel.
func (p *RFF) At(sup *feature.Eval, mean, dmean, dvar []float64) (ok bool) {
	p.sup, p.at = sup, p.phi
	if sup != p.obs {
		p.at = p.own
	}
	T := p.T
	ok = true
	w := matmul.Matrix(1, T, p.sum.w)
	p.left.Pack(p.sum.a.inverse(), false, true)
	blocks(sup.Rows.N, func(from, to int) {
		if sup != p.obs {
			p.m.RandomFeatureRows(p.own, sup, p.k, from, to)
		}
		n := to - from
		phi, dphi := p.at.Rows(p.m, from, to)
		tangent, V, G := matmul.Matrix(n, T, dphi), matmul.Matrix(n, T, p.sum.psi[:n*T]), matmul.Matrix(n, T, p.G[from*T:to*T])
		p.sum.mul.MulPacked(V, 1, false, tangent, &p.sum.right, 0)
		p.sum.mul.MulPacked(G, 1, false, V, &p.left, 0) // for Adjoint, while V is in cache
		matmul.Dots(dvar[from:to], V, V)
		matmul.Dots(dmean[from:to], tangent, w)
		if sup == p.obs {
			copy(mean[from:to], p.fitted[from:to])
		} else {
			matmul.Dots(mean[from:to], matmul.Matrix(n, T, phi), w)
		}
		for _, v := range dvar[from:to] {
			ok = ok && v > 0 && finite(v)
		}
	})
	return ok
}

// blockRows is the number of rows whose products fit into the second cache.
const blockRows = 192

// blocks calls f for rows from … to, in turn, at most blockRows.
func blocks(n int, f func(from, to int)) {
	for from := 0; from < n; from += blockRows {
		f(from, min(from+blockRows, n))
	}
}

// Weights returns w (F), a view.
func (p *RFF) Weights() []float64 { return p.sum.w }
