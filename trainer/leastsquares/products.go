package leastsquares

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// chunk is the number of rows that are multiplied at once.
const chunk = 256

// Products sums the products of all pairs of columns over rows, which it does not keep.
type Products struct {
	n      int
	rows   []float64 // chunk×n; nil until there is one
	filled int
	sums   []float64 // n×n, lower triangle
	work   matmul.Work
}

// NewProducts returns the products of n columns, of no rows yet.
func NewProducts(n int) *Products {
	return &Products{n: n, sums: make([]float64, n*n)}
}

// Row returns the memory of a new row (n), which counts as filled when another method is called.
func (p *Products) Row() []float64 {
	if p.rows == nil {
		p.rows = make([]float64, chunk*p.n)
	}
	if p.filled == chunk {
		p.multiply()
	}
	p.filled++
	return p.rows[(p.filled-1)*p.n : p.filled*p.n]
}

// Sums returns the sums of the products so far, in the lower triangle. It is memory of p.
func (p *Products) Sums() blas64.Symmetric {
	p.multiply()
	return blas64.Symmetric{N: p.n, Stride: max(p.n, 1), Uplo: blas.Lower, Data: p.sums}
}

// Clear forgets all rows.
func (p *Products) Clear() {
	p.filled = 0
	clear(p.sums)
}

func (p *Products) multiply() {
	if p.filled == 0 {
		return
	}
	rows := matmul.Matrix(p.filled, p.n, p.rows)
	p.work.MulLower(matmul.Matrix(p.n, p.n, p.sums), 1, true, rows, false, rows, 1)
	p.filled = 0
}
