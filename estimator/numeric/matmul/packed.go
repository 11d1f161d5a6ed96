package matmul

import "gonum.org/v1/gonum/blas/blas64"

// Packed is a right factor, laid out once for many products. The zero value is ready,
// and grows to what is packed.
type Packed struct {
	b    factor
	data []float64
}

// Pack packs op(b), where op transposes if trans is set. A b that is lower triangular,
// zero above the diagonal, makes half of the work in every product. b is not to be
// changed as long as p is used.
func (p *Packed) Pack(b blas64.General, trans, lower bool) {
	p.b = factor{m: b, trans: trans}
	if short(b) || lower && b.Rows != b.Cols {
		panic(badShape)
	}
	switch {
	case lower && trans:
		p.b.zero = below
	case lower:
		p.b.zero = above
	}
	k, n := p.b.shape()
	if !fast || k == 0 || n == 0 {
		return
	}
	wide := padded(n)
	if need := k * wide; len(p.data) < need {
		p.data = make([]float64, need)
	}
	for from := 0; from < k; from += inner {
		b := block{p: from, k: min(inner, k-from), data: p.data[from*wide:]}
		b.pack(&p.b, n, nil)
	}
}

// MulPacked sets c = alpha·op(a)·b + beta·c, where op transposes if transA is set.
func (w *Work) MulPacked(c blas64.General, alpha float64, transA bool, a blas64.General, b *Packed, beta float64) {
	w.run(product{c: c, alpha: alpha, a: factor{m: a, trans: transA}, b: b.b, packed: b, beta: beta})
}
