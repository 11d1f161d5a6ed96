package matmul

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// What Dgemm computes in one goroutine without taking memory is at most this large; it
// splits what has four blocks of 64×64 or more. Rows are independent, so parts change
// no bit.
const (
	aloneRows = 64
	aloneCols = 3 * 64
)

// gonum is run for processors without a kernel.
func (w *Work) gonum(t product) {
	a, b := t.a.m, t.b.m
	if t.d != nil {
		if need := b.Rows * b.Cols; len(w.b) < need {
			w.b = make([]float64, need)
		}
		scaled := blas64.General{Rows: b.Rows, Cols: b.Cols, Stride: b.Cols, Data: w.b}
		for q, d := range t.d {
			to := scaled.Data[q*b.Cols : (q+1)*b.Cols]
			for j, v := range b.Data[q*b.Stride : q*b.Stride+b.Cols] {
				to[j] = d * v
			}
		}
		b = scaled
	}
	if !t.alone {
		blas64.Gemm(flag(t.a.trans), flag(t.b.trans), t.alpha, a, b, t.beta, t.c)
		return
	}
	beta := t.beta
	if t.bias != nil {
		beta = 1
		for i := range t.c.Rows {
			copy(t.c.Data[i*t.c.Stride:], t.bias)
		}
	}
	for i := 0; i < a.Rows; i += aloneRows {
		rows := min(aloneRows, a.Rows-i)
		for j := 0; j < b.Cols; j += aloneCols {
			cols := min(aloneCols, b.Cols-j)
			blas64.Gemm(blas.NoTrans, blas.NoTrans, t.alpha, sub(a, i, 0, rows, a.Cols), sub(b, 0, j, b.Rows, cols), beta, sub(t.c, i, j, rows, cols))
		}
	}
}

func flag(trans bool) blas.Transpose {
	if trans {
		return blas.Trans
	}
	return blas.NoTrans
}
