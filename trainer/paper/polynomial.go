package paper

import "github.com/dgm-robotics/dgm/estimator/numeric/matmul"

// polynomial is a part of a field: states and products of two states, each with a
// weight for one output. A net of sigmoids expresses these worst, and mechanics needs them
// most: rates of rigid bodies, drag, reactions are of this form.
//
// The origin of the states matters: a product of two states that are counted from
// another one is a product, two states and a constant, of which every one must be found.
type polynomial struct {
	zero  []float64 // K, standardised: states are counted from here
	terms []term
	w     []float64 // a weight for each term
	dense bool      // all terms stay, and those of one degree and one output share a precision
	whole bool      // every product is in all outputs, one after the other
}

// term is b[i]·b[j] in output k, b being the states counted from zero; j < 0: b[i]
// alone; i < 0 too: a constant.
type term struct{ i, j, k int }

// degree returns the number of states in the product.
func (t term) degree() int {
	switch {
	case t.i < 0:
		return 0
	case t.j < 0:
		return 1
	}
	return 2
}

// newPolynomial returns all terms from one degree to another, within 0 and 2, of K states
// counted from zero, for every output, with zero weights.
func newPolynomial(zero []float64, least, most int) *polynomial {
	K := len(zero)
	p := &polynomial{zero: zero, whole: true}
	add := func(i, j int) {
		for k := range K {
			if t := (term{i, j, k}); t.degree() >= least && t.degree() <= most {
				p.terms = append(p.terms, t)
			}
		}
	}
	add(-1, -1)
	for i := range K {
		add(i, -1)
		for j := i; j < K; j++ {
			add(i, j)
		}
	}
	p.w = make([]float64, len(p.terms))
	return p
}

// params returns the number of weights: none of nil.
func (p *polynomial) params() int {
	if p == nil {
		return 0
	}
	return len(p.w)
}

// shift sets b to the states z counted from zero.
func (p *polynomial) shift(b, z []float64) {
	for k, v := range z {
		b[k] = v - p.zero[k]
	}
}

// value returns the term's product.
func (t term) value(b []float64) float64 {
	switch t.degree() {
	case 0:
		return 1
	case 1:
		return b[t.i]
	}
	return b[t.i] * b[t.j]
}

// outputs returns the number of outputs, one after the other, that a product is in.
func (p *polynomial) outputs() int {
	if p.whole {
		return len(p.zero)
	}
	return 1
}

// add adds the polynomial at stageZ to f, and with sensitivity its derivatives to dfdz and
// the values of its terms.
func (p *polynomial) add(t *tangent) {
	b, O := t.b, p.outputs()
	p.shift(b, t.stageZ)
	for n := 0; n < len(p.w); n += O {
		m, w := p.terms[n], p.w[n:n+O]
		v := m.value(b)
		f := t.f[m.k : m.k+O]
		for k, w := range w {
			f[k] += v * w
		}
		if t.sensitivity {
			t.stage.v[n/O] = v
			m.addJacobian(t.stage.dfdz[m.k*t.K:], t.K, b, w)
		}
	}
}

// addJacobian adds the derivative of the product to rows of dfdz (of K numbers), a weight for each.
func (t term) addJacobian(dfdz []float64, K int, b, w []float64) {
	switch t.degree() {
	case 1:
		for k, w := range w {
			dfdz[k*K+t.i] += w
		}
	case 2:
		bi, bj := b[t.i], b[t.j]
		for k, w := range w {
			dfdz[k*K+t.i] += w * bj
			dfdz[k*K+t.j] += w * bi
		}
	}
}

// addSensitivity adds the contribution of the polynomial's weights in a step to the
// sensitivity.
func (p *polynomial) addSensitivity(t *tangent) {
	K, P, D := t.K, t.P, t.dense
	if !p.whole {
		for n, m := range p.terms {
			var v [4]float64
			for i := range v {
				v[i] = t.stages[i].v[n]
			}
			for r := range K {
				N := t.N[r*4*K+m.k:]
				t.next[r*P+D+n] += v[0]*N[0] + v[1]*N[K] + v[2]*N[2*K] + v[3]*N[3*K]
			}
		}
		return
	}
	// Row r of the sensitivity, seen as Q×K, gains the outer products of the terms' values
	// with row r of the four N.
	Q := len(p.w) / K
	for i := range t.stages {
		copy(t.values[i*Q:(i+1)*Q], t.stages[i].v)
	}
	values := matmul.Matrix(4, Q, t.values)
	for r := range K {
		t.work.Mul(matmul.Matrix(Q, K, t.next[r*P+D:]), 1, true, values, false, matmul.Matrix(4, K, t.N[r*4*K:]), 1)
	}
}

// fit sets the weights by ridge regression of y (n×K) on the terms at z (n×K), and
// subtracts the polynomial from y. Every product must be in all outputs.
func (p *polynomial) fit(y, z []float64, n, K int, ridge float64) {
	Q := len(p.terms) / K
	x := make([]float64, n*Q)
	b := make([]float64, K)
	for i := range n {
		p.shift(b, z[i*K:(i+1)*K])
		for q := range Q {
			x[i*Q+q] = p.terms[q*K].value(b)
		}
	}
	copy(p.w, leastSquares(x, y, n, Q, K, ridge))
	var work matmul.Work
	work.Mul(matmul.Matrix(n, K, y), -1, false, matmul.Matrix(n, Q, x), false, matmul.Matrix(Q, K, p.w), 1)
}
