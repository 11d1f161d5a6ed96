package posterior

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/matmul"
)

// Adjoint implements Kernel; the formulas are in the package documentation.
func (p *RFF) Adjoint(a, b, g []float64, obs, sup *Bar, rbar, sbar, ampbar []float64) {
	N, T := p.obs.Rows.N, p.T
	matching, shared := a != nil, p.sup == p.obs
	p.amp = math.Exp(p.m.LogAmp[2*p.k])
	linv, inv := matmul.Matrix(T, T, p.linv), matmul.Matrix(T, T, p.inv)
	p.mul.Inverse(inv, linv)
	clear(p.q)
	clear(p.phiq)
	if matching {
		p.factor.Pack(linv, false, true)
		blocks(p.sup.Rows.N, func(from, to int) {
			p.derivativeVar(g, from, to) // G, inv ← A⁻¹ − 2C
			p.wbar(a, b, from, to)       // q ← w̄
			for i := from; i < to && !shared; i++ {
				matmul.Blend(p.bphi, a[i], p.w, 0, p.w, 0, p.w)
				p.slopeBar(i, b, g)
				p.toMap(p.sup, p.at, sup, i, p.bphi, p.bdphi, ampbar)
			}
		})
		p.solve(p.q) // q̄
	}
	mirror(p.inv, T)
	p.factor.Pack(inv, false, false)
	blocks(N, func(from, to int) {
		phi, M := matmul.Matrix(to-from, T, p.phi.Phi[from*T:to*T]), matmul.Matrix(to-from, T, p.M[:(to-from)*T])
		if matching {
			matmul.Dots(p.phiq[from:to], phi, matmul.Matrix(1, T, p.q))
		}
		p.mul.MulPacked(M, 1, false, phi, &p.factor, 0)
		matmul.Dots(sbar[from:to], phi, M)
		for i := from; i < to; i++ {
			s, e, pq := p.prec[i], p.e[i], p.phiq[i]
			m := M.Data[(i-from)*T : (i-from+1)*T]
			rbar[i] = s * (e + pq)
			sbar[i] = -s * (e*e + sbar[i] + 2*e*pq)
			onW, onQ := -s*(e+pq), s*e
			if !(matching && shared) {
				matmul.Blend(p.bphi, s, m, onW, p.w, onQ, p.q)
				p.toMap(p.obs, p.phi, obs, i, p.bphi, nil, ampbar)
				continue
			}
			matmul.Blend(p.bphi, s, m, onW+a[i], p.w, onQ, p.q)
			p.slopeBar(i, b, g)
			p.toMap(p.obs, p.phi, obs, i, p.bphi, p.bdphi, ampbar)
		}
	})
}

// mirror copies the lower triangle of a (n×n) to the upper.
func mirror(a []float64, n int) {
	for i := range n {
		for j := range i {
			a[j*n+i] = a[i*n+j]
		}
	}
}

// wbar adds Φsᵀa + Φ̇sᵀb of the rows from … to to q.
func (p *RFF) wbar(a, b []float64, from, to int) {
	n, T := to-from, p.T
	q := matmul.Matrix(1, T, p.q)
	p.mul.Mul(q, 1, false, matmul.Matrix(1, n, a[from:to]), false, matmul.Matrix(n, T, p.at.Phi[from*T:to*T]), 1)
	p.mul.Mul(q, 1, false, matmul.Matrix(1, n, b[from:to]), false, matmul.Matrix(n, T, p.at.DPhi[from*T:to*T]), 1)
}

// derivativeVar sets rows from … to of G = Φ̇s A⁻¹ and takes 2C of them, C = Σ g_i
// G_iᵀG_i, off inv.
func (p *RFF) derivativeVar(g []float64, from, to int) {
	T := p.T
	V, G := matmul.Matrix(to-from, T, p.V[from*T:to*T]), matmul.Matrix(to-from, T, p.G[from*T:to*T])
	p.mul.MulPacked(G, 1, false, V, &p.factor, 0)
	p.mul.Gram(matmul.Matrix(T, T, p.inv), -2, G, g[from:to], 1)
}

// slopeBar sets bdphi to Φ̇̄s of row i.
func (p *RFF) slopeBar(i int, b, g []float64) {
	G := p.G[i*p.T : (i+1)*p.T]
	matmul.Blend(p.bdphi, b[i], p.w, 2*g[i], G, 0, G)
}

// toMap carries the adjoint of one row of Φ, and of Φ̇ unless nil, to the
// features z, ż of the channel and to the log amplitudes.
func (p *RFF) toMap(e *feature.Eval, f *feature.Phi, bar *Bar, i int, bphi, bdphi, ampbar []float64) {
	m, T := p.m, p.T
	if m.F < T {
		ampbar[1] += inner(f.Phi[i*T+m.F:(i+1)*T], bphi[m.F:T])
		if bdphi != nil {
			ampbar[1] += inner(f.DPhi[i*T+m.F:(i+1)*T], bdphi[m.F:T])
		}
	}
	g, dg := e.Rows.Gate[i]*p.amp, e.Rows.DGate[i]*p.amp
	o := i*m.Head.Out() + m.K + p.k*m.D
	var dzbar []float64
	if bdphi != nil {
		dzbar = bar.DOut[o : o+m.D]
	}
	ampbar[0] += f.Back(m, i, g, dg, bphi, bdphi, bar.Out[o:o+m.D], dzbar)
}

// inner returns x·y.
func inner(x, y []float64) float64 {
	if len(x) == 0 {
		return 0
	}
	return blas64.Dot(vector(x), vector(y))
}
