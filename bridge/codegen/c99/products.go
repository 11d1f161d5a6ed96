package c99

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// products evaluates y_r = Σ s a_i b_j, and ẏ_r = Σ s (ȧ_i b_j + a_i ḃ_j).
func (s *scope) products(o *program.Products) {
	a, b := s.get(o.A), s.get(o.B)
	y := s.set(o.Out, a, b)
	s.clear(of(y))
	s.addProducts(of(y), of(a), of(b), o.Terms)
	if !y.active {
		return
	}
	s.clear(tangent(y))
	if a.active {
		s.addProducts(tangent(y), tangent(a), of(b), o.Terms)
	}
	if b.active {
		s.addProducts(tangent(y), of(a), tangent(b), o.Terms)
	}
}

func (s *scope) addProducts(y, a, b place, terms []program.Term) {
	if len(terms) == 0 {
		return
	}
	if len(terms) == y.rows && !slices.ContainsFunc(terms, func(t program.Term) bool { return t.S != 1 || t.A != t.Row || t.B != t.Row }) && distinct(terms) {
		s.call("times", 0, y, a, b, y.rows*s.columns)
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

// distinct reports whether every row has one term.
func distinct(terms []program.Term) bool {
	for i, t := range terms {
		if t.Row != i {
			return false
		}
	}
	return true
}

var _ = define(map[string]string{
	// y += a b, row by row
	"times": `
static void times(dgm_real *y, const dgm_real *a, const dgm_real *b, int n)
{
    for (int i = 0; i < n; i++)
        y[i] += a[i] * b[i];
}
`,
	// y += s a b of n terms, each with its row, that of a and that of b; s is null where all are 1
	"products": `
static void products@(dgm_real *y, const dgm_real *a, const dgm_real *b, const unsigned short *at, const dgm_real *s, int n)
{
    for (int i = 0; i < n; i++, at += 3) {
        const dgm_real f = s ? s[i] : 1;
        for (int j = 0; j < WIDTH; j++)
            y[at[0] * WIDTH + j] += f * a[at[1] * WIDTH + j] * b[at[2] * WIDTH + j];
    }
}
`,
})
