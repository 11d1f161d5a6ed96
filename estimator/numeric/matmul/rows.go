package matmul

import "gonum.org/v1/gonum/blas/blas64"

// Dots sets every number of dst to the inner product of its row of a and its row of b;
// a b of a single row serves all of them.
func Dots(dst []float64, a, b blas64.General) {
	if len(dst) != a.Rows || a.Cols != b.Cols || b.Rows != a.Rows && b.Rows != 1 || short(a) || short(b) {
		panic(badShape)
	}
	step := b.Stride
	if b.Rows == 1 {
		step = 0
	}
	switch {
	case len(dst) == 0:
	case a.Cols == 0:
		clear(dst)
	case fast:
		dots(a.Rows, a.Cols, &dst[0], &a.Data[0], a.Stride, &b.Data[0], step)
	default:
		for i := range dst {
			dst[i] = blas64.Dot(row(a, i*a.Stride), row(b, i*step))
		}
	}
}

// AddRows adds every row of a to dst.
func AddRows(dst []float64, a blas64.General) {
	if len(dst) != a.Cols || short(a) {
		panic(badShape)
	}
	switch {
	case len(dst) == 0 || a.Rows == 0:
	case fast:
		kernel1(a.Cols, a.Rows, &one, 0, &a.Data[0], a.Stride, &dst[0], 1, &dst[0])
	default:
		for i := range a.Rows {
			blas64.Axpy(1, row(a, i*a.Stride), blas64.Vector{N: len(dst), Inc: 1, Data: dst})
		}
	}
}

// LinearCombination sets dst to a·x + b·y + c·z; dst may be one of these.
func LinearCombination(dst []float64, a float64, x []float64, b float64, y []float64, c float64, z []float64) {
	n := len(dst)
	x, y, z = x[:n], y[:n], z[:n]
	if fast && n > 0 {
		linearCombination(n, &dst[0], a, &x[0], b, &y[0], c, &z[0])
		return
	}
	for i, v := range x {
		dst[i] = a*v + b*y[i] + c*z[i]
	}
}

// row returns the row of m that begins at number at.
func row(m blas64.General, at int) blas64.Vector {
	return blas64.Vector{N: m.Cols, Inc: 1, Data: m.Data[at : at+m.Cols]}
}
