package modeltest

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// noise of the invented observations, output units.
const noise = 0.2

// member draws a map and conditions it on invented observations.
func member(m *model.Model, s Shape, seed uint64, rng *rand.Rand) model.Member {
	in := &m.Inputs
	e := model.Member{OmegaSeed: seed, Map: feature.Map{
		K: s.K, D: s.D, F: s.F, Basis: feature.Basis{Terms: s.Basis}, Gated: !s.Paper,
		Core: net(append([]int{in.Dim()}, s.Core...), rng),
		Head: net([]int{s.Core[len(s.Core)-1], s.K + s.K*s.D}, rng),
	}}
	if s.Exact == 0 {
		e.Map.Omega = normal(s.F/2*s.D, 1, rand.New(rand.NewPCG(seed, 0)))
	}
	e.Map.LogAmp = normal(2*s.K, 0.2, rng)
	for range s.Readouts {
		n := s.Exact
		if n == 0 {
			n = e.Map.Features()
		}
		rows := invent(n, in, e.Map.Basis, e.Map.Gated, rng)
		eval := feature.NewEval(&e.Map, n)
		e.Map.Forward(eval, rows, false)
		if s.Exact > 0 {
			e.Posterior = append(e.Posterior, exact(&e.Map, eval, rng))
		} else {
			e.Posterior = append(e.Posterior, random(&e.Map, eval, rng))
		}
		q := &e.Posterior[len(e.Posterior)-1]
		for range s.K {
			for j := range m.NoiseKnots {
				q.LogSigma = append(q.LogSigma, -4+float64(j)+0.2*rng.NormFloat64())
			}
		}
	}
	return e
}

// invent fills n rows with normal numbers at random times.
func invent(n int, in *feature.Inputs, basis feature.Basis, gated bool, rng *rand.Rand) *feature.Rows {
	rows := feature.NewRows(n, in, basis)
	rows.N = n
	I := in.Dim()
	for i := range n {
		copy(rows.S[i*I:], normal(I, 1, rng))
		t := Horizon * (0.05 + 0.95*rng.Float64())
		rows.S[i*I] = in.Standard(t)
		rows.Fill(i, in, gated, basis, t)
	}
	return rows
}

// random conditions random features: A = I + ΦᵀΦ/σ² = L Lᵀ, w = A⁻¹Φᵀr/σ².
func random(m *feature.Map, e *feature.Eval, rng *rand.Rand) model.Posterior {
	var out model.Posterior
	T, n := m.Features(), e.Rows.N
	phi := feature.NewPhi(m, n)
	for k := range m.K {
		m.RandomFeatures(phi, e, k)
		A, q := make([]float64, T*T), make([]float64, T)
		for i := range n {
			row := phi.Phi[i*T : (i+1)*T]
			r := rng.NormFloat64() / (noise * noise)
			for a, v := range row {
				q[a] += v * r
				for b := range a + 1 {
					A[a*T+b] += v * row[b] / (noise * noise)
				}
			}
		}
		for a := range T {
			A[a*T+a]++
		}
		w, inverse := solve(A, q)
		for i, v := range inverse {
			inverse[i] = float64(float32(v)) // as files round it
		}
		out.Weights, out.InverseFactor = append(out.Weights, w), append(out.InverseFactor, inverse)
	}
	return out
}

// exact conditions the exact kernel: M = K + σ²I = L Lᵀ, α = M⁻¹r.
func exact(m *feature.Map, e *feature.Eval, rng *rand.Rand) model.Posterior {
	n := e.Rows.N
	out := model.Posterior{Exact: &model.Exact{N: n, Gate: e.Rows.Gate, B: e.Rows.B}}
	for k := range m.K {
		M, z := make([]float64, n*n), []float64(nil)
		for i := range n {
			pi := m.Exact(e, i, k)
			z = append(z, pi.Z...)
			for j := range i + 1 {
				pj := m.Exact(e, j, k)
				// No tangent was evaluated: only the covariance is meant.
				M[i*n+j], _ = m.Covariance(k, &pi, &pj)
			}
			M[i*n+i] += noise * noise
		}
		w, inverse := solve(M, normal(n, 1, rng))
		out.Weights, out.InverseFactor = append(out.Weights, w), append(out.InverseFactor, inverse)
		out.Exact.Z = append(out.Exact.Z, z)
	}
	return out
}

// solve returns a⁻¹q and L⁻¹ packed by rows, a = L Lᵀ given by its lower
// triangle.
func solve(a, q []float64) (x, inverse []float64) {
	n := len(q)
	if _, ok := lapack64.Potrf(blas64.Symmetric{N: n, Stride: n, Data: a, Uplo: blas.Lower}); !ok {
		panic("modeltest: not positive definite")
	}
	L := blas64.Triangular{N: n, Stride: n, Data: a, Uplo: blas.Lower, Diag: blas.NonUnit}
	x = append([]float64(nil), q...)
	v := blas64.Vector{N: n, Inc: 1, Data: x}
	blas64.Trsv(blas.NoTrans, L, v)
	blas64.Trsv(blas.Trans, L, v)
	lapack64.Trtri(L)
	for j := range n {
		inverse = append(inverse, a[j*n:j*n+j+1]...)
	}
	return x, inverse
}

func net(widths []int, rng *rand.Rand) mlp.Net {
	acts := make([]mlp.Activation, len(widths)-1)
	for i := range acts[:len(acts)-1] {
		acts[i] = mlp.Activation(1 + i%2) // sigmoid, tanh, …
	}
	n := mlp.New(widths, acts)
	n.Glorot(rng)
	for i := range n.Layers {
		for j := range n.Layers[i].B {
			n.Layers[i].B[j] = 0.1 * rng.NormFloat64()
		}
	}
	return n
}

func normal(n int, scale float64, rng *rand.Rand) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = scale * rng.NormFloat64()
	}
	return out
}
