package posterior

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// RFF is the posterior in feature space: cost N F² + F³, whatever the kernel
// matrix would have been.
type RFF struct {
	m        *feature.Map
	k        int
	T        int // features of the channel
	obs, sup *feature.Eval
	phi      *feature.Phi // at the observations
	own      *feature.Phi // at the support points, where these are others, in blocks
	at       *feature.Phi // phi or own: what At was asked for

	prec, r []float64 // N, the caller's
	e       []float64 // N: s r, later r − Φw
	L       []float64 // T×T, lower
	linv    []float64 // T×T, L⁻¹, zero above the diagonal
	inv     []float64 // T×T, A⁻¹, then A⁻¹ − 2C
	w, q    []float64 // T
	M       []float64 // a block of rows: Φ̇s L⁻ᵀ, later Φ(A⁻¹ − 2C)
	G       []float64 // Ns×T: Φ̇s A⁻¹
	fitted  []float64 // N: Φw
	phiq    []float64 // N: Φq̄
	bphi    []float64 // T scratch
	bdphi   []float64 // T scratch
	zbar    []float64 // a block of rows ×D
	dzbar   []float64
	mul     matmul.Work
	right   matmul.Packed // L⁻ᵀ, later A⁻¹ − 2C
	left    matmul.Packed // L⁻¹
}

// NewRFF takes the memory for one channel: n observations, ns support points
// (0 when the support points are the observations).
func NewRFF(m *feature.Map, n, ns int) *RFF {
	T := m.Features()
	p := &RFF{
		m: m, T: T, phi: feature.NewPhi(m, n),
		e: make([]float64, n), fitted: make([]float64, n), phiq: make([]float64, n),
		L: make([]float64, T*T), linv: make([]float64, T*T), inv: make([]float64, T*T),
		w: make([]float64, T), q: make([]float64, T), bphi: make([]float64, T), bdphi: make([]float64, T),
	}
	if ns > 0 {
		p.own = feature.NewBlocks(m, ns, most)
	} else {
		ns = n
	}
	block := min(max(n, ns), most)
	p.G, p.M = make([]float64, ns*T), make([]float64, block*T)
	p.zbar, p.dzbar = make([]float64, block*m.D), make([]float64, block*m.D)
	return p
}

func vector(d []float64) blas64.Vector { return blas64.Vector{N: len(d), Inc: 1, Data: d} }

// Condition implements Kernel.
func (p *RFF) Condition(m *feature.Map, obs *feature.Eval, k int, r, prec []float64) (fit Fit, ok bool) {
	p.m, p.k, p.obs, p.r, p.prec = m, k, obs, r, prec
	N, T := obs.Rows.N, p.T
	clear(p.q)
	clear(p.L)
	for j := range T {
		p.L[j*T+j] = 1
	}
	blocks(N, func(from, to int) {
		m.RandomFeatureRows(p.phi, obs, k, from, to)
		for i := from; i < to; i++ {
			p.e[i] = 0
			if prec[i] > 0 {
				p.e[i] = prec[i] * r[i]
			}
		}
		phi := matmul.Matrix(to-from, T, p.phi.Phi[from*T:to*T])
		p.mul.Mul(matmul.Matrix(1, T, p.q), 1, false, matmul.Matrix(1, to-from, p.e[from:to]), false, phi, 1)
		p.mul.Gram(matmul.Matrix(T, T, p.L), 1, phi, prec[from:to], 1)
	})
	if !p.mul.Cholesky(matmul.Matrix(T, T, p.L), matmul.Matrix(T, T, p.linv)) {
		return fit, false
	}
	for j := range T {
		fit.LogDet += 2 * math.Log(p.L[j*T+j])
	}
	copy(p.w, p.q)
	p.solve(p.w)
	matmul.Dots(p.fitted[:N], matmul.Matrix(N, T, p.phi.Phi[:N*T]), matmul.Matrix(1, T, p.w))
	for i := range N {
		p.e[i] = 0
		if prec[i] != 0 {
			p.e[i] = r[i] - p.fitted[i]
			fit.Quad += prec[i] * p.e[i] * p.e[i]
		}
	}
	fit.Quad += blas64.Dot(vector(p.w), vector(p.w))
	return fit, finite(fit.Quad) && finite(fit.LogDet)
}

func (p *RFF) lower() blas64.Triangular {
	return blas64.Triangular{N: p.T, Stride: p.T, Data: p.L, Uplo: blas.Lower, Diag: blas.NonUnit}
}

// solve replaces x by A⁻¹x.
func (p *RFF) solve(x []float64) {
	blas64.Trsv(blas.NoTrans, p.lower(), vector(x))
	blas64.Trsv(blas.Trans, p.lower(), vector(x))
}

// At implements Kernel.
func (p *RFF) At(sup *feature.Eval, mean, dmean, dvar []float64) (ok bool) {
	p.sup, p.at = sup, p.phi
	if sup != p.obs {
		p.at = p.own
	}
	T := p.T
	ok = true
	w := matmul.Matrix(1, T, p.w)
	linv := matmul.Matrix(T, T, p.linv)
	p.right.Pack(linv, true, true)
	p.left.Pack(linv, false, true)
	blocks(sup.Rows.N, func(from, to int) {
		if sup != p.obs {
			p.m.RandomFeatureRows(p.own, sup, p.k, from, to)
		}
		n := to - from
		phi, dphi := p.at.Rows(p.m, from, to)
		along, V, G := matmul.Matrix(n, T, dphi), matmul.Matrix(n, T, p.M[:n*T]), matmul.Matrix(n, T, p.G[from*T:to*T])
		p.mul.MulPacked(V, 1, false, along, &p.right, 0)
		p.mul.MulPacked(G, 1, false, V, &p.left, 0) // Adjoint's: V is at hand
		matmul.Dots(dvar[from:to], V, V)
		matmul.Dots(dmean[from:to], along, w)
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

// most is so many rows that what is made of them stays in the second cache.
const most = 192

// blocks calls f for rows from … to, in turn, at most most.
func blocks(n int, f func(from, to int)) {
	for from := 0; from < n; from += most {
		f(from, min(from+most, n))
	}
}

// Weights returns w (F), a view.
func (p *RFF) Weights() []float64 { return p.w }

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
