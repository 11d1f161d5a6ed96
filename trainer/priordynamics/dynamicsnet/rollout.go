package dynamicsnet

import (
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/objective"
	"github.com/dgm-robotics/dgm/trainer/priordynamics/paths"
)

// rollout rolls one model out from a batch of B windows, a row each, and carries adjoints
// back.
type rollout struct {
	m       *priordynamics.Model
	k, p, l int
	nodes   []node
	mul     matmul.Work
	adjoint *objective.NetAdjoint

	increment       []float64 // B×K
	lambda          []float64 // B×K, adjoint of the states
	learned, scaled []float64 // B×K, that of the equation's and net's increment; in units of the net's output
	psibar          []float64 // B×N
	normal, sum     []float64 // L+P, 1
}

// node is the state at one node, and what its increment was computed from.
type node struct {
	d     []float64 // B×K, displacement
	x     []float64 // B×K
	v     []float64 // B×(L+P)
	slope []float64 // B×(L+P)
	psi   []float64 // B×N
	net   *mlp.Tape
}

func newRollout(m *priordynamics.Model, nodes, rows int) *rollout {
	K, L, P, N := m.Net.Out(), m.Lift.Dim(), len(m.UMean), m.Terms()
	size := func(n int) []float64 { return make([]float64, rows*n) }
	r := &rollout{
		m: m, k: K, p: P, l: L, nodes: make([]node, nodes+1), adjoint: objective.NewNetAdjoint(&m.Net, rows, false, true),
		increment: size(K), lambda: size(K), learned: size(K), scaled: size(K), psibar: size(N), normal: make([]float64, L+P), sum: make([]float64, 1),
	}
	for i := range r.nodes {
		r.nodes[i] = node{d: size(K), x: size(K), v: size(L + P), slope: size(L + P), psi: size(N), net: mlp.NewTape(&m.Net, rows, false)}
	}
	return r
}

// forward rolls the windows of a batch out. Displacements stay in the nodes.
func (r *rollout) forward(b *batch) {
	K, L, P, N := r.k, r.l, r.p, r.m.Terms()
	for i := range len(r.nodes) - 1 {
		at, next := &r.nodes[i], r.nodes[i+1].d
		for j, d := range at.d {
			at.x[j] = b.x0[j] + d
		}
		for j := range b.n {
			v := at.v[j*(L+P) : (j+1)*(L+P)]
			r.m.Coordinates(v, at.slope[j*(L+P):(j+1)*(L+P)], at.x[j*K:(j+1)*K], b.u[(i*b.n+j)*P:(i*b.n+j+1)*P])
			r.m.Monomials(at.psi[j*N:(j+1)*N], v)
		}
		r.mul.Affine(matmul.Matrix(b.n, K, next), matmul.Matrix(b.n, N, at.psi), matmul.Matrix(N, K, r.m.Weights), nil)
		r.m.Net.Forward(at.net, b.n, at.v, nil)
		for j, y := range at.net.Out() {
			next[j] += r.m.NetScale[j%K] * y
		}
		for j := range b.n {
			x, to := at.x[j*K:(j+1)*K], next[j*K:(j+1)*K]
			r.m.Chain.Add(to, x, b.u[(i*b.n+j)*P:(i*b.n+j+1)*P], r.m.Step)
			r.m.Body.Add(to, x, r.m.Step)
		}
		for j, d := range at.d {
			next[j] += d
		}
	}
}

// backward carries adjoints of the displacements after each step (steps×B×K) back to the
// net's parameters, added to grad:
//
//	λ_n = λ_{n+1} + (∂v/∂x)ᵀ ( (∂ψ/∂v)ᵀ W + (∂net/∂v)ᵀ S ) λ' + ∂L/∂x_n
//
// S is NetScale. λ' = λ_{n+1} without declared kinematics; else their adjoint maps
// λ_{n+1} to λ' and adds its own part to λ_n.
func (r *rollout) backward(b *batch, adjoints []float64, grad *mlp.Net) {
	K, N, width := r.k, r.m.Terms(), r.l+r.p
	clear(r.lambda)
	for i := len(r.nodes) - 2; i >= 0; i-- {
		at := &r.nodes[i]
		for j, g := range adjoints[i*b.n*K : (i+1)*b.n*K] {
			r.lambda[j] += g
		}
		copy(r.learned, r.lambda)
		r.kinematics(at, r.nodes[i+1].d)
		for j, g := range r.learned {
			r.scaled[j] = g * r.m.NetScale[j%K]
		}
		r.adjoint.Run(&r.m.Net, grad, at.net, r.scaled, nil)
		if i == 0 {
			return // the start is measured
		}
		r.mul.Mul(matmul.Matrix(b.n, N, r.psibar), 1, false, matmul.Matrix(b.n, K, r.learned), true, matmul.Matrix(N, K, r.m.Weights), 0)
		for j := range b.n {
			r.m.Chain.Adjoint(r.lambda[j*K:(j+1)*K], r.learned[j*K:(j+1)*K], at.x[j*K:(j+1)*K], b.u[(i*b.n+j)*r.p:(i*b.n+j+1)*r.p], r.m.Step)
			vbar := r.adjoint.X[j*width : (j+1)*width]
			v := at.v[j*width : (j+1)*width]
			r.m.Adjoint(vbar, v, r.psibar[j*N:(j+1)*N])
			r.m.Ellipsoid.Adjoint(vbar, v, r.normal, r.sum)
			for l, of := range r.m.Lift.Of {
				r.lambda[j*K+of] += vbar[l] * at.slope[j*width+l]
			}
		}
	}
}

// kinematics makes the adjoint of the increments from a node to the displacements next
// that of their learned part.
func (r *rollout) kinematics(at *node, next []float64) {
	if r.m.Body.Empty() {
		return
	}
	for j, d := range next {
		r.increment[j] = d - at.d[j]
	}
	for j, K := 0, r.k; j < len(next); j += K {
		r.m.Body.Adjoint(r.lambda[j:j+K], r.learned[j:j+K], at.x[j:j+K], r.increment[j:j+K], r.m.Step)
	}
}

// batch is some windows, node by node.
type batch struct {
	n  int
	x0 []float64 // B×K
	y  []float64 // nodes×B×K
	u  []float64 // nodes×B×P
}

func newBatch(w *paths.Paths, n int) *batch {
	return &batch{n: n, x0: make([]float64, n*w.K), y: make([]float64, w.Nodes*n*w.K), u: make([]float64, w.Nodes*n*w.P)}
}

// take copies the windows of the given numbers.
func (b *batch) take(w *paths.Paths, numbers []int) {
	for i, at := range numbers {
		copy(b.x0[i*w.K:], w.X0[at*w.K:(at+1)*w.K])
		for n := range w.Nodes {
			to, from := n*b.n+i, at*w.Nodes+n
			copy(b.y[to*w.K:], w.Y[from*w.K:(from+1)*w.K])
			copy(b.u[to*w.P:], w.U[from*w.P:(from+1)*w.P])
		}
	}
}
