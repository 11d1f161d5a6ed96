package priordynamics

import (
	"github.com/tphakala/simd/f64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// jacobians are the derivatives by the start state at the nodes of a roll-out, in single
// precision. With G = ∂Δ/∂x at node n
//
//	∂x_(n+1)/∂x0 = (I + G) ∂x_n/∂x0
//
// where all columns are the points of one product.
type jacobians struct {
	states, inputs int       // K, P
	rows, columns  int       // K, filled up to whole panels and to whole blocks of points
	at             []float32 // nodes+3 × block of columns × rows × Width
	step           []float32 // nodes+2 × panels K×(K+P): I + G, and the same by the mean input
	parts          []simd.Part
}

func newJacobians(K, P, nodes int) jacobians {
	j := jacobians{states: K, inputs: P, rows: simd.Padded(K), columns: (K + simd.Width - 1) / simd.Width * simd.Width, parts: make([]simd.Part, 2)}
	j.at, j.step = make([]float32, (nodes+3)*j.rows*j.columns), make([]float32, (nodes+2)*j.rows*(K+P))
	for k := range K {
		j.row(0, k, k)[0] = 1
	}
	return j
}

// row returns the columns from c on, of one block, of row k at a node.
func (j *jacobians) row(node, k, c int) []float32 {
	return j.at[node*j.rows*j.columns+(c/simd.Width*j.rows+k)*simd.Width+c%simd.Width:]
}

// Nodes returns the number of matrices that Jacobian sets.
func (f *BatchedRollout) Nodes() int { return f.p.nodes + 3 }

// Parabola returns the first of the three nodes that time t lies on a parabola of, and their
// weights: see Jacobian.
func (f *BatchedRollout) Parabola(t float64) (node int, weights [3]float64) { return f.p.parabola(t) }

// Jacobian writes the derivatives of the states x by x0 of the last Run at all nodes to dst,
// panels of K rows for each state with a column for each node: that of state k by state c is
// row c of state k, the panels of which are those from k·Panels(K) on, each of columns
// columns. It begins with column first. Factors of the derivatives are share.
func (f *BatchedRollout) Jacobian(dst []float32, columns, first int, share float64) {
	p, j, K := f.p, &f.jacobians, f.p.k
	f.Linearise()
	size := j.rows * j.columns
	for i := range p.nodes + 2 {
		for block := 0; block < size; block += j.rows * simd.Width {
			from, to := j.at[i*size+block:], j.at[(i+1)*size+block:]
			f.unit.Product(to, simd.Panels(K), append(j.parts[:0], j.stepPart(i, from)))
		}
	}
	single := simd.Single(share)
	for node := range p.nodes + 3 {
		to := dst[(first+node)*simd.Rows:]
		for k := range K {
			for c := 0; c < K; c += simd.Rows {
				from, panel := (*[simd.Rows]float32)(j.row(node, k, c)), (*[simd.Rows]float32)(to)
				panel[0], panel[1], panel[2], panel[3] = single*from[0], single*from[1], single*from[2], single*from[3]
				to = to[min(columns*simd.Rows, len(to)):]
			}
		}
	}
}

// Linearise prepares the derivatives of the last Run and Evaluate by the start state and by the
// input.
func (f *BatchedRollout) Linearise() {
	if f.linear {
		return
	}
	f.linear = true
	f.setIncrements()
	p, j := f.p, &f.jacobians
	size := (p.k + len(p.mean)) * p.k
	for i := range p.nodes + 2 {
		j.setStep(i, f.nodes.g[i*size:(i+1)*size], p.k)
	}
}

// setIncrements sets the derivatives of the increments at the nodes of the last Run.
func (f *BatchedRollout) setIncrements() {
	if f.differentiated {
		return
	}
	f.differentiated = true
	f.p.differentiable()
	f.setNodes()
	f.differentiate()
}

// setStep sets step of node i from the derivatives g of an increment ((K+P)×K, by state or
// input c at c·K …).
func (j *jacobians) setStep(i int, g []float64, K int) {
	n := len(g) / K
	for c := range n {
		to, row := j.step[i*j.rows*n+c*simd.Rows:], g[c*K:(c+1)*K]
		for ; len(row) >= simd.Rows; row = row[simd.Rows:] {
			panel := (*[simd.Rows]float32)(to)
			panel[0], panel[1], panel[2], panel[3] = float32(row[0]), float32(row[1]), float32(row[2]), float32(row[3])
			to = to[min(n*simd.Rows, len(to)):]
		}
		for k, d := range row {
			to[k] = float32(d)
		}
		if c < K {
			j.step[i*j.rows*n+(c/simd.Rows*n+c)*simd.Rows+c%simd.Rows]++
		}
	}
}

// stepPart returns the derivatives of the state after node i by the state at it, times those
// of that state.
func (j *jacobians) stepPart(i int, x []float32) simd.Part {
	n := j.states + j.inputs
	return simd.Part{L: j.step[i*j.rows*n:], X: x, K: j.states, Skip: j.inputs * simd.Rows}
}

// inputPart returns those by the mean input, times the derivatives of that.
func (j *jacobians) inputPart(i int, x []float32) simd.Part {
	n := j.states + j.inputs
	return simd.Part{L: j.step[i*j.rows*n+j.states*simd.Rows:], X: x, K: j.inputs, Skip: j.states * simd.Rows}
}

// setNodes sets the increments of the nodes of the last Run, as far as their derivatives
// read them.
func (f *BatchedRollout) setNodes() {
	p, s, K := f.p, &f.nodes, f.p.k
	V, N := len(p.va), len(p.psi)
	copy(s.v, p.v)
	for i := range p.nodes + 2 {
		if p.m.Degree > 1 {
			p.m.Monomials(s.psi[i*N:(i+1)*N], s.v[i*V:(i+1)*V])
		}
		for k, x0 := range p.x0 {
			s.x[i*K+k], s.delta[i*K+k] = x0+p.x[i*K+k], p.x[(i+1)*K+k]-p.x[i*K+k]
		}
	}
}

// differentiate sets the derivatives g of the nodes' increments.
func (f *BatchedRollout) differentiate() {
	p, m, s, n, K, states := f.p, f.p.m, &f.nodes, f.p.nodes+2, f.p.k, f.p.m.Lift.Dim()
	L, P := len(p.va), len(p.mean)
	if lower := len(f.derivatives) / max(L*K, 1); lower > 1 {
		psi := matmul.Matrix(n, lower, s.psi)
		psi.Stride = len(p.psi)
		f.work.Affine(matmul.Matrix(n, L*K, s.d), psi, matmul.Matrix(lower, L*K, f.derivatives), nil)
	} else {
		for i := range n {
			copy(s.d[i*L*K:(i+1)*L*K], f.derivatives)
		}
	}
	f.net.addJacobian(s.d, s.v, n)
	clear(s.g)
	for i := range n {
		g, slope, d := s.g[i*K*(K+P):(i+1)*K*(K+P)], p.slope[i*L:(i+1)*L], s.d[i*L*K:(i+1)*L*K]
		m.Ellipsoid.Adjoint(d, s.v[i*L:(i+1)*L], p.normal, p.dnow)
		for l, of := range m.Lift.Of {
			f64.AddScaled(g[of*K:(of+1)*K], slope[l], d[l*K:(l+1)*K])
		}
		for c := range P {
			l := states + c
			f64.AddScaled(g[(K+c)*K:(K+c+1)*K], slope[l], d[l*K:(l+1)*K])
		}
		m.Chain.Jacobian(g, s.x[i*K:(i+1)*K], p.means[i*P:(i+1)*P], m.Step)
		if motion := p.motionAt(i); len(motion) > 0 {
			addScaled(g, 1, motion)
		}
		if !m.Body.Empty() {
			m.Body.Jacobian(g, s.x[i*K:(i+1)*K], s.delta[i*K:(i+1)*K], m.Step)
		}
	}
}

// derivatives returns the weights of the derivatives of Wᵀψ by the coordinates, T'×((L+P)·K): these are sums of the monomials of one degree less, which are the first T' of ψ.
func (m *Model) derivatives(K int) []float64 {
	L, n := m.Lift.Dim(), m.Lift.Dim()+len(m.UMean)
	lower := 1
	if m.Degree > 1 {
		lower = terms(L, n-L, m.Degree-1)
	}
	out := make([]float64, lower*n*K)
	// add adds the weights of monomial at to those of its derivative by l, monomial low.
	add := func(low, l, at int) {
		for k, w := range m.Weights[at*K : (at+1)*K] {
			out[(low*n+l)*K+k] += w
		}
	}
	pair := func(i, j int) int { return 1 + n + i*n - i*(i-1)/2 + j - i } // place of v_i v_j, i ≤ j
	for i := range n {
		add(0, i, 1+i)
		for j := i; j < n && m.Degree > 1; j++ {
			add(1+j, i, pair(i, j))
			add(1+i, j, pair(i, j))
		}
	}
	at := terms(L, n-L, 2)
	for i := 0; i < L && m.Degree > 2; i++ {
		for j := i; j < L; j++ {
			for k := j; k < L; k++ {
				add(pair(j, k), i, at)
				add(pair(i, k), j, at)
				add(pair(i, j), k, at)
				at++
			}
		}
	}
	return out
}
