package matmul

import "gonum.org/v1/gonum/blas/blas64"

// block is the rows p … p+k of a right factor: in place, or packed in slivers of
// twelve or eight columns, one row behind the other. The columns that the last sliver
// lacks are zero.
type block struct {
	p, k   int
	data   []float64 // from row p on
	stride int       // 0: packed
}

// sliver returns the width of the next sliver when cols columns are left: twelves
// and eights, so that as few columns as possible are padding.
func sliver(cols int) int {
	switch {
	case cols < 12:
		return min(cols, 8)
	case 12 < cols && cols <= 16 || 20 < cols && cols < 24:
		return 8
	}
	return 12
}

// padded returns the width of all slivers of n columns.
func padded(n int) int { return (n + 7) &^ 3 }

// at returns the start of row q of the sliver of column j and the distance of rows.
func (b *block) at(q, j, width int) (first *float64, stride int) {
	if b.stride > 0 {
		return &b.data[(q-b.p)*b.stride+j], b.stride
	}
	if width < 12 {
		width = 8
	}
	return &b.data[j*b.k+(q-b.p)*width], width
}

// pack fills data with the block of op(m), n columns, row q times d[q] unless nil.
func (b *block) pack(f *factor, n int, d []float64) {
	for j := 0; j < n; {
		width := sliver(n - j)
		to := b.data[j*b.k:]
		if f.trans {
			packTransposed(to, f.m, b.p, b.k, j, width)
		} else {
			from, scale, step := &f.m.Data[b.p*f.m.Stride+j], &one, 0
			if d != nil {
				scale, step = &d[b.p], 1
			}
			if width == 12 {
				pack12(b.k, &to[0], from, f.m.Stride, scale, step)
			} else {
				pack8(b.k, &to[0], from, f.m.Stride, scale, step, width)
			}
		}
		j += width
	}
}

var one = 1.0

// packTransposed packs the rows p … p+k of the columns j … j+width of mᵀ.
func packTransposed(dst []float64, m blas64.General, p, k, j, width int) {
	full := 12
	if width < 12 {
		full = 8
		dst = dst[:k*full]
		if width < full {
			clear(dst)
		}
	}
	y := 0
	for ; y+4 <= width; y += 4 {
		at := (j+y)*m.Stride + p
		r0, r1 := m.Data[at:at+k], m.Data[at+m.Stride:][:k]
		at += 2 * m.Stride
		r2, r3 := m.Data[at:at+k], m.Data[at+m.Stride:][:k]
		to := dst[y:]
		for q, v := range r0 {
			four := to[q*full : q*full+4 : q*full+4]
			four[0], four[1], four[2], four[3] = v, r1[q], r2[q], r3[q]
		}
	}
	for ; y < width; y++ {
		for q, v := range m.Data[(j+y)*m.Stride+p:][:k] {
			dst[q*full+y] = v
		}
	}
}
