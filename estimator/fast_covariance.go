package estimator

import (
	"github.com/tphakala/simd/f32"

	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
	"github.com/dgm-robotics/dgm/estimator/numeric/panelnet"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// covarianceWork is the memory for the uncertainty of the start: diag J (P0 − R) Jᵀ, J
// being the Jacobian of the ensemble's means by the start state. A Predictor takes one
// JVP through the nets for each state; this takes one adjoint for each channel, which
// serves all states.
type covarianceWork struct {
	lifted   []float32    // [K][block of nodes][L, padded][Width]: ∂mean/∂(lifted start), sum over members
	panels   []float32    // the same by the start: panels of K rows for each channel, a column for each node; where these are not all points
	seed     []float32    // [1+D, padded][Width]: one, then ∂mean/∂z
	adjoint  [2][]float32 // [row of a hidden layer][Width]
	gradient []float32    // [L, padded][Width]
	rows     []float32    // [K, padded][Width]: gradient by x0, then a row of J times P0 − R
	diff     []float32    // panels K×K, P0 − R
	slope    []float64    // L, derivatives of the lifted start
	lift     []float32    // panels K×L, the same in their places
	ones     []float32    // panel, K: the sum of all rows
	sum      []float32    // [Rows][Width]
	variance []float32    // K×n
}

func newCovarianceWork(c *compiled, g *grid) covarianceWork {
	n, nodes := len(g.times), len(g.nodes.times)
	K, L := c.m.K, simd.Padded(c.fixed-1)
	rows := simd.Padded(K)
	w := covarianceWork{
		lifted: make([]float32, K*L*max(n, nodes)), gradient: make([]float32, L*simd.Width), rows: make([]float32, rows*simd.Width),
		diff: make([]float32, rows*K), slope: make([]float64, c.fixed-1), lift: make([]float32, rows*(c.fixed-1)),
		ones: simd.Packed(1, K, func(_, _ int) float64 { return 1 }), sum: make([]float32, simd.Rows*simd.Width), variance: make([]float32, K*n),
	}
	seed, hidden := 0, 0
	for _, e := range c.members {
		seed = max(seed, 1+simd.Padded(e.e.Map.D))
		for i := range e.back {
			hidden = max(hidden, simd.Padded(e.back[i].In))
		}
	}
	w.seed = make([]float32, seed*simd.Width)
	for lane := range simd.Width {
		w.seed[lane] = 1
	}
	if g.interpolated() {
		w.panels = make([]float32, K*rows*nodes)
	}
	w.adjoint = [2][]float32{make([]float32, hidden*simd.Width), make([]float32, hidden*simd.Width)}
	return w
}

// activationDerivatives replaces the outputs of the hidden layers of one block by the
// derivatives of their activations there.
func (f *Fast) activationDerivatives(e *fastMember, hidden []float32) {
	for i := range e.back {
		y := take(&hidden, e.back[i].In)
		if e.back[i].Act != mlp.Linear {
			panelnet.Derivatives(e.back[i].Act, y, f.w.covariance.adjoint[0])
		}
	}
}

// backward returns the adjoint of the first layer in one block, from the product that is that
// of the last hidden layer's output.
func (f *Fast) backward(e *fastMember, block int, head []simd.Part) []float32 {
	w, u := &f.w.covariance, f.c.unit
	// room ends where a layer's derivatives begin.
	room, end := f.w.hidden[block*f.w.room:], 0
	for i := range e.back {
		end += simd.Padded(e.back[i].In) * simd.Width
	}
	last := len(e.back) - 1
	at := w.adjoint[0]
	u.Product(at, simd.Panels(e.back[last].In), head)
	for i := last; ; i-- {
		l := &e.back[i]
		n := simd.Padded(l.In) * simd.Width
		if l.Act != mlp.Linear {
			f32.Mul(at[:n], at[:n], room[end-n:end])
		}
		end -= n
		if i == 0 {
			return at
		}
		next := w.adjoint[(len(e.back)-i)%2]
		l.Multiply(u, f.w.parts, at, next)
		at = next
	}
}

// addMeanGradient adds the gradient of the mean of channel k in one block, whose features are
// in x, by the lifted start to lifted, by the knots to those of the input's.
func (f *Fast) addMeanGradient(e *fastMember, post *fastReadout, p *places, k, block int, a asked) {
	c, w, u := f.c, &f.w.covariance, f.c.unit
	s, F, D := &post.jacobians[k], e.e.Map.F, e.e.Map.D
	if F > 0 {
		u.Product(w.seed[simd.Width:], simd.Panels(D), append(f.w.parts[:0], simd.Part{L: s.features, X: f.w.x, K: F}))
	} else {
		clear(w.seed[simd.Width:])
	}
	at := f.backward(e, block, append(f.w.parts[:0], simd.Part{L: s.head, X: w.seed, K: 1 + D}))
	if a.knots {
		f.addKnotGradient(e, post, k, block, at)
	}
	if !a.start {
		return
	}
	parts := append(f.w.parts[:0], simd.Part{L: e.back[0].W, X: at, K: e.back[0].In})
	if e.terms > 0 {
		parts = append(parts, simd.Part{L: s.basis, X: p.powers[block*c.powers*simd.Width:], K: e.terms})
	}
	u.Product(w.gradient, simd.Panels(c.fixed-1), parts)
	to := w.lifted[(k*len(p.blocks)+block)*len(w.gradient):][:len(w.gradient)]
	f32.Add(to, to, w.gradient)
}

// startVariance sets variance to what the covariance of the start adds, without what
// the sensor's would, and the Jacobian where it is asked for.
func (f *Fast) startVariance(dst *Prediction, q *Query) {
	m, g, w := f.plain.m, f.g, &f.w.covariance
	K, n := m.K, len(g.times)
	simd.Pack(w.diff, K, K, func(a, b int) float64 {
		switch {
		case q.P0 == nil:
			return 0
		case a == b:
			return q.P0[a*K+b] - m.Sensor[a]
		}
		return q.P0[a*K+b]
	})
	m.Inputs.Lift.Derivative(w.slope, q.X0)
	simd.Pack(w.lift, K, len(w.slope), func(c, l int) float64 {
		if m.Inputs.Lift.Of[l] == c {
			return w.slope[l]
		}
		return 0
	})
	if q.P0 == nil {
		clear(w.variance)
	}
	if g.interpolated() {
		f.packGradients()
	}
	f.w.prior.differentiate()
	size := simd.Padded(K) * simd.Width
	for block := range g.blocks {
		jacobian := f.w.prior.jacobianAt(block)
		for k := range K {
			row := jacobian[k*size : (k+1)*size]
			f.setStartVariance(row, k, block, g.parts[dst.condition()].networkWeight[k*n+block*simd.Width:], q.P0 != nil)
			if dst.Jacobian != nil {
				f.storeJacobian(dst.Jacobian, row, k, block)
			}
			if dst.Correlation != nil && q.P0 != nil {
				f.storeJacobian(f.plain.jacobian, row, k, block)
			}
		}
	}
	clear(w.lifted)
}

// setStartVariance sets variance of channel k in one block. row is the derivative of the
// prior dynamics by the start, and becomes that of the mean; without a covariance of the start
// nothing else is set.
func (f *Fast) setStartVariance(row []float32, k, block int, networkWeight []float64, covariance bool) {
	w, u, K, blocks := &f.w.covariance, f.c.unit, f.plain.m.K, len(f.g.blocks)
	parts := f.w.parts[:0]
	var weight [simd.Width]float32
	for lane := range weight {
		weight[lane] = float32(networkWeight[lane] * f.c.perMember)
	}
	if f.g.interpolated() {
		u.Product(w.rows, simd.Panels(K), append(parts, f.g.atPoints(w.panels[k*len(w.panels)/K:], block)))
	} else {
		f.gradient(k, block)
	}
	u.AddScaled(row, weight[:], w.rows)
	if !covariance {
		return
	}
	u.Product(w.rows, simd.Panels(K), append(parts, simd.Part{L: w.diff, X: row, K: K}))
	f32.Mul(w.rows, w.rows, row)
	u.Product(w.sum, 1, append(parts, simd.Part{L: w.ones, X: w.rows, K: K}))
	copy(w.variance[(k*blocks+block)*simd.Width:], w.sum[:simd.Width])
}

// storeJacobian writes the derivatives of channel k in one block to dst.
func (f *Fast) storeJacobian(dst []float64, row []float32, k, block int) {
	K := f.plain.m.K
	for lane := range simd.Width {
		if i := f.g.order[block*simd.Width+lane]; i >= 0 {
			for c := range K {
				dst[(i*K+k)*K+c] = float64(row[c*simd.Width+lane])
			}
		}
	}
}

// gradient sets rows to the gradient of the mean of channel k by the start in one block of
// nodes, sum over members.
func (f *Fast) gradient(k, block int) {
	w, K := &f.w.covariance, f.plain.m.K
	lifted := w.lifted[(k*len(f.g.nodes.blocks)+block)*len(w.gradient):][:len(w.gradient)]
	f.c.unit.Product(w.rows, simd.Panels(K), append(f.w.parts[:0], simd.Part{L: w.lift, X: lifted, K: len(w.slope)}))
}

// packGradients sets panels.
func (f *Fast) packGradients() {
	w, K := &f.w.covariance, f.plain.m.K
	columns := len(f.g.nodes.times)
	for k := range K {
		for block := range f.g.nodes.blocks {
			f.gradient(k, block)
			for panel := range simd.Panels(K) {
				to := w.panels[((k*simd.Panels(K)+panel)*columns+block*simd.Width)*simd.Rows:]
				rows := w.rows[panel*simd.Rows*simd.Width:]
				for lane := range simd.Width {
					four := (*[simd.Rows]float32)(to[lane*simd.Rows:])
					four[0], four[1], four[2], four[3] = rows[lane], rows[simd.Width+lane], rows[2*simd.Width+lane], rows[3*simd.Width+lane]
				}
			}
		}
	}
}
