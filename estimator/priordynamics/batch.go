package priordynamics

import (
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// BatchedRollout evaluates a rollout at many times at once: the formulas of Rollout.At, with
// one product of matrices for all times.
type BatchedRollout struct {
	p     *Rollout
	times []float64
	step  []int // N: of each time
	// Of times at a node the displacement is the node's. The n others, by their places:
	between []int
	part    []float64 // n: σ, the elapsed fraction of the step
	curve   []float64 // n: ½σ(σ−1)

	first, second increments // n: Δ0, Δ1
	nodes         increments
	mean          []float64 // n×P, of the input since each step's start
	derivatives   []float64 // T'×(L·K), see Model.derivatives
	net           *batchNet
	work          matmul.Work

	nodeJacobian []float64 // nodes+1 × K×K: ∂(x_n − x0)/∂x0, transposed
	y, h0, h1    []float64 // K×K, of one time
	unit         []float64 // K, a direction
}

// increments are those of a step at n places, a row for each.
type increments struct {
	x        []float64 // n×K, states
	v, slope []float64 // n×(L+P), n×L: coordinates, and their derivatives by the states
	psi      []float64 // n×N
	delta    []float64 // n×K
	d        []float64 // n×(L·K): derivative of Wᵀψ and the net by coordinate l at l·K …
	g        []float64 // n×K×K: derivative of the increment by state c at c·K …
}

func newIncrements(p *Rollout, n int) increments {
	L, K := p.m.Lift.Dim(), p.k
	return increments{
		x: make([]float64, n*K), v: make([]float64, n*len(p.va)), slope: make([]float64, n*L), psi: make([]float64, n*len(p.psi)),
		delta: make([]float64, n*K), d: make([]float64, n*L*K), g: make([]float64, n*K*K),
	}
}

// NewBatchedRollout takes the memory for evaluations of p at times. The unit evaluates the
// net, in single precision.
func NewBatchedRollout(p *Rollout, times []float64, unit simd.Unit) *BatchedRollout {
	K := p.k
	f := &BatchedRollout{
		p: p, times: times, nodes: newIncrements(p, p.nodes), derivatives: p.m.derivatives(K), net: newBatchNet(p.m, unit),
		nodeJacobian: make([]float64, (p.nodes+1)*K*K), unit: make([]float64, K),
	}
	for _, m := range []*[]float64{&f.y, &f.h0, &f.h1} {
		*m = make([]float64, K*K)
	}
	for i, t := range times {
		step := max(0, min(int(t/p.m.Step+tiny), p.nodes))
		f.step = append(f.step, step)
		if s := t/p.m.Step - float64(step); s > atNode {
			f.between, f.part, f.curve = append(f.between, i), append(f.part, s), append(f.curve, 0.5*s*(s-1))
		}
	}
	n := len(f.between)
	f.first, f.second, f.mean = newIncrements(p, n), newIncrements(p, n), make([]float64, n*len(p.mean))
	f.work.Reserve(len(p.psi), K)
	f.work.Reserve(len(f.derivatives)/(p.m.Lift.Dim()*K), p.m.Lift.Dim()*K)
	f.work.Reserve(K, K)
	return f
}

// atNode is the fraction of a step after a node up to which a time counts as that of the
// node.
const atNode = 1e-12

// Evaluate writes the displacements of the last Run to dst: N×K.
func (f *BatchedRollout) Evaluate(dst []float64) {
	p, K := f.p, f.p.k
	f.inputs()
	for i, step := range f.step {
		copy(dst[i*K:(i+1)*K], p.x[step*K:(step+1)*K])
	}
	for j, i := range f.between {
		for k, x0 := range p.x0 {
			f.first.x[j*K+k] = x0 + dst[i*K+k]
		}
	}
	f.evaluate(&f.first)
	for j, x := range f.first.x {
		f.second.x[j] = x + f.first.delta[j]
	}
	f.evaluate(&f.second)
	for j, i := range f.between {
		for k := range K {
			d0, d1 := f.first.delta[j*K+k], f.second.delta[j*K+k]
			dst[i*K+k] += f.part[j]*d0 + f.curve[j]*(d1-d0)
		}
	}
}

// inputs sets the mean inputs since each step's start.
func (f *BatchedRollout) inputs() {
	p, P := f.p, len(f.p.mean)
	if P == 0 {
		return
	}
	for j, i := range f.between {
		mean := f.mean[j*P : (j+1)*P]
		if start := float64(f.step[i]) * p.m.Step; f.part[j] < tiny {
			p.u.At(mean, start)
		} else {
			p.u.Mean(mean, start, f.times[i])
		}
	}
}

// evaluate sets the increments from the states x under the inputs.
func (f *BatchedRollout) evaluate(s *increments) {
	m, K, L, P := f.p.m, f.p.k, f.p.m.Lift.Dim(), len(f.p.mean)
	n, V, N := len(f.between), L+P, len(f.p.psi)
	for i := range n {
		v := s.v[i*V : (i+1)*V]
		m.Coordinates(v, s.slope[i*L:(i+1)*L], s.x[i*K:(i+1)*K], f.mean[i*P:(i+1)*P])
		m.Monomials(s.psi[i*N:(i+1)*N], v)
	}
	f.work.Affine(matmul.Matrix(n, K, s.delta), matmul.Matrix(n, N, s.psi), matmul.Matrix(N, K, m.Weights), nil)
	f.net.add(s.delta, s.v, n)
	if m.Body.Empty() {
		return
	}
	for i := range n {
		m.Body.Add(s.delta[i*K:(i+1)*K], s.x[i*K:(i+1)*K], m.Step)
	}
}
