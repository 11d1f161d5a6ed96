package simd

// Terms are products of rows of double precision that AddTerms adds to rows.
type Terms struct {
	list      []Term
	dst, a, b int // rows that the matrices have at least
}

// Term is S times row A of one matrix times row B of another one, point by point, added to row Row.
type Term struct {
	Row, A, B int
	S         float64
}

// NewTerms returns terms in their order. A row must not be negative.
func NewTerms(list []Term) Terms {
	out := Terms{list: list}
	for _, t := range list {
		if min(t.Row, t.A, t.B) < 0 {
			panic(badRow)
		}
		out.dst, out.a, out.b = max(out.dst, t.Row+1), max(out.a, t.A+1), max(out.b, t.B+1)
	}
	return out
}

// Len returns the number of terms.
func (t *Terms) Len() int { return len(t.list) }

// AddTerms adds the terms of a and b to dst: rows of Width, rounded after each of the two multiplications and the addition, on every
// unit alike. With sparse, a term whose row of a is 0 throughout is left out.
func (u Unit) AddTerms(dst, a, b []float64, terms *Terms, sparse bool) {
	if len(dst) < terms.dst*Width || len(a) < terms.a*Width || len(b) < terms.b*Width {
		panic(badLength)
	}
	if len(terms.list) > 0 {
		u.addTerms(dst, a, b, terms.list, sparse)
	}
}
