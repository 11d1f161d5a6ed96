package priordynamics

import (
	"math"

	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// fanSlopes is the memory for the derivatives of a Fan by the start state, in rows of
// all times. Increments change with the state they start from by G = ∂Δ/∂x, K×K, so
// that with X_n = ∂(x_n − x0)/∂x0 at the nodes
//
//	X_(n+1) = X_n + G (I + X_n)    H0 = G0 (I + X_n)    H1 = G1 (I + X_n + H0)
//	X(t) = X_n + σ H0 + ½σ(σ−1) (H1 − H0)
type fanSlopes struct {
	g0, g1 sheet // of the times
	nodes  sheet
	turn   []float64   // nodes+1 × K×K: X_n
	x, h   [][]float64 // K×K rows
	start  [][]float64 // K rows: x0 + d
	whole  [][]float64 // K rows: an increment
}

// sheet is G at a row of places.
type sheet struct {
	g     [][]float64 // K×K rows
	slope [][]float64 // L rows, ∂v/∂x
	d     [][]float64 // L×K rows, ∂Wᵀψ/∂v
	term  []float64
}

func rowsOf(rows, n int) (out [][]float64) {
	for range rows {
		out = append(out, make([]float64, n))
	}
	return out
}

func newFanSlopes(p *Rollout, n int) *fanSlopes {
	K, L := p.k, p.m.Lift.Dim()
	s := &fanSlopes{turn: make([]float64, (p.nodes+1)*K*K), x: rowsOf(K*K, n), h: rowsOf(K*K, n), start: rowsOf(K, n), whole: rowsOf(K, n)}
	d, slope, term := rowsOf(L*K, n), rowsOf(L, n), make([]float64, n)
	s.g0 = sheet{g: rowsOf(K*K, n), slope: slope, d: d, term: term}
	s.g1 = sheet{g: rowsOf(K*K, n), slope: slope, d: d, term: term}
	s.nodes = sheet{g: rowsOf(K*K, p.nodes), slope: rowsOf(L, p.nodes), d: rowsOf(L*K, p.nodes), term: make([]float64, p.nodes)}
	return s
}

// Jacobian writes the derivatives of what All has last written by the start state to
// dst: K×K rows of all times, row k·K + c being that of displacement k by state c.
func (f *BatchedRollout) Jacobian(dst []float64) {
	p, s, n, K := f.p, f.slopes, len(f.times), f.p.k
	// All has left the coordinates of Δ1 behind, and Δ1 − Δ0 in b.
	f.read(&s.g1)
	for k := range f.d {
		f64.AddScalar(s.start[k], f.d[k], p.x0[k])
		f64.Add(s.whole[k], f.a[k], f.b[k])
	}
	s.g1.jacobian(p, f.v)
	s.g1.laws(p, s.start, s.whole)
	f.begin()
	f.states()
	f.read(&s.g0)
	for k := range f.d {
		f64.AddScalar(s.start[k], f.d[k], p.x0[k])
	}
	s.g0.jacobian(p, f.v)
	s.g0.laws(p, s.start, f.a)
	f.turnNodes()
	for i, step := range f.step {
		for j, v := range s.turn[step*K*K : (step+1)*K*K] {
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

// product sets c = a·b, K×K rows each. c is not to be one of the others.
func product(c, a, b [][]float64, K int) {
	for i := range K {
		for j := range K {
			sum := c[i*K+j]
			f64.Mul(sum, a[i*K], b[j])
			for l := 1; l < K; l++ {
				f64.FMA(sum, a[i*K+l], b[l*K+j], sum)
			}
		}
	}
}

// turnNodes sets turn.
func (f *BatchedRollout) turnNodes() {
	p, s := f.p, f.slopes
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
	s.nodes.jacobian(p, f.nodeV)
	s.nodes.laws(p, f.nodeX, f.nodeD)
	clear(s.turn[:K*K])
	for i := range p.nodes {
		from, to := s.turn[i*K*K:(i+1)*K*K], s.turn[(i+1)*K*K:(i+2)*K*K]
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

// read fills the slopes of the coordinates v, as read from the displacements d: 0
// where one is held at its bound.
func (f *BatchedRollout) read(s *sheet) {
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

// jacobian sets g to that of Wᵀψ at the coordinates v.
func (s *sheet) jacobian(p *Rollout, v [][]float64) {
	m, K, L := p.m, p.k, p.m.Lift.Dim()
	for _, d := range s.d {
		clear(d)
	}
	at := 1
	add := func(l int, term []float64) { // ∂ψ/∂v_l of monomial at
		if l < L {
			for k, w := range m.Weights[at*K : (at+1)*K] {
				f64.AddScaled(s.d[l*K+k], w, term)
			}
		}
	}
	for l := range v {
		if l < L {
			for k, w := range m.Weights[at*K : (at+1)*K] {
				f64.AddScalar(s.d[l*K+k], s.d[l*K+k], w)
			}
		}
		at++
	}
	if m.Degree >= 2 {
		for i := range v {
			for j := i; j < len(v); j++ {
				add(i, v[j])
				add(j, v[i])
				at++
			}
		}
	}
	if m.Degree >= 3 {
		for i := range L {
			for j := i; j < L; j++ {
				for k := j; k < L; k++ {
					f64.Mul(s.term, v[j], v[k])
					add(i, s.term)
					f64.Mul(s.term, v[i], v[k])
					add(j, s.term)
					f64.Mul(s.term, v[i], v[j])
					add(k, s.term)
					at++
				}
			}
		}
	}
	for _, g := range s.g {
		clear(g)
	}
	for l, of := range m.Lift.Of {
		for k := range K {
			f64.FMA(s.g[k*K+of], s.slope[l], s.d[l*K+k], s.g[k*K+of])
		}
	}
}

// laws turns g into that of the whole increments (K rows) from the states x (K rows).
func (s *sheet) laws(p *Rollout, x, whole [][]float64) {
	K := p.k
	if p.m.Body.None() {
		return
	}
	for i := range x[0] {
		for k := range K {
			p.now[k], p.inc[k] = x[k][i], whole[k][i]
		}
		for c := range K {
			clear(p.dnow)
			p.dnow[c] = 1
			for k := range K {
				p.moved[k] = s.g[k*K+c][i]
			}
			p.m.Body.JVP(p.moved, p.dnow, p.now, p.inc, p.m.Step)
			for k, v := range p.moved {
				s.g[k*K+c][i] = v
			}
		}
	}
}
