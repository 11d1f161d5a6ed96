package priordynamics

import (
	"math"

	"github.com/dgm-robotics/dgm/estimator/motion"
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
	// Increments of one step under one input serve all times there:
	place []int // n: of the increments
	used  int   // increments

	first, second increments // n: Δ0, Δ1
	nodes         increments
	mean          []float64 // n×P: of the increments, mean input since the step's start
	derivatives   []float64 // T'×((L+P)·K), see Model.derivatives
	unit          simd.Unit
	net           *batchNet
	work          matmul.Work
	jacobians     jacobians
	inputs        inputTangents
	linear        bool // whether Linearise was called since the last Evaluate

	differentiated bool // whether setIncrements was
}

// increments are those of a step at n places, a row for each. Derivatives are those of
// nodes.
type increments struct {
	x     []float64 // n×K, states
	v     []float64 // n×(L+P), coordinates
	psi   []float64 // n×N
	delta []float64 // n×K
	d     []float64 // n×((L+P)·K): derivative of Wᵀψ and the net by coordinate l at l·K …
	g     []float64 // n×(K+P)×K: derivative of the increment by state or input c at c·K …
}

func newIncrements(p *Rollout, n int) increments {
	return increments{x: make([]float64, n*p.k), v: make([]float64, n*len(p.va)), psi: make([]float64, n*len(p.psi)), delta: make([]float64, n*p.k)}
}

// NewBatchedRollout takes the memory for evaluations of p at times. The unit evaluates nets
// and Jacobians, in single precision.
func NewBatchedRollout(p *Rollout, times []float64, unit simd.Unit) *BatchedRollout {
	K, L, P := p.k, len(p.va), len(p.mean)
	f := &BatchedRollout{
		p: p, times: times, nodes: newIncrements(p, p.nodes+2), derivatives: p.m.derivatives(K), unit: unit, net: newBatchNet(p.m, unit),
		jacobians: newJacobians(K, P, p.nodes), inputs: newInputTangents(K, P, p.nodes),
	}
	if p.batch = motion.NewBatch(&p.m.Motion, K, P, p.m.Step); p.batch != nil {
		p.places = make([]float64, (p.nodes+2)*K)
	}
	f.nodes.d, f.nodes.g = make([]float64, (p.nodes+2)*L*K), make([]float64, (p.nodes+2)*K*(K+P))
	for i, t := range times {
		step := max(0, min(int(t/p.m.Step+tiny), p.nodes))
		f.step = append(f.step, step)
		if s := t/p.m.Step - float64(step); s > atNode {
			f.between, f.part, f.curve = append(f.between, i), append(f.part, s), append(f.curve, 0.5*s*(s-1))
		}
	}
	n := len(f.between)
	f.first, f.second, f.mean, f.place = newIncrements(p, n), newIncrements(p, n), make([]float64, n*len(p.mean)), make([]int, n)
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
	f.linear, f.differentiated = false, false
	for i, step := range f.step {
		p.reach(min(step+1, p.nodes)) // with the coordinates of the node
		copy(dst[i*K:(i+1)*K], p.x[step*K:(step+1)*K])
	}
	f.places()
	f.evaluate(&f.first)
	for j := range f.used {
		for k, x := range f.first.x[j*K : (j+1)*K] {
			f.second.x[j*K+k] = x + f.first.delta[j*K+k]
		}
		f.coordinates(&f.second, j)
	}
	f.evaluate(&f.second)
	for j, i := range f.between {
		at := f.place[j] * K
		for k := range K {
			d0, d1 := f.first.delta[at+k], f.second.delta[at+k]
			dst[i*K+k] += f.part[j]*d0 + f.curve[j]*(d1-d0)
		}
	}
}

// places sets place, used and mean, and the states and coordinates of the first increments.
func (f *BatchedRollout) places() {
	p, P := f.p, len(f.p.mean)
	f.used = 0
	for j, i := range f.between {
		if P > 0 {
			mean, start := f.mean[f.used*P:(f.used+1)*P], float64(f.step[i])*p.m.Step
			if f.part[j] < tiny {
				p.u.At(mean, start)
			} else {
				p.u.Mean(mean, start, f.times[i])
			}
		}
		if j == 0 || f.step[i] != f.step[f.between[j-1]] || !f.sameInput(f.used) {
			f.startAt(f.used, f.step[i])
			f.used++
		}
		f.place[j] = f.used - 1
	}
}

// sameInput reports whether the mean inputs at a place and the one before are alike but for
// rounding.
func (f *BatchedRollout) sameInput(place int) bool {
	P := len(f.p.mean)
	before, mean := f.mean[(place-1)*P:place*P], f.mean[place*P:]
	for c, u := range before {
		if math.Abs(u-mean[c]) > 1e-14*(math.Abs(u)+f.p.m.UStd[c]) {
			return false
		}
	}
	return true
}

// startAt sets state and coordinates of the first increment at a place from those of a node.
func (f *BatchedRollout) startAt(place, node int) {
	p, K, V, L, P := f.p, f.p.k, len(f.p.va), f.p.m.Lift.Dim(), len(f.p.mean)
	for k, x0 := range p.x0 {
		f.first.x[place*K+k] = x0 + p.x[node*K+k]
	}
	if node == p.nodes || len(p.m.Ellipsoid) > 0 {
		f.coordinates(&f.first, place)
		return
	}
	v := f.first.v[place*V : (place+1)*V]
	copy(v, p.v[node*V:node*V+L])
	p.m.BoundedInput(v, f.mean[place*P:(place+1)*P])
}

// coordinates sets those of place j from its state under the inputs.
func (f *BatchedRollout) coordinates(s *increments, j int) {
	K, V, P := f.p.k, len(f.p.va), len(f.p.mean)
	f.p.m.Coordinates(s.v[j*V:(j+1)*V], nil, s.x[j*K:(j+1)*K], f.mean[j*P:(j+1)*P])
}

// evaluate sets the increments from the states x and their coordinates.
func (f *BatchedRollout) evaluate(s *increments) {
	p, m, K := f.p, f.p.m, f.p.k
	n, V, N := f.used, len(f.p.va), len(f.p.psi)
	for i := range n {
		m.Monomials(s.psi[i*N:(i+1)*N], s.v[i*V:(i+1)*V])
	}
	f.work.Affine(matmul.Matrix(n, K, s.delta), matmul.Matrix(n, N, s.psi), matmul.Matrix(N, K, m.Weights), nil)
	f.net.add(s.delta, s.v, n)
	if !m.Chain.Empty() {
		P := len(f.p.mean)
		for i := range n {
			m.Chain.Add(s.delta[i*K:(i+1)*K], s.x[i*K:(i+1)*K], f.mean[i*P:(i+1)*P], m.Step)
		}
	}
	p.batch.Add(s.delta, s.x, f.mean, n)
	if m.Body.Empty() {
		return
	}
	for i := range n {
		m.Body.Add(s.delta[i*K:(i+1)*K], s.x[i*K:(i+1)*K], m.Step)
	}
}
