package priordynamics

import "github.com/tphakala/simd/f64"

// batchJacobian is the memory for the Jacobian of a BatchedRollout by the start state, in rows of
// all times. Increments change with the state they start from by G = ∂Δ/∂x, K×K, so
// that with X_n = ∂(x_n − x0)/∂x0 at the nodes
//
//	X_(n+1) = X_n + G (I + X_n)    H0 = G0 (I + X_n)    H1 = G1 (I + X_n + H0)
//	X(t) = X_n + σ H0 + ½σ(σ−1) (H1 − H0)
type batchJacobian struct {
	g0, g1 incrementJacobian // of the times
	nodes  incrementJacobian
	nodeX  []float64   // nodes+1 × K×K: X_n
	x, h   [][]float64 // K×K rows
	start  [][]float64 // K rows: x0 + d
	whole  [][]float64 // K rows: an increment
}

// incrementJacobian is G at a row of states.
type incrementJacobian struct {
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

func newBatchJacobian(p *Rollout, n int) *batchJacobian {
	K, L := p.k, p.m.Lift.Dim()
	s := &batchJacobian{nodeX: make([]float64, (p.nodes+1)*K*K), x: rowsOf(K*K, n), h: rowsOf(K*K, n), start: rowsOf(K, n), whole: rowsOf(K, n)}
	d, slope, term := rowsOf(L*K, n), rowsOf(L, n), make([]float64, n)
	s.g0 = incrementJacobian{g: rowsOf(K*K, n), slope: slope, d: d, term: term}
	s.g1 = incrementJacobian{g: rowsOf(K*K, n), slope: slope, d: d, term: term}
	s.nodes = incrementJacobian{g: rowsOf(K*K, p.nodes), slope: rowsOf(L, p.nodes), d: rowsOf(L*K, p.nodes), term: make([]float64, p.nodes)}
	return s
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

// jacobian sets g to that of Wᵀψ and the net at the coordinates v.
func (s *incrementJacobian) jacobian(p *Rollout, net *batchNet, v [][]float64) {
	m, K, L := p.m, p.k, p.m.Lift.Dim()
	for _, d := range s.d {
		clear(d)
	}
	for l := range L {
		for k, w := range m.Weights[(1+l)*K : (2+l)*K] {
			f64.AddScalar(s.d[l*K+k], s.d[l*K+k], w)
		}
	}
	at := 1 + len(v)
	if m.Degree >= 2 {
		at = s.addQuadratic(p, v, at)
	}
	if m.Degree >= 3 {
		s.addCubic(p, v[:L], at)
	}
	net.addJacobian(s.d, v)
	for _, g := range s.g {
		clear(g)
	}
	for l, of := range m.Lift.Of {
		for k := range K {
			f64.FMA(s.g[k*K+of], s.slope[l], s.d[l*K+k], s.g[k*K+of])
		}
	}
}

// add adds the derivative of monomial at by coordinate l, unless that is an input.
func (s *incrementJacobian) add(p *Rollout, at, l int, derivative []float64) {
	if l >= p.m.Lift.Dim() {
		return
	}
	for k, w := range p.m.Weights[at*p.k : (at+1)*p.k] {
		f64.AddScaled(s.d[l*p.k+k], w, derivative)
	}
}

// addQuadratic adds the products of two coordinates, from monomial at on, and returns
// the next monomial.
func (s *incrementJacobian) addQuadratic(p *Rollout, v [][]float64, at int) int {
	for i := range v {
		for j := i; j < len(v); j++ {
			s.add(p, at, i, v[j])
			s.add(p, at, j, v[i])
			at++
		}
	}
	return at
}

// addCubic adds the products of three states x, from monomial at on.
func (s *incrementJacobian) addCubic(p *Rollout, x [][]float64, at int) {
	for i := range x {
		for j := i; j < len(x); j++ {
			for k := j; k < len(x); k++ {
				for _, d := range [...][3]int{{i, j, k}, {j, i, k}, {k, i, j}} {
					f64.Mul(s.term, x[d[1]], x[d[2]])
					s.add(p, at, d[0], s.term)
				}
				at++
			}
		}
	}
}

// addKinematics makes g that of the whole increments (K rows) from the states x (K rows).
func (s *incrementJacobian) addKinematics(p *Rollout, x, whole [][]float64) {
	K := p.k
	if p.m.Body.Empty() {
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
				p.djvp[k] = s.g[k*K+c][i]
			}
			p.m.Body.JVP(p.djvp, p.dnow, p.now, p.inc, p.m.Step)
			for k, v := range p.djvp {
				s.g[k*K+c][i] = v
			}
		}
	}
}
