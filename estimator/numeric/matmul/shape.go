package matmul

import "gonum.org/v1/gonum/blas/blas64"

// Matrix returns numbers as a matrix, row by row, a view.
func Matrix(rows, cols int, d []float64) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: d}
}

// short reports whether a matrix has less memory than its shape needs.
func short(m blas64.General) bool {
	return m.Rows > 0 && m.Cols > 0 && (m.Stride < m.Cols || len(m.Data) < (m.Rows-1)*m.Stride+m.Cols)
}

const badShape = "matmul: shapes do not agree"

// zeros is the triangle of a square matrix that is known to be zero.
type zeros uint8

const (
	nowhere zeros = iota
	above         // the diagonal: lower triangular
	below
)

// transposed returns that of the transposed matrix.
func (z zeros) transposed() zeros {
	switch z {
	case above:
		return below
	case below:
		return above
	}
	return nowhere
}

// factor is op(m).
type factor struct {
	m     blas64.General
	trans bool
	zero  zeros // of op(m)
}

func (f *factor) shape() (rows, cols int) {
	if f.trans {
		return f.m.Cols, f.m.Rows
	}
	return f.m.Rows, f.m.Cols
}

// steps returns how far rows and columns are apart.
func (f *factor) steps() (rs, cs int) {
	if f.trans {
		return 1, f.m.Stride
	}
	return f.m.Stride, 1
}

// sub returns the r×c block of m at (i, j), a view.
func sub(m blas64.General, i, j, r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: m.Stride, Data: m.Data[i*m.Stride+j:]}
}
