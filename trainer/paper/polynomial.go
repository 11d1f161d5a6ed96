package paper

import "github.com/dgm-robotics/dgm/estimator/numeric/matmul"

// polynomial is a part of a field: states and products of two states, each with a
// weight for one output. It is what a net of sigmoids says worst and mechanics says
// most: rates of rigid bodies, drag, reactions are of this form.
//
// Where a state is nought matters: a product of two states that are counted from
// elsewhere is a product, two states and a constant, of which every one must be found.
type polynomial struct {
	zero  []float64 // K, standardised: states are counted from here
	terms []term
	w     []float64 // a weight for each term
	dense bool      // all terms stay, and those of one degree and one output share a precision
	whole bool      // every product stands in all outputs, one after the other
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

// newPolynomial returns all terms of degree one and two of K states counted from
// zero, for every output, with weights of nought.
func newPolynomial(zero []float64) *polynomial {
	K := len(zero)
	p := &polynomial{zero: zero, whole: true}
	for i := range K {
		for j := -1; j < K; j++ {
			if j >= 0 && j < i {
				continue
			}
			for k := range K {
				p.terms = append(p.terms, term{i, j, k})
			}
		}
	}
	p.w = make([]float64, len(p.terms))
	return p
}

// newWhole returns all terms up to a degree, 1 or 2, constants among them: a field of
// its own.
func newWhole(zero []float64, degree int) *polynomial {
	K := len(zero)
	all := newPolynomial(zero)
	p := &polynomial{zero: zero, whole: true}
	for k := range K {
		p.terms = append(p.terms, term{-1, -1, k})
	}
	for _, t := range all.terms {
		if t.degree() <= degree {
			p.terms = append(p.terms, t)
		}
	}
	p.w = make([]float64, len(p.terms))
	return p
}

// groups returns the group of every term that shares a precision, and their number.
func (p *polynomial) groups() (of []int, n int) {
	if p == nil {
		return nil, 0
	}
	K := len(p.zero)
	for i, t := range p.terms {
		g := i
		if p.dense {
			g = t.degree()*K + t.k
		}
		of, n = append(of, g), max(n, g+1)
	}
	return of, n
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

// add adds the polynomial at zs to f, and with sensitivity its derivatives to fz and
// the values of its terms.
func (p *polynomial) add(t *tangent) {
	b := t.b
	p.shift(b, t.zs)
	if p.whole {
		p.addWhole(t)
		return
	}
	for n, m := range p.terms {
		v := m.value(b)
		t.f[m.k] += p.w[n] * v
		if t.sensitivity {
			t.at.v[n] = v
			m.addJacobian(t.at.fz[m.k*t.K:], t.K, b, p.w[n:n+1])
		}
	}
}

// addWhole is add where every product stands in all outputs.
func (p *polynomial) addWhole(t *tangent) {
	K, b := t.K, t.b
	f := t.f[:K]
	for n := 0; n < len(p.w); n += K {
		m := p.terms[n]
		v := m.value(b)
		w := p.w[n : n+K]
		for k, w := range w {
			f[k] += v * w
		}
		if t.sensitivity {
			t.at.v[n/K] = v
			m.addJacobian(t.at.fz, K, b, w)
		}
	}
}

// addJacobian adds the derivative of the product to rows of fz (of K numbers), a weight for each.
func (t term) addJacobian(fz []float64, K int, b, w []float64) {
	switch t.degree() {
	case 1:
		for k, w := range w {
			fz[k*K+t.i] += w
		}
	case 2:
		bi, bj := b[t.i], b[t.j]
		for k, w := range w {
			fz[k*K+t.i] += w * bj
			fz[k*K+t.j] += w * bi
		}
	}
}

// addSensitivity adds what the polynomial's weights do in a step to the sensitivity.
func (p *polynomial) addSensitivity(t *tangent) {
	K, P, D := t.K, t.P, t.dense
	if !p.whole {
		for n, m := range p.terms {
			var v [4]float64
			for i := range v {
				v[i] = t.stages[i].v[n]
			}
			for r := range K {
				at := r*4*K + m.k
				t.next[r*P+D+n] += v[0]*t.N[at] + v[1]*t.N[at+K] + v[2]*t.N[at+2*K] + v[3]*t.N[at+3*K]
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
// takes from y what they say. All outputs must have the terms of newPolynomial.
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
