package paper

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/feature"
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// tangent integrates dz/dt = f(z; θ) for one start, f a dense net, a known field, a
// polynomial or their sum, together with its sensitivity S = ∂z/∂θ (K×P), by the
// classical method of order 4:
//
//	dS/dt = ∂f/∂z S + ∂f/∂θ
//
// A step is linear in S, so its four stages are combined first, as matrices of K×K,
// and one pass over S is enough: with Aᵢ = ∂f/∂z and Bᵢ = ∂f/∂θ of stage i, h the step,
//
//	N₄ = h/6      N₃ = h/3 + h N₄A₄      N₂ = h/3 + h/2 N₃A₃      N₁ = h/6 + h/2 N₂A₂
//	S ← S + Σ NᵢAᵢ S + Σ NᵢBᵢ
//
// States and time are standardised.
type tangent struct {
	net                  *mlp.Net
	known                *knownPart  // (optional)
	poly                 *polynomial // (optional)
	K, P                 int
	dense                int       // parameters of known field and net, which come first
	z                    []float64 // K
	S                    []float64 // K×P
	stageZ, f, increment []float64 // K: state of a stage, its derivative by time, weighted sum of these
	b                    []float64 // K, states as the polynomial counts them
	y                    [][]float64
	g, gback             []float64     // K×widest
	stages               [4]derivative // of a step
	stage                *derivative   // of the stage that is evaluated
	M, N                 []float64     // K×K; K×4×K, the four Nᵢ
	next                 []float64     // K×P
	values               []float64     // 4×terms, scratch of the polynomial
	work                 matmul.Work
	sensitivity          bool
}

// derivative is that of the field at one state.
type derivative struct {
	dfdz     []float64 // K×K, ∂f/∂z
	dfdtheta []float64 // K×dense, ∂f/∂θ of known field and net
	v        []float64 // of every term of the polynomial the product, ∂f/∂w of its output
}

// newTangent takes the memory for K states and P parameters, of which those of a
// polynomial (nil: none) come last and the net's, which may have no layers, before these.
func newTangent(net *mlp.Net, poly *polynomial, K, P int, sensitivity bool) *tangent {
	t := &tangent{net: net, poly: poly, K: K, P: P, dense: P - poly.params(), sensitivity: sensitivity}
	v := func(n int) []float64 { return make([]float64, n) }
	t.z, t.stageZ, t.f, t.increment, t.b = v(K), v(K), v(K), v(K), v(K)
	widest := K
	for i := range net.Layers {
		t.y = append(t.y, v(net.Layers[i].Out))
		widest = max(widest, net.Layers[i].Out, net.Layers[i].In)
	}
	t.stage = &t.stages[0]
	if sensitivity {
		t.S, t.next, t.M, t.N = v(K*P), v(K*P), v(K*K), v(4*K*K)
		t.g, t.gback, t.values = v(K*widest), v(K*widest), v(4*(P-t.dense))
		for i := range t.stages {
			t.stages[i] = derivative{v(K * K), v(K * t.dense), v(P - t.dense)}
		}
	}
	return t
}

// maxStep is the longest step of the integrator, in standardised time.
const maxStep = 0.1

// through integrates from x0 (K, raw units) at time 0 through times (rising, s), which in
// standardises, and calls reached at each. ok is false where the state leaves all bounds.
func (t *tangent) through(in *feature.Inputs, x0, times []float64, reached func(i int)) (ok bool) {
	z0 := make([]float64, t.K)
	in.Lift.Apply(z0, x0)
	t.start(z0)
	now := in.Standard(0)
	for i, s := range times {
		if to := in.Standard(s); to > now {
			n := int(math.Ceil((to - now) / maxStep))
			if !t.advance((to-now)/float64(n), n) {
				return false
			}
			now = to
		}
		reached(i)
	}
	return true
}

// start sets the state, which does not depend on θ.
func (t *tangent) start(z0 []float64) {
	copy(t.z, z0)
	clear(t.S)
}

// evaluate sets f at stageZ and, with sensitivity, its derivative.
func (t *tangent) evaluate() {
	clear(t.f)
	clear(t.stage.dfdz)
	if len(t.net.Layers) > 0 {
		t.evaluateNet()
	}
	if t.known != nil {
		t.known.add(t)
	}
	if t.poly != nil {
		t.poly.add(t)
	}
}

// evaluateNet sets f to the net and, with sensitivity, dfdz and the net's columns of dfdtheta.
func (t *tangent) evaluateNet() {
	layers := t.net.Layers
	for i := range layers {
		evaluate(t.y[i], &layers[i], t.input(i))
	}
	copy(t.f, t.y[len(layers)-1])
	if !t.sensitivity {
		return
	}
	K, end := t.K, t.dense
	// g (K×Out): ∂f/∂(layer's input to its activation), from the last layer, which is
	// linear, to the first.
	g := t.g[:K*K]
	clear(g)
	for k := range K {
		g[k*K+k] = 1
	}
	for i := len(layers) - 1; i >= 0; i-- {
		l := &layers[i]
		begin := end - len(l.W) - len(l.B)
		below := t.gback[:K*l.In]
		if i == 0 {
			below = t.stage.dfdz
		}
		for k := range K {
			gk := g[k*l.Out : (k+1)*l.Out]
			outer(t.stage.dfdtheta[k*t.dense+begin:k*t.dense+end], t.input(i), gk)
			row := below[k*l.In : (k+1)*l.In]
			for a := range row {
				row[a] = dot(l.W[a*l.Out:(a+1)*l.Out], gk)
			}
			if i > 0 {
				layers[i-1].Act.Derivative(row, t.y[i-1], row)
			}
		}
		t.g, t.gback = t.gback, t.g
		g, end = below, begin
	}
}

// input returns the input of a layer of the net.
func (t *tangent) input(layer int) []float64 {
	if layer == 0 {
		return t.stageZ
	}
	return t.y[layer-1]
}

// outer sets dst to the outer product of in and g, and g behind it: the derivative by
// the weights and biases of a layer.
func outer(dst, in, g []float64) {
	for a, v := range in {
		row := dst[a*len(g) : (a+1)*len(g)]
		for o, w := range g {
			row[o] = v * w
		}
	}
	copy(dst[len(in)*len(g):], g)
}

// advance takes n steps of length h. ok is false where the state leaves all bounds.
func (t *tangent) advance(h float64, n int) (ok bool) {
	const bound = 1e4
	along, weights := stages(h)
	for range n {
		copy(t.stageZ, t.z)
		clear(t.increment)
		for q, w := range weights {
			t.stage = &t.stages[q]
			t.evaluate()
			for k, v := range t.f {
				t.increment[k] += w * v
				t.stageZ[k] = t.z[k] + along[(q+1)%4]*v
			}
		}
		for k := range t.z {
			t.z[k] += t.increment[k]
			if !(math.Abs(t.z[k]) < bound) {
				return false
			}
		}
		if t.sensitivity && t.P > 0 {
			t.step(h)
		}
	}
	return true
}

// step takes S through a step of length h whose stages have been evaluated.
func (t *tangent) step(h float64) {
	K, P, D := t.K, t.P, t.dense
	t.combineStages(h)
	next := matmul.Matrix(K, P, t.next)
	t.mul(next, matmul.Matrix(K, K, t.M), matmul.Matrix(K, P, t.S), 0)
	if D > 0 {
		next.Cols = D
		for i := range t.stages {
			t.mul(next, blas64.General{Rows: K, Cols: K, Stride: 4 * K, Data: t.N[i*K:]}, matmul.Matrix(K, D, t.stages[i].dfdtheta), 1)
		}
	}
	if t.poly != nil {
		t.poly.addSensitivity(t)
	}
	t.S, t.next = t.next, t.S
}

// combineStages sets M and N.
func (t *tangent) combineStages(h float64) {
	K := t.K
	along, weights := stages(h)
	clear(t.M)
	clear(t.N)
	for r := range K {
		t.M[r*K+r] = 1
		for i, w := range weights {
			t.N[(r*4+i)*K+r] = w
		}
		for i := 3; i >= 0; i-- {
			t.addStage(i, r, along[i])
		}
	}
}

// addStage adds the product of row r of N_i and A_i to row r of M and, times c, to that of
// N of the stage before.
func (t *tangent) addStage(i, r int, c float64) {
	K, A := t.K, t.stages[i].dfdz
	n, m := t.N[(r*4+i)*K:(r*4+i+1)*K], t.M[r*K:(r+1)*K]
	for j, w := range n {
		if w == 0 {
			continue
		}
		a := A[j*K : (j+1)*K]
		for l, v := range a {
			m[l] += w * v
		}
		if i == 0 {
			continue
		}
		before := t.N[(r*4+i-1)*K : (r*4+i)*K]
		for l, v := range a {
			before[l] += c * w * v
		}
	}
}

// fewStates is the number of states up to which a product row by row is the fastest.
const fewStates = 5

// mul sets c = a b + beta c, a being K×K and beta 0 or 1.
func (t *tangent) mul(c, a, b blas64.General, beta float64) {
	if t.K > fewStates {
		t.work.Mul(c, 1, false, a, false, b, beta)
		return
	}
	for i := range c.Rows {
		row := c.Data[i*c.Stride : i*c.Stride+c.Cols]
		if beta == 0 {
			clear(row)
		}
		for j, v := range a.Data[i*a.Stride : i*a.Stride+a.Cols] {
			if v != 0 {
				blas64.Axpy(v, blas64.Vector{N: c.Cols, Inc: 1, Data: b.Data[j*b.Stride:]}, blas64.Vector{N: c.Cols, Inc: 1, Data: row})
			}
		}
	}
}
