package posterior

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// Adjoint implements Kernel; the formulas are in the documentation of Exact.
func (p *Exact) Adjoint(a, b, g []float64, obs, sup *Bar, rbar, sbar, ampbar []float64) {
	N := p.obs.Rows.N
	matching := a != nil
	p.matrixBar(a, b, g)
	for i := range N {
		rbar[i], sbar[i] = 0, 0
		if p.prec[i] > 0 {
			rbar[i] = p.alpha[i] + p.q[i]
			sbar[i] = 2*p.Mbar[i*N+i]/p.prec[i] - 1
		}
	}
	p.observationsToMap(obs, ampbar)
	if matching {
		p.supportToMap(a, b, g, obs, sup, ampbar)
	}
}

// matrixBar sets the lower triangle of Mbar to that of M̄, symmetrised, and q to q̄.
func (p *Exact) matrixBar(a, b, g []float64) {
	N := p.obs.Rows.N
	M := p.Mbar[:N*N]
	p.mul.Inverse(matmul.Matrix(N, N, M), p.M.inverse())
	q, alpha := p.q[:N], p.alpha[:N]
	clear(q)
	if a != nil {
		Ns := p.sup.Rows.N
		blas64.Gemv(blas.Trans, 1, matmul.Matrix(Ns, N, p.cross[:Ns*N]), vector(a[:Ns]), 0, vector(q))
		blas64.Gemv(blas.Trans, 1, matmul.Matrix(Ns, N, p.dcross[:Ns*N]), vector(b[:Ns]), 1, vector(q))
		p.M.solve(q)
	}
	for i := range N {
		row, ai, qi := M[i*N:i*N+i+1], alpha[i], q[i]
		for j, v := range row {
			row[j] = 0.5 * (v - (ai+qi)*alpha[j] - ai*q[j])
		}
	}
	if a != nil {
		Ns := p.sup.Rows.N
		p.mul.Gram(matmul.Matrix(N, N, M), 1, matmul.Matrix(Ns, N, p.U[:Ns*N]), g[:Ns], 1)
	}
}

// observationsToMap carries M̄ to z and the amplitudes: with W the RBF part of K times M̄,
//
//	∂κ/∂z_i = −(z_i − z_j) κ      z̄ = 2 (W z − diag(W 1) z)
//
// It leaves W in Mbar.
func (p *Exact) observationsToMap(obs *Bar, ampbar []float64) {
	N := p.obs.Rows.N
	for i := range N {
		row, rbf, gi := p.Mbar[i*N:i*N+i+1], p.rbf[i*N:], p.gate[i]
		for j, v := range row {
			v *= gi * p.gate[j]
			both := 2.0 // (i, j) and (j, i)
			if i == j {
				both = 1
			}
			lin, _ := p.linearPart(p.obs, i, j)
			ampbar[1] += 2 * both * v * lin
			v *= rbf[j]
			ampbar[0] += 2 * both * v
			row[j], p.Mbar[j*N+i] = v, v
		}
	}
	p.spread(obs.Out, matmul.Matrix(N, N, p.Mbar[:N*N]), false, p.z, p.z, 2)
}

// spread adds c (w x − diag(w 1) z) to the columns of the channel's features in an adjoint:
// w is rows×cols, or transposed cols×rows; x has cols rows of features and a last column of
// ones, z the same of rows. It returns the product with x, valid until the next one.
func (p *Exact) spread(bar []float64, w blas64.General, transposed bool, x, z []float64, c float64) []float64 {
	D := p.m.D
	out := p.times(w, transposed, x)
	for i := 0; i*(D+1) < len(out); i++ {
		row, zi := out[i*(D+1):(i+1)*(D+1)], z[i*(D+1):]
		dst := p.feature(bar, i)
		for d := range dst {
			dst[d] += c * (row[d] - row[D]*zi[d])
		}
	}
	return out
}

// times returns w x, or wᵀx where transposed, x being of D+1 columns.
func (p *Exact) times(w blas64.General, transposed bool, x []float64) []float64 {
	cols := p.m.D + 1
	rows, inner := w.Rows, w.Cols
	if transposed {
		rows, inner = inner, rows
	}
	if cap(p.bar) < rows*cols {
		p.bar = make([]float64, rows*cols)
	}
	out := p.bar[:rows*cols]
	p.mul.Mul(matmul.Matrix(rows, cols, out), 1, transposed, w, false, matmul.Matrix(inner, cols, x), 0)
	return out
}

// supportToMap carries k̄, k̇̄ and k̈̄ to z, ż of the support points, to z of the
// observations, and to the amplitudes. With κ the RBF part of a pair, ρ = (z_s − z)·ż_s,
//
//	S = κ̇̄ κ, the weight of −ρ in k̇      V = (κ̄ + its part of k̇̄) κ − S ρ
//	z̄_s = Vz − diag(V1) z_s − diag(S1) ż_s      ż̄_s = Sz − diag(S1) z_s      z̄ = Vᵀz_s − diag(Vᵀ1) z + Sᵀż_s
func (p *Exact) supportToMap(a, b, g []float64, obs, sup *Bar, ampbar []float64) {
	N, Ns, D := p.obs.Rows.N, p.sup.Rows.N, p.m.D
	for i := range Ns {
		p.pairWeights(i, a[i], b[i], g[i], ampbar)
	}
	V, S := matmul.Matrix(Ns, N, p.V[:Ns*N]), matmul.Matrix(Ns, N, p.U[:Ns*N])
	p.spread(sup.Out, V, false, p.z, p.zs, 1)
	p.spread(obs.Out, V, true, p.zs, p.z, 1)
	along := p.times(S, true, p.dzs)
	for i := range N {
		bar := p.feature(obs.Out, i)
		for d := range bar {
			bar[d] += along[i*(D+1)+d]
		}
	}
	sums := p.spread(sup.DOut, S, false, p.z, p.zs, 1)
	for i := range Ns {
		bar, dbar := p.feature(sup.Out, i), p.feature(sup.DOut, i)
		gate, dgate, speed := p.sup.Rows.Gate[i], p.sup.Rows.DGate[i], 0.0
		for d, v := range p.dzs[i*(D+1) : i*(D+1)+D] {
			bar[d] -= sums[i*(D+1)+D] * v
			dbar[d] += 2 * g[i] * p.random * gate * gate * v
			speed += v * v
		}
		ps := p.m.Exact(p.sup, i, p.k)
		_, prior := p.m.PriorVariance(p.k, &ps)
		random := p.random * (dgate*dgate + gate*gate*speed)
		ampbar[0] += 2 * g[i] * random
		ampbar[1] += 2 * g[i] * (prior - random)
	}
}

// pairWeights sets row i of V and, in the place of U, of S, and adds the gradient of the
// amplitudes.
func (p *Exact) pairWeights(i int, a, b, g float64, ampbar []float64) {
	N, D := p.obs.Rows.N, p.m.D
	gate, dgate := p.sup.Rows.Gate[i], p.sup.Rows.DGate[i]
	zi, dzi := p.zs[i*(D+1):i*(D+1)+D], p.dzs[i*(D+1):]
	V, S := p.V[i*N:(i+1)*N], p.U[i*N:(i+1)*N]
	for j, rbf := range p.pairs(i) {
		gj := p.gate[j]
		kb, db := gj*a*p.alpha[j], gj*(b*p.alpha[j]-2*g*S[j])
		value, slope := gate*kb+dgate*db, gate*db
		lin, dlin := p.linearPart(p.sup, i, j)
		ampbar[1] += 2 * (value*lin + slope*dlin)
		V[j] = (value - slope*radial(zi, dzi, p.z[j*(D+1):])) * rbf
		S[j] = slope * rbf
		ampbar[0] += 2 * V[j]
	}
}

// feature returns the columns of the channel's features in row i of an adjoint.
func (p *Exact) feature(bar []float64, i int) []float64 {
	o := i*p.m.Head.Out() + p.m.K + p.k*p.m.D
	return bar[o : o+p.m.D]
}

var _ = [2]Kernel{(*RFF)(nil), (*Exact)(nil)}
