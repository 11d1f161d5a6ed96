package matmul

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// The kernel's tile, and the blocks that are packed: a block of the right factor
// (inner × all columns) stays in the second cache, one of the left in the first.
const (
	tileRows = 4
	tileCols = 12
	inner    = 256
	rows     = 96
)

// Work is the memory of products; it serves one goroutine at a time. The zero
// value is ready, and grows to what is asked of it.
type Work struct {
	a, b   []float64
	corner []float64 // of Cholesky
	tile   [tileRows * tileCols]float64
	plain  bool // for tests: gonum's product
}

// Mul sets c = alpha·op(a)·op(b) + beta·c, where op transposes if its flag is
// set. Shapes that do not agree panic.
func (w *Work) Mul(c blas64.General, alpha float64, transA bool, a blas64.General, transB bool, b blas64.General, beta float64) {
	w.run(c, alpha, transA, a, transB, b, beta, false)
}

// MulLower is Mul for a product that is known to be symmetric: it writes the
// lower triangle of c, and may write some of the upper.
func (w *Work) MulLower(c blas64.General, alpha float64, transA bool, a blas64.General, transB bool, b blas64.General, beta float64) {
	w.run(c, alpha, transA, a, transB, b, beta, true)
}

func (w *Work) run(c blas64.General, alpha float64, transA bool, a blas64.General, transB bool, b blas64.General, beta float64, lower bool) {
	m, k := a.Rows, a.Cols
	if transA {
		m, k = k, m
	}
	kb, n := b.Rows, b.Cols
	if transB {
		kb, n = n, kb
	}
	if k != kb || c.Rows != m || c.Cols != n {
		panic(badShape)
	}
	if !fast || w.plain {
		blas64.Gemm(flag(transA), flag(transB), alpha, a, b, beta, c)
		return
	}
	if beta != 0 && beta != 1 || k == 0 {
		for i := range m {
			row := c.Data[i*c.Stride : i*c.Stride+n]
			if beta == 0 {
				clear(row)
				continue
			}
			for j := range row {
				row[j] *= beta
			}
		}
	}
	w.grow(min(k, inner), n)
	for p := 0; p < k; p += inner {
		kc := min(inner, k-p)
		packCols(w.b, b, transB, p, kc, n)
		for i := 0; i < m; i += rows {
			mc := min(rows, m-i)
			packRows(w.a, a, transA, i, mc, p, kc, alpha)
			w.block(c, i, mc, kc, n, lower, p > 0 || beta != 0)
		}
	}
}

// block sets the rows of c from i on to packed rows times packed columns, or adds that.
func (w *Work) block(c blas64.General, i, mc, kc, n int, lower, add bool) {
	for j := 0; j < n; j += tileCols {
		bp := w.b[j*kc:]
		nc := min(tileCols, n-j)
		for r := 0; r < mc; r += tileRows {
			if lower && i+r+tileRows <= j {
				continue
			}
			ap := w.a[r*kc:]
			mr := min(tileRows, mc-r)
			if mr == tileRows && nc == tileCols {
				kernel(kc, &ap[0], &bp[0], &c.Data[(i+r)*c.Stride+j], c.Stride, add)
				continue
			}
			kernel(kc, &ap[0], &bp[0], &w.tile[0], tileCols, false)
			for x := range mr {
				row := c.Data[(i+r+x)*c.Stride+j : (i+r+x)*c.Stride+j+nc]
				tile := w.tile[x*tileCols : x*tileCols+nc]
				if !add {
					copy(row, tile)
					continue
				}
				for y, v := range tile {
					row[y] += v
				}
			}
		}
	}
}

// grow takes the memory for packed blocks.
func (w *Work) grow(kc, n int) {
	if need := rows * kc; len(w.a) < need {
		w.a = make([]float64, need)
	}
	if need := kc * (n + tileCols - 1) / tileCols * tileCols; len(w.b) < need+kc*tileCols {
		w.b = make([]float64, need+kc*tileCols)
	}
}

// packRows packs alpha times rows i … i+mc of op(a), columns p … p+kc, in slivers
// of tileRows rows, the column running slowest within a sliver. Missing rows are
// zero.
func packRows(dst []float64, a blas64.General, trans bool, i, mc, p, kc int, alpha float64) {
	for r := 0; r < mc; r += tileRows {
		sliver := dst[r*kc : (r+tileRows)*kc]
		mr := min(tileRows, mc-r)
		if mr < tileRows {
			clear(sliver)
		}
		if trans {
			for q := range kc {
				src := a.Data[(p+q)*a.Stride+i+r:]
				if mr == tileRows {
					src = src[:tileRows]
					to := sliver[q*tileRows : q*tileRows+tileRows : q*tileRows+tileRows]
					to[0], to[1], to[2], to[3] = alpha*src[0], alpha*src[1], alpha*src[2], alpha*src[3]
					continue
				}
				for x := range mr {
					sliver[q*tileRows+x] = alpha * src[x]
				}
			}
			continue
		}
		if mr == tileRows {
			at := (i+r)*a.Stride + p
			r0, r1 := a.Data[at:at+kc], a.Data[at+a.Stride:at+a.Stride+kc]
			at += 2 * a.Stride
			r2, r3 := a.Data[at:at+kc], a.Data[at+a.Stride:at+a.Stride+kc]
			for q, v := range r0 {
				to := sliver[q*tileRows : q*tileRows+tileRows : q*tileRows+tileRows]
				to[0], to[1], to[2], to[3] = alpha*v, alpha*r1[q], alpha*r2[q], alpha*r3[q]
			}
			continue
		}
		for x := range mr {
			src := a.Data[(i+r+x)*a.Stride+p:]
			src = src[:kc]
			for q, v := range src {
				sliver[q*tileRows+x] = alpha * v
			}
		}
	}
}

// packCols packs rows p … p+kc of op(b) in slivers of tileCols columns, the row
// running slowest within a sliver. Missing columns are zero.
func packCols(dst []float64, b blas64.General, trans bool, p, kc, n int) {
	for j := 0; j < n; j += tileCols {
		sliver := dst[j*kc : (j+tileCols)*kc]
		nc := min(tileCols, n-j)
		if nc < tileCols {
			clear(sliver)
		}
		if trans {
			for y := range nc {
				src := b.Data[(j+y)*b.Stride+p:]
				src = src[:kc]
				for q, v := range src {
					sliver[q*tileCols+y] = v
				}
			}
			continue
		}
		for q := range kc {
			src := b.Data[(p+q)*b.Stride+j:]
			copy(sliver[q*tileCols:q*tileCols+nc], src[:nc])
		}
	}
}

func flag(trans bool) blas.Transpose {
	if trans {
		return blas.Trans
	}
	return blas.NoTrans
}

const badShape = "matmul: shapes do not agree"
