package paper

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/estimator/numeric/mlp"
)

// copyNet returns a net of the same layers, and its parameters in one slice of their own.
func copyNet(net *mlp.Net) (c mlp.Net, flat []float64) {
	c, flat = mlp.Net{Layers: slices.Clone(net.Layers)}, make([]float64, net.Params())
	c.Bind(flat)
	return c, flat
}

// evaluate sets y (Out) to a layer at one input x (In).
func evaluate(y []float64, l *mlp.Layer, x []float64) {
	copy(y, l.B)
	for r, v := range x {
		for o, w := range l.W[r*l.Out : (r+1)*l.Out] {
			y[o] += v * w
		}
	}
	l.Act.Activate(y)
}

// stages returns where the four stages of the classical method of order 4 are along a step
// of length h, each from the derivative of the one before, and their weights.
func stages(h float64) (along, weights [4]float64) {
	return [4]float64{0, h / 2, h / 2, h}, [4]float64{h / 6, h / 3, h / 3, h / 6}
}

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
	factor, ok := lapack64.Potrf(blas64.Symmetric{N: I, Stride: I, Data: a, Uplo: blas.Lower})
	if !ok {
		return nil
	}
	lapack64.Potrs(factor, matmul.Matrix(I, O, q))
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
