package priordynamics

import (
	"github.com/tphakala/simd/f32"

	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// inputTangents are the derivatives of the states at the nodes by numbers of the plan, Width
// of them at a time. Between a node n and a time t they follow the parabola of the Jacobian by
// the start, through the node and the next two states that the mean input ū since the node
// would lead to; G and the derivatives B by the input are those of the nodes:
//
//	X0 = ∂x_n/∂u   X1 = (I + G_n) X0 + B_n ∂ū/∂u   X2 = (I + G_(n+1)) X1 + B_(n+1) ∂ū/∂u
//
// That is exact where the input does not change in the step, and depends on no input after t.
type inputTangents struct {
	share          Share
	first, numbers int       // of the plan: that of the first lane, all
	begin          int       // up to this node all are 0
	at             []float32 // nodes+1 × K, padded × Width
	input          []float32 // P × Width: ∂ū/∂u
	one, two       []float32 // K, padded × Width: X1, X2
	node           int       // that one and two follow, with ∂ū/∂u = 0; −1 = none
}

// Share returns how much of the mean of input p from one time to another is due to a row of the plan.
type Share func(row, p int, from, to float64) float64

func newInputTangents(K, P, nodes int) inputTangents {
	size := simd.Padded(K) * simd.Width
	return inputTangents{at: make([]float32, (nodes+1)*size), input: make([]float32, P*simd.Width), one: make([]float32, size), two: make([]float32, size)}
}

// setInput sets input for the mean from one time to another, and reports whether it is
// anywhere not 0.
func (s *inputTangents) setInput(P int, from, to float64) (moved bool) {
	for number := s.first; number < min(s.first+simd.Width, s.numbers); number++ {
		share := s.share(number/P, number%P, from, to)
		if share <= 0 {
			continue
		}
		if !moved {
			clear(s.input)
			moved = true
		}
		s.input[number%P*simd.Width+number-s.first] = simd.Single(share)
	}
	return moved
}

// InputRun takes the derivatives of the last Run, after Linearise, by Width numbers of a plan
// from first on, of so many.
func (f *BatchedRollout) InputRun(share Share, first, numbers int) {
	s, p := &f.inputs, f.p
	s.share, s.first, s.numbers, s.node, s.begin = share, first, numbers, -1, p.nodes
	size := len(s.one)
	clear(s.at[:size])
	for i := range p.nodes {
		moved := s.setInput(len(p.mean), float64(i)*p.m.Step, float64(i+1)*p.m.Step)
		if moved {
			s.begin = min(s.begin, i)
		}
		if i < s.begin {
			clear(s.at[(i+1)*size : (i+2)*size])
			continue
		}
		f.inputStep(s.at[(i+1)*size:(i+2)*size], i, s.at[i*size:(i+1)*size], moved)
	}
}

// inputStep sets dst to the derivatives after a step from node i, of those before it.
func (f *BatchedRollout) inputStep(dst []float32, i int, before []float32, moved bool) {
	j := &f.jacobians
	parts := append(j.parts[:0], j.stepPart(i, before))
	if moved {
		parts = append(parts, j.inputPart(i, f.inputs.input))
	}
	f.unit.Product(dst, simd.Panels(f.p.k), parts)
}

// InputAt adds the derivatives of the state at time i by the numbers of the last InputRun,
// times a factor, to dst (K, padded × Width), and reports whether any is not 0.
func (f *BatchedRollout) InputAt(dst []float32, i int, factor float32) bool {
	s, p := &f.inputs, f.p
	n, weights := p.parabola(f.times[i])
	start := float64(n) * p.m.Step
	moved := f.times[i]-start > tiny*p.m.Step && s.setInput(len(p.mean), start, f.times[i])
	if !moved && n <= s.begin {
		return false
	}
	here := s.at[n*len(s.one) : (n+1)*len(s.one)]
	if f.times[i]-start <= tiny*p.m.Step {
		f32.AddScaled(dst, factor, here)
		return true
	}
	if moved || s.node != n {
		f.inputStep(s.one, n, here, moved)
		f.inputStep(s.two, n+1, s.one, moved)
		if s.node = n; moved {
			s.node = -1
		}
	}
	for i, x := range [3][]float32{here, s.one, s.two} {
		f32.AddScaled(dst, factor*simd.Single(weights[i]), x)
	}
	return true
}
