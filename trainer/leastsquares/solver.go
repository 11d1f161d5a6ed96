package leastsquares

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// Solve returns W (Y×V row-major) and c (Y) that minimise the mean square of y − W v − c
// over the rows, plus the penalty times the squares of the coefficients of standardised
// columns. It regresses on the first V columns only, at most all. Columns that do not
// vary get no weight. ok is false without rows, or where the rows are not finite.
func (g *Gram) Solve(V int, penalty float64) (W, c []float64, ok bool) {
	return g.Solver().Solve(V, penalty)
}

// Solver solves the problem of a Gram for several penalties and numbers of columns. The factor of the first columns is the
// corner of that of all, and so is its inverse: a penalty is factored once for as many columns and fewer that follow. Rows that are
// added later do not count.
type Solver struct {
	V, Y         int
	mean, std    []float64      // V+Y; nil without rows
	correlations blas64.General // V×V, of v standardised
	right        blas64.General // Y×V, of y and v standardised
	work         matmul.Work
	factor                      // the last one
	penalised    blas64.General // of its columns, which the factorisation overwrites
}

// factor is of columns and a penalty: L⁻¹ (n×n), with L Lᵀ the penalised correlations, and right L⁻ᵀ (Y×n).
type factor struct {
	penalty       float64
	inverse, half blas64.General
}

// Solver returns the solver of the rows gathered so far.
func (g *Gram) Solver() *Solver {
	s := &Solver{V: g.V, Y: g.Y}
	if g.n == 0 {
		return s
	}
	s.mean, s.std = g.moments()
	s.correlations, s.right = g.correlations(s.std[:g.V]), matrix(g.Y, g.V)
	cov := g.covariance()
	for i := range g.V {
		for j := range g.Y {
			if s.std[i] > 0 {
				s.right.Data[j*g.V+i] = cov(i, g.V+j) / s.std[i]
			}
		}
	}
	return s
}

// Solve is Gram.Solve. It is quickest where what has one penalty is solved in turn, the most columns first.
func (s *Solver) Solve(V int, penalty float64) (W, c []float64, ok bool) {
	if s.mean == nil {
		return nil, nil, false
	}
	if !s.factorise(V, penalty) {
		return nil, nil, false
	}
	W, c = make([]float64, s.Y*V), make([]float64, s.Y)
	s.work.Mul(matmul.Matrix(s.Y, V, W), 1, false, corner(s.half, s.Y, V), false, corner(s.inverse, V, V), 0)
	for j := range s.Y {
		c[j] = s.mean[s.V+j]
		for i := range V {
			if w := &W[j*V+i]; s.std[i] > 0 {
				*w /= s.std[i]
			} else {
				*w = 0
			}
			c[j] -= W[j*V+i] * s.mean[i]
		}
		if math.IsNaN(c[j]) || math.IsInf(c[j], 0) {
			return nil, nil, false
		}
	}
	return W, c, true
}

// Inverse returns the first columns (n×V row-major) of the inverse of the penalised products of the first V columns, in the units of
// coefficients squared but for a factor, after Solve for these, and the means of the columns (V). Columns that do not vary have zeros.
func (s *Solver) Inverse(V, columns int) (inverse, mean []float64) {
	out := matrix(columns, V)
	s.work.Mul(out, 1, true, corner(s.inverse, V, columns), false, corner(s.inverse, V, V), 0)
	for c := range columns {
		for i, std := range s.std[:V] {
			if v := &out.Data[c*V+i]; std > 0 && s.std[c] > 0 {
				*v /= std * s.std[c]
			} else {
				*v = 0
			}
		}
	}
	return out.Data, s.mean[:V]
}

// factorise sets the factor to one of at least so many columns.
func (s *Solver) factorise(V int, penalty float64) (ok bool) {
	n := s.inverse.Rows
	if n >= V && s.penalty == penalty {
		return true
	}
	if n != V {
		s.penalised, s.inverse, s.half = matrix(V, V), matrix(V, V), matrix(s.Y, V)
	}
	a := s.penalised
	for i := range V {
		copy(a.Data[i*V:(i+1)*V], s.correlations.Data[i*s.V:])
		a.Data[i*V+i] += penalty
	}
	s.penalty = penalty
	if !s.work.Cholesky(a, s.inverse) {
		s.inverse.Rows = 0 // is of none
		return false
	}
	s.work.Mul(s.half, 1, false, corner(s.right, s.Y, V), true, s.inverse, 0)
	return true
}

// Scorer returns the mean squares of what solutions leave of the rows gathered so far.
func (g *Gram) Scorer() *Scorer {
	s := &Scorer{g: g, products: matrix(g.V, g.V)}
	w, sums := g.V+g.Y, g.products.Sums().Data
	for i := range g.V {
		for j := range i + 1 {
			s.products.Data[i*g.V+j], s.products.Data[j*g.V+i] = sums[i*w+j], sums[i*w+j]
		}
	}
	return s
}

// Scorer scores solutions on the rows of a Gram.
type Scorer struct {
	g        *Gram
	products blas64.General // V×V, of the centred columns
	work     matmul.Work
}

// MeanSquare returns the mean squares over the rows of y − W v − c, for W (Y×V row-major)
// of the first V columns and c (Y): NaN without rows.
func (s *Scorer) MeanSquare(V int, W, c []float64) []float64 {
	product, out := s.Products(s.g.Y, V, W), make([]float64, s.g.Y)
	for y := range out {
		out[y] = s.MeanSquareOf(y, W[y*V:(y+1)*V], product[y*V:(y+1)*V], c[y])
	}
	return out
}

// Products returns that of W (rows×V row-major), weights of the first V columns, and the sums of products of these (rows×V).
func (s *Scorer) Products(rows, V int, W []float64) []float64 {
	product := matrix(rows, V)
	s.work.Mul(product, 1, false, matmul.Matrix(rows, V, W), false, corner(s.products, V, V), 0)
	return product.Data
}

// MeanSquareOf is MeanSquare of column y alone, with weights w and their product with the sums of products.
func (s *Scorer) MeanSquareOf(y int, w, product []float64, c float64) float64 {
	g := s.g
	width, n, sums, at := g.V+g.Y, float64(g.n), g.products.Sums(), g.V+y
	// y − wᵀv − c = (y' − wᵀv') + offset, primes about the centre.
	offset := g.centre[at] - c
	sum, sumW := sums.Data[at*width+at], 0.0
	for i, v := range w {
		offset -= v * g.centre[i]
		sum += v * (product[i] - 2*sums.Data[at*width+i])
		sumW += v * g.sum[i]
	}
	return math.Max(0, (sum+2*offset*(g.sum[at]-sumW))/n+offset*offset)
}

// corner returns the first rows and columns of a matrix, a view.
func corner(m blas64.General, rows, cols int) blas64.General {
	m.Rows, m.Cols = rows, cols
	return m
}
