package paper

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// leastSquares returns (XᵀX + c)⁻¹ XᵀY, I×O, for X n×I and Y n×O; nil where c > 0 is
// too small for the numbers.
func leastSquares(x, y []float64, n, I, O int, c float64) []float64 {
	var work matmul.Work
	a, q := make([]float64, I*I), make([]float64, I*O)
	for i := range I {
		a[i*I+i] = c
	}
	work.MulLower(matmul.Matrix(I, I, a), 1, true, matmul.Matrix(n, I, x), false, matmul.Matrix(n, I, x), 1)
	work.Mul(matmul.Matrix(I, O, q), 1, true, matmul.Matrix(n, I, x), false, matmul.Matrix(n, O, y), 0)
	if _, ok := lapack64.Potrf(blas64.Symmetric{N: I, Stride: I, Data: a, Uplo: blas.Lower}); !ok {
		return nil
	}
	lapack64.Potrs(blas64.Triangular{N: I, Stride: I, Data: a, Uplo: blas.Lower, Diag: blas.NonUnit}, matmul.Matrix(I, O, q))
	return q
}

// dot returns a·b over the length of a.
func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}
