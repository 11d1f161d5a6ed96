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
	unit          simd.Unit
	net           *batchNet
	work          matmul.Work
	jacobians     jacobians
}

// increments are those of a step at n places, a row for each. Derivatives are those of
// nodes.
type increments struct {
	x     []float64 // n×K, states
	v     []float64 // n×(L+P), coordinates
	psi   []float64 // n×N
	delta []float64 // n×K
	d     []float64 // n×(L·K): derivative of Wᵀψ and the net by coordinate l at l·K …
	g     []float64 // n×K×K: derivative of the increment by state c at c·K …
}

func newIncrements(p *Rollout, n int) increments {
	return increments{x: make([]float64, n*p.k), v: make([]float64, n*len(p.va)), psi: make([]float64, n*len(p.psi)), delta: make([]float64, n*p.k)}
}

// NewBatchedRollout takes the memory for evaluations of p at times. The unit evaluates nets
// and Jacobians, in single precision.
func NewBatchedRollout(p *Rollout, times []float64, unit simd.Unit) *BatchedRollout {
	K, L := p.k, p.m.Lift.Dim()
	f := &BatchedRollout{
		p: p, times: times, nodes: newIncrements(p, p.nodes+2), derivatives: p.m.derivatives(K), unit: unit, net: newBatchNet(p.m, unit),
		jacobians: newJacobians(K, p.nodes),
	}
	f.nodes.d, f.nodes.g = make([]float64, (p.nodes+2)*L*K), make([]float64, (p.nodes+2)*K*K)
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
	f.work.Reserve(len(f.derivatives)/max(L*K, 1), L*K)
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
	V, L := len(p.va), p.m.Lift.Dim()
	for j, i := range f.between {
		for k, x0 := range p.x0 {
			f.first.x[j*K+k] = x0 + dst[i*K+k]
		}
		if step := f.step[i]; step < p.nodes {
			v := f.first.v[j*V : (j+1)*V]
			copy(v, p.v[step*V:step*V+L])
			p.m.inputs(v, f.mean[j*len(p.mean):(j+1)*len(p.mean)])
		} else {
			f.coordinates(&f.first, j)
		}
	}
	f.evaluate(&f.first)
	for j, x := range f.first.x {
		f.second.x[j] = x + f.first.delta[j]
	}
	for j := range f.between {
		f.coordinates(&f.second, j)
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

// coordinates sets those of place j from its state under the inputs.
func (f *BatchedRollout) coordinates(s *increments, j int) {
	K, V, P := f.p.k, len(f.p.va), len(f.p.mean)
	f.p.m.Coordinates(s.v[j*V:(j+1)*V], nil, s.x[j*K:(j+1)*K], f.mean[j*P:(j+1)*P])
}

// evaluate sets the increments from the states x and their coordinates.
func (f *BatchedRollout) evaluate(s *increments) {
	m, K := f.p.m, f.p.k
	n, V, N := len(f.between), len(f.p.va), len(f.p.psi)
	for i := range n {
		m.Monomials(s.psi[i*N:(i+1)*N], s.v[i*V:(i+1)*V])
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
