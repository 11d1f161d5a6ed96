package posterior

import (
	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// Adjoint implements Kernel; the formulas are in the package documentation.
func (p *RFF) Adjoint(a, b, g []float64, obs, sup *Bar, rbar, sbar, ampbar []float64) {
	N, T := p.obs.Rows.N, p.T
	matching, shared := a != nil, p.sup == p.obs
	inv := matmul.Matrix(T, T, p.inv)
	mul, w, q := &p.sum.mul, p.sum.w, p.sum.q
	mul.Inverse(inv, p.sum.a.inverse())
	clear(q)
	clear(p.phiq)
	if matching {
		blocks(p.sup.Rows.N, func(from, to int) {
			mul.Gram(inv, -2, matmul.Matrix(to-from, T, p.G[from*T:to*T]), g[from:to], 1) // A⁻¹ − 2C
			p.at.Sum(p.m, p.sup, q, a[from:to], b[from:to], from, to)                     // w̄
			if shared {
				return
			}
			for i := from; i < to; i++ {
				zbar, dzbar := p.bars(i - from)
				amp := p.at.AdjointCombined(p.m, p.sup, i, w, p.G[i*T:(i+1)*T], a[i], b[i], 2*g[i], zbar, dzbar)
				ampbar[0] += amp[0]
				ampbar[1] += amp[1]
			}
			p.toBar(sup, from, to, true)
		})
		p.sum.a.solve(q) // q̄
	}
	mirror(p.inv, T)
	p.right.Pack(inv, false, false)
	blocks(N, func(from, to int) {
		rows, _ := p.phi.Rows(p.m, from, to)
		phi, M := matmul.Matrix(to-from, T, rows), matmul.Matrix(to-from, T, p.sum.psi[:(to-from)*T])
		if matching {
			matmul.Dots(p.phiq[from:to], phi, matmul.Matrix(1, T, q))
		}
		mul.MulPacked(M, 1, false, phi, &p.right, 0)
		matmul.Dots(sbar[from:to], phi, M)
		for i := from; i < to; i++ {
			s, e, pq := p.prec[i], p.e[i], p.phiq[i]
			m := M.Data[(i-from)*T : (i-from+1)*T]
			rbar[i] = s * (e + pq)
			sbar[i] = -s * (e*e + sbar[i] + 2*e*pq)
			onW, onQ := -s*(e+pq), s*e
			if !(matching && shared) {
				matmul.LinearCombination(p.bphi, s, m, onW, w, onQ, q)
				p.toMap(p.obs, p.phi, from, i, nil, ampbar)
				continue
			}
			matmul.LinearCombination(p.bphi, s, m, onW+a[i], w, onQ, q)
			G := p.G[i*T : (i+1)*T]
			matmul.LinearCombination(p.bdphi, b[i], w, 2*g[i], G, 0, G) // Φ̇̄
			p.toMap(p.obs, p.phi, from, i, p.bdphi, ampbar)
		}
		p.toBar(obs, from, to, matching && shared)
	})
}

// toMap carries the adjoint of one row of Φ, in bphi, and of Φ̇ unless nil, to the features
// z, ż of the channel, in a block that begins with row from, and to the log amplitudes.
func (p *RFF) toMap(e *feature.Eval, f *feature.Phi, from, i int, bdphi, ampbar []float64) {
	zbar, dzbar := p.bars(i - from)
	amp := f.Adjoint(p.m, e, i, p.bphi, bdphi, zbar, dzbar)
	ampbar[0] += amp[0]
	ampbar[1] += amp[1]
}

// bars returns the adjoints of the features z, ż of a row of a block.
func (p *RFF) bars(row int) (zbar, dzbar []float64) {
	at, D := row*p.m.D, p.m.D
	return p.zbar[at : at+D], p.dzbar[at : at+D]
}

// toBar adds the adjoints of the rows from … to to their bar, and clears them. Rows of a
// bar are far apart in memory, so they are added together, not one by one.
func (p *RFF) toBar(bar *Bar, from, to int, tangent bool) {
	m := p.m
	D, O := m.D, m.Head.Out()
	for _, x := range [...]struct{ dst, src []float64 }{{bar.Out, p.zbar}, {bar.DOut, p.dzbar}} {
		for i := from; i < to; i++ {
			at := i*O + m.K + p.k*D
			for d, v := range x.src[(i-from)*D : (i-from+1)*D] {
				x.dst[at+d] += v
			}
		}
		clear(x.src)
		if !tangent {
			return
		}
	}
}
