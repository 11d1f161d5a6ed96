package posterior

import (
	"math"

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

// matrixBar sets Mbar to M̄, symmetrised, and q to q̄.
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
		for j := range i + 1 {
			v := 0.5*(M[i*N+j]-alpha[i]*alpha[j]) - 0.5*(q[i]*alpha[j]+q[j]*alpha[i])
			M[i*N+j] = v
		}
	}
	if a != nil {
		Ns := p.sup.Rows.N
		p.mul.Gram(matmul.Matrix(N, N, M), 1, matmul.Matrix(Ns, N, p.U[:Ns*N]), g[:Ns], 1)
	}
	mirror(M, N)
}

// observationsToMap carries M̄ to z and the amplitudes:
// ∂κ/∂z_i = −(z_i − z_j) κ.
func (p *Exact) observationsToMap(obs *Bar, ampbar []float64) {
	N := p.obs.Rows.N
	a1, a2 := math.Exp(2*p.m.LogAmp[2*p.k]), math.Exp(2*p.m.LogAmp[2*p.k+1])
	for i := range N {
		if p.prec[i] == 0 {
			continue
		}
		pi := p.m.Exact(p.obs, i, p.k)
		zi := p.feature(obs.Out, i)
		for j := range i + 1 {
			if p.prec[j] == 0 {
				continue
			}
			pj := p.m.Exact(p.obs, j, p.k)
			both := p.Mbar[i*N+j] // counted for (i,j) and (j,i)
			if i != j {
				both *= 2
			}
			rbf := both * pi.Gate * pj.Gate * a1 * math.Exp(-0.5*distance(pi.Z, pj.Z))
			zj := p.feature(obs.Out, j)
			for d, v := range pi.Z {
				t := rbf * (v - pj.Z[d])
				zi[d] -= t
				zj[d] += t
			}
			ampbar[0] += 2 * rbf
			ampbar[1] += 2 * both * pi.Gate * pj.Gate * a2 * product(pi.B, pj.B)
		}
	}
}

// supportToMap carries k̄, k̇̄ and k̈̄ to z, ż of the support points, to z of the
// observations, and to the amplitudes.
func (p *Exact) supportToMap(a, b, g []float64, obs, sup *Bar, ampbar []float64) {
	N := p.obs.Rows.N
	a1, a2 := math.Exp(2*p.m.LogAmp[2*p.k]), math.Exp(2*p.m.LogAmp[2*p.k+1])
	for i := range p.sup.Rows.N {
		ps := p.m.Exact(p.sup, i, p.k)
		zs, dzs := p.feature(sup.Out, i), p.feature(sup.DOut, i)
		for j := range N {
			if p.prec[j] == 0 {
				continue
			}
			pj := p.m.Exact(p.obs, j, p.k)
			kb := a[i] * p.alpha[j]
			db := b[i]*p.alpha[j] - 2*g[i]*p.U[i*N+j]
			rbf := a1 * math.Exp(-0.5*distance(ps.Z, pj.Z))
			radial := 0.0
			for d, v := range ps.Z {
				radial += (v - pj.Z[d]) * ps.DZ[d]
			}
			onValue := pj.Gate * (ps.Gate*kb + ps.DGate*db) * rbf
			onSlope := pj.Gate * ps.Gate * db * rbf // times −radial
			zj := p.feature(obs.Out, j)
			for d, v := range ps.Z {
				delta := v - pj.Z[d]
				t := -delta*(onValue-onSlope*radial) - onSlope*ps.DZ[d]
				zs[d] += t
				zj[d] -= t
				dzs[d] -= onSlope * delta
			}
			ampbar[0] += 2 * (onValue - onSlope*radial)
			lin, dlin := a2*product(ps.B, pj.B), a2*product(ps.DB, pj.B)
			ampbar[1] += 2 * pj.Gate * ((ps.Gate*kb+ps.DGate*db)*lin + ps.Gate*db*dlin)
		}
		speed := 0.0
		for d, v := range ps.DZ {
			dzs[d] += 2 * g[i] * a1 * ps.Gate * ps.Gate * v
			speed += v * v
		}
		_, prior := p.m.PriorVariance(p.k, &ps)
		random := a1 * (ps.DGate*ps.DGate + ps.Gate*ps.Gate*speed)
		ampbar[0] += 2 * g[i] * random
		ampbar[1] += 2 * g[i] * (prior - random)
	}
}

// feature returns the columns of the channel's features in row i of an adjoint.
func (p *Exact) feature(bar []float64, i int) []float64 {
	o := i*p.m.Head.Out() + p.m.K + p.k*p.m.D
	return bar[o : o+p.m.D]
}

func distance(x, y []float64) float64 {
	s := 0.0
	for d, v := range x {
		s += (v - y[d]) * (v - y[d])
	}
	return s
}

func product(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

var _ = [2]Kernel{(*RFF)(nil), (*Exact)(nil)}
