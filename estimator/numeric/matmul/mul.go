package matmul

import "gonum.org/v1/gonum/blas/blas64"

// A tile is what a kernel computes at once: four rows, twelve or eight columns. The
// inner dimension is split so that the columns of a tile stay in the first cache.
const (
	tileRows = 4
	inner    = 256
)

// From manyRows rows on, packing the right factor saves time.
const manyRows = 48

// Work is the memory of products; it serves one goroutine at a time. The zero
// value is ready, and grows with the products.
type Work struct {
	b      []float64 // a block of the right factor, packed
	corner []float64 // of Cholesky
	plain  bool      // for tests: gonum's product
}

// Reserve takes the memory for products whose right factor is k×n, transposed or not.
func (w *Work) Reserve(k, n int) {
	if need := min(k, inner) * padded(n); len(w.b) < need {
		w.b = make([]float64, need)
	}
}

// Mul sets c = alpha·op(a)·op(b) + beta·c, where op transposes if its flag is
// set. Shapes that do not agree panic.
func (w *Work) Mul(c blas64.General, alpha float64, transA bool, a blas64.General, transB bool, b blas64.General, beta float64) {
	w.run(product{c: c, alpha: alpha, a: factor{m: a, trans: transA}, b: factor{m: b, trans: transB}, beta: beta})
}

// MulLower is Mul for a product that is known to be symmetric: it writes the
// lower triangle of c, and may write some of the upper.
func (w *Work) MulLower(c blas64.General, alpha float64, transA bool, a blas64.General, transB bool, b blas64.General, beta float64) {
	w.run(product{c: c, alpha: alpha, a: factor{m: a, trans: transA}, b: factor{m: b, trans: transB}, beta: beta, lower: true})
}

// Gram sets the lower triangle of c to that of alpha·aᵀ·diag(d)·a + beta·c, and may
// write some of the upper.
func (w *Work) Gram(c blas64.General, alpha float64, a blas64.General, d []float64, beta float64) {
	if len(d) != a.Rows {
		panic(badShape)
	}
	w.run(product{c: c, alpha: alpha, a: factor{m: a, trans: true}, b: factor{m: a}, d: d, beta: beta, lower: true})
}

// Affine sets every row of c to the same row of a·b plus bias, nil being none. A row
// depends on no other, to the last bit, nor on how many there are. Affine stays in its
// goroutine, and takes no memory after a Reserve for b.
func (w *Work) Affine(c, a, b blas64.General, bias []float64) {
	if bias != nil && len(bias) != c.Cols {
		panic(badShape)
	}
	w.run(product{c: c, alpha: 1, a: factor{m: a}, b: factor{m: b}, bias: bias, alone: true})
}

// product is c = alpha·a·diag(d)·b + beta·c, or plus the bias in every row.
type product struct {
	c      blas64.General
	alpha  float64
	a, b   factor
	packed *Packed // b, if that is packed already
	d      []float64
	beta   float64
	bias   []float64
	lower  bool // only the lower triangle is asked for
	alone  bool // gonum is to compute in this goroutine
}

func (w *Work) run(t product) {
	m, k := t.a.shape()
	kb, n := t.b.shape()
	if k != kb || t.c.Rows != m || t.c.Cols != n || short(t.c) || short(t.a.m) || short(t.b.m) {
		panic(badShape)
	}
	if m == 0 || n == 0 {
		return
	}
	if !fast || w.plain {
		w.gonum(t)
		return
	}
	plus, ps := t.c.Data, t.c.Stride
	switch {
	case t.bias != nil:
		plus, ps = t.bias, 0
	case t.beta == 0:
		plus = nil
	case t.beta != 1:
		for i := range m {
			row := t.c.Data[i*t.c.Stride : i*t.c.Stride+n]
			for j := range row {
				row[j] *= t.beta
			}
		}
	}
	if k == 0 {
		for i := range m {
			row := t.c.Data[i*t.c.Stride : i*t.c.Stride+n]
			if plus == nil {
				clear(row)
			} else {
				copy(row, plus[i*ps:])
			}
		}
		return
	}
	pack := t.packed == nil && (t.b.trans || t.d != nil || m >= manyRows)
	if pack {
		w.Reserve(k, n)
	}
	for p := 0; p < k; p += inner {
		b := block{p: p, k: min(inner, k-p)}
		switch {
		case pack:
			b.data = w.b
			b.pack(&t.b, n, t.d)
		case t.packed != nil:
			b.data = t.packed.data[p*padded(n):]
		default:
			b.data, b.stride = t.b.m.Data[p*t.b.m.Stride:], t.b.m.Stride
		}
		t.add(&b, m, n, plus, ps)
		plus, ps = t.c.Data, t.c.Stride
	}
}

// add sets c to alpha times the part of a·b that belongs to a block, plus plus.
func (t *product) add(b *block, m, n int, plus []float64, ps int) {
	if m < tileRows && b.stride > 0 {
		for i := range m {
			t.row(b, i, 0, n, b.p, b.p+b.k, plus, ps)
		}
		return
	}
	// Rows that stay in the first cache while all columns pass.
	high := max(8, min(96, 2400/b.k&^(tileRows-1)))
	for i := 0; i < m; i += high {
		for j := 0; j < n; {
			width := sliver(n - j)
			first, end := i, min(i+high, m)
			if t.lower {
				first = max(first, j)
			}
			from, to := terms(t.b.zero, b.p, b.p+b.k, j, width)
			if t.a.zero == nowhere {
				t.rows(b, first, end, j, width, from, to, plus, ps)
			} else {
				for r := first; r < end; r += tileRows {
					f, e := terms(t.a.zero.transposed(), from, to, r, tileRows)
					t.rows(b, r, min(r+tileRows, end), j, width, f, e, plus, ps)
				}
			}
			j += width
		}
	}
}

// terms returns those of from … to where the columns j … j+width of a right factor are
// not all zero.
func terms(zero zeros, from, to, j, width int) (int, int) {
	switch zero {
	case above:
		from = max(from, j)
	case below:
		to = min(to, j+width)
	}
	return from, to
}

// rows is add for the rows first … end, the columns j … j+width and the terms from … to.
func (t *product) rows(b *block, first, end, j, width, from, to int, plus []float64, ps int) {
	if first >= end {
		return
	}
	if from >= to {
		from, to = b.p, b.p
	}
	if tiles := (end - first) / tileRows; tiles > 0 {
		rs, cs := t.a.steps()
		a, c := &t.a.m.Data[first*rs+from*cs], &t.c.Data[first*t.c.Stride+j]
		right, bs := b.at(from, j, width)
		var p *float64
		if plus != nil {
			p = &plus[first*ps+j]
		}
		if width == 12 {
			kernel12(tiles, to-from, a, rs, cs, right, bs, c, t.c.Stride, t.alpha, p, ps)
		} else {
			kernel8(tiles, to-from, a, rs, cs, right, bs, c, t.c.Stride, t.alpha, p, ps, width)
		}
		first += tiles * tileRows
	}
	for ; first < end; first++ {
		t.row(b, first, j, width, from, to, plus, ps)
	}
}

// row is rows for row i.
func (t *product) row(b *block, i, j, width, from, to int, plus []float64, ps int) {
	rs, cs := t.a.steps()
	right, bs := b.at(from, j, width)
	var p *float64
	if plus != nil {
		p = &plus[i*ps+j]
	}
	kernel1(width, to-from, &t.a.m.Data[i*rs+from*cs], cs, right, bs, &t.c.Data[i*t.c.Stride+j], t.alpha, p)
}
