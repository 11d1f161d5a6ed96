package matmul

import "gonum.org/v1/gonum/blas/blas64"

// Spin is a product of two square matrices, to be timed: what a processor reaches in
// products of a given size.
type Spin struct {
	a, b, c blas64.General
	w       Work
}

// NewSpin takes the memory for matrices of n rows.
func NewSpin(n int) *Spin {
	g := func() blas64.General {
		return blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	}
	s := &Spin{a: g(), b: g(), c: g()}
	for i := range s.a.Data {
		s.a.Data[i], s.b.Data[i] = float64(i%7), float64(i%5)
	}
	return s
}

// Run multiplies and returns the number of multiply-adds.
func (s *Spin) Run() float64 {
	s.w.Mul(s.c, 1, false, s.a, false, s.b, 0)
	n := float64(s.a.Rows)
	return n * n * n
}
