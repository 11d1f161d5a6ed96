package priordynamics

import (
	"math"

	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Jacobian writes the derivatives of the last Evaluate by the start state to dst: K×K rows
// of all times, row k·K + c being that of displacement k by state c.
func (f *BatchedRollout) Jacobian(dst []float64) {
	p, s, n, K := f.p, f.jacobian, len(f.times), f.p.k
	// Evaluate has left the coordinates of Δ1 behind, and Δ1 − Δ0 in b.
	f.coordinateDerivatives(&s.g1)
	for k := range f.d {
		f64.AddScalar(s.start[k], f.d[k], p.x0[k])
		f64.Add(s.whole[k], f.a[k], f.b[k])
	}
	s.g1.jacobian(p, f.net, f.v)
	s.g1.addKinematics(p, s.start, s.whole)
	f.begin()
	f.states()
	f.coordinateDerivatives(&s.g0)
	for k := range f.d {
		f64.AddScalar(s.start[k], f.d[k], p.x0[k])
	}
	s.g0.jacobian(p, f.net, f.v)
	s.g0.addKinematics(p, s.start, f.a)
	f.nodeJacobians()
	for i, step := range f.step {
		for j, v := range s.nodeX[step*K*K : (step+1)*K*K] {
			s.x[j][i] = v
		}
	}
	for j, x := range s.x {
		copy(dst[j*n:(j+1)*n], x)
		if j%(K+1) == 0 {
			f64.AddScalar(x, x, 1) // I + X_n
		}
	}
	product(s.h, s.g0.g, s.x, K)
	for j, h := range s.h {
		row := dst[j*n : (j+1)*n]
		f64.FMA(row, f.part, h, row)
		f64.Add(s.x[j], s.x[j], h)
	}
	product(s.g0.g, s.g1.g, s.x, K)
	for j, h := range s.g0.g {
		row := dst[j*n : (j+1)*n]
		f64.Sub(h, h, s.h[j])
		f64.FMA(row, f.curve, h, row)
	}
}

// nodeJacobians sets nodeX.
func (f *BatchedRollout) nodeJacobians() {
	p, s := f.p, f.jacobian
	K, L, width := p.k, p.m.Lift.Dim(), len(p.va)
	for i := range p.nodes {
		for c, v := range p.v[i*width : (i+1)*width] {
			f.nodeV[c][i] = v
		}
		for l, v := range p.slope[i*L : (i+1)*L] {
			s.nodes.slope[l][i] = v
		}
		for k := range K {
			here := p.x[i*K+k]
			f.nodeX[k][i], f.nodeD[k][i] = p.x0[k]+here, p.x[(i+1)*K+k]-here
		}
	}
	s.nodes.jacobian(p, f.net, f.nodeV)
	s.nodes.addKinematics(p, f.nodeX, f.nodeD)
	clear(s.nodeX[:K*K])
	for i := range p.nodes {
		from, to := s.nodeX[i*K*K:(i+1)*K*K], s.nodeX[(i+1)*K*K:(i+2)*K*K]
		copy(to, from)
		for k := range K {
			row := to[k*K : (k+1)*K]
			for c := range K {
				g := s.nodes.g[k*K+c][i]
				row[c] += g
				for j, x := range from[c*K : (c+1)*K] {
					row[j] += g * x
				}
			}
		}
	}
}

// coordinateDerivatives fills the derivatives of the coordinates v by the displacements d: 0
// where one is held at its bound.
func (f *BatchedRollout) coordinateDerivatives(s *incrementJacobian) {
	p, lift := f.p, &f.p.m.Lift
	for l, of := range lift.Of {
		omega, scale, bound := lift.Omega[l], 1/lift.Std[l], p.m.Bound[l]
		for i, v := range f.v[l] {
			rate := scale
			switch lift.Kind[l] {
			case channel.Sine:
				rate *= omega * math.Cos(omega*(p.x0[of]+f.d[of][i]))
			case channel.Cosine:
				rate *= -omega * math.Sin(omega*(p.x0[of]+f.d[of][i]))
			}
			if v >= bound || v <= -bound {
				rate = 0
			}
			s.slope[l][i] = rate
		}
	}
}
