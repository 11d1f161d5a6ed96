package c99

import "github.com/dgm-robotics/dgm/estimator/program"

// products evaluates y_r = Σ s a_i b_j, and ẏ_r = Σ s (ȧ_i b_j + a_i ḃ_j).
func (s *scope) products(o *program.Products) {
	a, b := s.get(o.A), s.get(o.B)
	y := s.set(o.Out, a, b)
	s.addProducts(of(y), of(a), of(b), o.Terms, true)
	if !y.active {
		return
	}
	if a.active {
		s.addProducts(tangent(y), tangent(a), of(b), o.Terms, true)
	}
	if b.active {
		s.addProducts(tangent(y), of(a), tangent(b), o.Terms, !a.active)
	}
}

// addProducts adds the products of terms to y, which is zero before where it begins.
func (s *scope) addProducts(y, a, b place, terms []program.Term, begins bool) {
	if len(terms) > 0 && len(terms) == y.rows && distinct(terms) {
		name := "add_product"
		if begins {
			name = "product"
		}
		s.call(name, 0, y, a, b, y.rows*s.columns)
		return
	}
	if begins {
		s.clear(y)
	}
	if len(terms) == 0 {
		return
	}
	var at []int
	var scale []float64
	for _, t := range terms {
		at, scale = append(at, t.Row, t.A, t.B), append(scale, t.S)
	}
	numbers := "0"
	if !all(scale, 1) {
		numbers = s.reals(scale)
	}
	s.call("products", s.columns, y, a, b, s.places(at), numbers, len(terms))
}

// distinct reports whether the terms are the products of two registers row by row.
func distinct(terms []program.Term) bool {
	for i, t := range terms {
		if t != (program.Term{Row: i, A: i, B: i, S: 1}) {
			return false
		}
	}
	return true
}
