// Package leastsquares solves linear least-squares problems with a ridge penalty from
// their products alone: rows are read once and not kept.
package leastsquares

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// Apart is a penalty that keeps columns that repeat each other apart, and is far below
// what noise does to the coefficients.
const Apart = 1e-9

// Gram gathers the products of a least-squares problem y ≈ W v + c in bounded memory, one
// pass over the rows. Columns are centred so that offsets cost no digits.
type Gram struct {
	V, Y     int // columns of v and of y
	n        int
	centre   []float64 // V+Y; nil before the first row
	sum      []float64 // V+Y, of the centred columns
	products *Products // of the centred columns
}

// New returns an empty Gram of V columns to regress on and Y to predict. Columns are
// centred on centre (V+Y), or where it is nil on the first row.
func New(V, Y int, centre []float64) *Gram {
	w := V + Y
	return &Gram{V: V, Y: Y, centre: centre, sum: make([]float64, w), products: NewProducts(w)}
}

// N returns the number of rows.
func (g *Gram) N() int { return g.n }

// Centre returns what the columns are centred on (V+Y), nil before the first row.
func (g *Gram) Centre() []float64 { return g.centre }

// Mean returns the means of y (Y), none before the first row.
func (g *Gram) Mean() []float64 {
	if g.n == 0 {
		return nil
	}
	mean, _ := g.moments()
	return mean[g.V:]
}

// Add takes one row: v (V), then y (Y).
func (g *Gram) Add(row []float64) {
	if g.centre == nil {
		g.centre = append([]float64(nil), row...)
	}
	dst := g.products.Row()
	for i, v := range row {
		dst[i] = v - g.centre[i]
		g.sum[i] += dst[i]
	}
	g.n++
}

// Part returns the Gram of some of the columns, of which the first V are regressed on.
func (g *Gram) Part(columns []int, V int) *Gram {
	out := New(V, len(columns)-V, nil)
	out.n = g.n
	from, to, w := g.products.Sums(), out.products.Sums(), len(columns)
	for a, i := range columns {
		if g.centre != nil {
			out.centre = append(out.centre, g.centre[i])
		}
		out.sum[a] = g.sum[i]
		for b, j := range columns[:a+1] {
			to.Data[a*w+b] = from.Data[max(i, j)*from.Stride+min(i, j)]
		}
	}
	return out
}

// Merge adds the rows of o, which has the same columns and the same centre.
func (g *Gram) Merge(o *Gram) {
	g.n += o.n
	for i, v := range o.sum {
		g.sum[i] += v
	}
	sums := g.products.Sums().Data
	for i, v := range o.products.Sums().Data {
		sums[i] += v
	}
}

// covariance returns that of columns i ≤ j.
func (g *Gram) covariance() func(i, j int) float64 {
	w, n, sums := g.V+g.Y, float64(g.n), g.products.Sums().Data
	return func(i, j int) float64 { return sums[j*w+i]/n - g.sum[i]*g.sum[j]/(n*n) }
}

// moments returns mean and standard deviation of all columns; the latter is 0 of those that
// do not vary.
func (g *Gram) moments() (mean, std []float64) {
	w, cov := g.V+g.Y, g.covariance()
	mean, std = make([]float64, w), make([]float64, w)
	for i := range w {
		mean[i] = g.centre[i] + g.sum[i]/float64(g.n)
		std[i] = math.Sqrt(math.Max(cov(i, i), 0))
		if std[i] <= 1e-12*(1+math.Abs(mean[i])) {
			std[i] = 0
		}
	}
	return mean, std
}

// correlations returns those of the first columns, 0 of those that do not vary.
func (g *Gram) correlations(std []float64) blas64.General {
	V, cov := len(std), g.covariance()
	out := matrix(V, V)
	for i := range V {
		for j := range V {
			if std[i] > 0 && std[j] > 0 {
				out.Data[i*V+j] = cov(min(i, j), max(i, j)) / (std[i] * std[j])
			}
		}
	}
	return out
}

// Leverage returns what measures how far a row of the first V columns is from those that
// were gathered. With standardised columns c,
//
//	(‖c‖² − ‖G c‖²)/rest
//
// is about V for one like them: the squared Mahalanobis distance with the correlations of
// the columns, of whose eigenvalues all but the largest (rank, at most V) are replaced by
// their mean, rest, which is at least the floor (probabilistic principal components, Tipping
// & Bishop 1999). G is rank×V row-major. std is 1 of columns that do not vary. ok is false
// without rows, or where the rows are not finite.
func (g *Gram) Leverage(V, rank int, floor float64) (mean, std, G []float64, rest float64, ok bool) {
	if g.n == 0 {
		return nil, nil, nil, 0, false
	}
	mean, std = g.moments()
	mean, std = mean[:V], std[:V]
	correlations := g.correlations(std)
	for _, v := range correlations.Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil, nil, 0, false
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(mat.NewSymDense(V, correlations.Data), true) {
		return nil, nil, nil, 0, false
	}
	values := eigen.Values(nil) // ascending
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	rank = min(rank, V)
	for _, v := range values[:V-rank] {
		rest += v / float64(V-rank)
	}
	rest = math.Max(rest, floor)
	for r := V - 1; r >= V-rank && values[r] > rest; r-- {
		scale := math.Sqrt(1 - rest/values[r])
		for i := range V {
			G = append(G, scale*vectors.At(i, r))
		}
	}
	for i := range std {
		if std[i] == 0 {
			std[i] = 1
		}
	}
	return mean, std, G, rest, true
}

func matrix(rows, cols int) blas64.General {
	return matmul.Matrix(rows, cols, make([]float64, rows*cols))
}
