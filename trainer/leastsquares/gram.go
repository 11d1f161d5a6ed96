// Package leastsquares solves linear least-squares problems with a ridge penalty from
// their products alone: rows are read once and not kept.
package leastsquares

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
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

// Solve returns W (Y×V row-major) and c (Y) that minimise the mean square of y − W v − c
// over the rows, plus the penalty times the squares of the coefficients of standardised
// columns. It regresses on the first V columns only, at most all. Columns that do not
// vary get no weight. ok is false without rows, or where the rows are not finite.
func (g *Gram) Solve(V int, penalty float64) (W, c []float64, ok bool) {
	return g.Solver().Solve(V, penalty)
}

// Solver solves the problem of a Gram for several penalties and numbers of columns: the
// correlations are taken from the products once. Rows that are added later do not count.
type Solver struct {
	V, Y         int
	mean, std    []float64        // V+Y
	correlations blas64.Symmetric // V×V
	right        []float64        // V×Y, of v standardised and y
}

// Solver returns the solver of the rows gathered so far.
func (g *Gram) Solver() *Solver {
	s := &Solver{V: g.V, Y: g.Y}
	if g.n == 0 {
		return s
	}
	s.mean, s.std = g.moments()
	s.correlations = g.normal(s.std[:g.V])
	s.right = make([]float64, g.V*g.Y)
	cov := g.covariance()
	for i := range g.V {
		for j := range g.Y {
			if s.std[i] > 0 {
				s.right[i*g.Y+j] = cov(i, g.V+j) / s.std[i]
			}
		}
	}
	return s
}

// Solve is Gram.Solve.
func (s *Solver) Solve(V int, penalty float64) (W, c []float64, ok bool) {
	if s.mean == nil {
		return nil, nil, false
	}
	normal := blas64.Symmetric{N: V, Stride: V, Uplo: blas.Upper, Data: make([]float64, V*V)}
	for i := range V {
		copy(normal.Data[i*V+i:(i+1)*V], s.correlations.Data[i*s.V+i:])
		normal.Data[i*V+i] += penalty
	}
	factor, ok := lapack64.Potrf(normal)
	if !ok {
		return nil, nil, false
	}
	right := blas64.General{Rows: V, Cols: s.Y, Stride: s.Y, Data: slices.Clone(s.right[:V*s.Y])}
	lapack64.Potrs(factor, right)
	W, c = make([]float64, s.Y*V), make([]float64, s.Y)
	for j := range s.Y {
		c[j] = s.mean[s.V+j]
		for i := range V {
			if s.std[i] > 0 {
				W[j*V+i] = right.Data[i*s.Y+j] / s.std[i]
			}
			c[j] -= W[j*V+i] * s.mean[i]
		}
		if math.IsNaN(c[j]) || math.IsInf(c[j], 0) {
			return nil, nil, false
		}
	}
	return W, c, true
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

// normal returns the correlations of the first columns.
func (g *Gram) normal(std []float64) blas64.Symmetric {
	V, cov := len(std), g.covariance()
	out := blas64.Symmetric{N: V, Stride: V, Uplo: blas.Upper, Data: make([]float64, V*V)}
	for i := range V {
		for j := i; j < V; j++ {
			if std[i] > 0 && std[j] > 0 {
				out.Data[i*V+j] = cov(i, j) / (std[i] * std[j])
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
	correlations := g.normal(std)
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

// MeanSquare returns the mean squares over the rows of y − W v − c, for W (Y×V row-major)
// of the first V columns and c (Y): NaN without rows.
func (g *Gram) MeanSquare(V int, W, c []float64) []float64 {
	w, n, sums := g.V+g.Y, float64(g.n), g.products.Sums()
	symmetric := sums
	symmetric.N = V
	product, out := make([]float64, V), make([]float64, g.Y)
	for y := range g.Y {
		at := g.V + y
		row := W[y*V : (y+1)*V]
		// y − W v − c = (y' − W v') + offset, primes about the centre.
		offset := g.centre[at] - c[y]
		sum, sumW := sums.Data[at*w+at], 0.0
		if V > 0 {
			wv := blas64.Vector{N: V, Inc: 1, Data: row}
			blas64.Symv(1, symmetric, wv, 0, blas64.Vector{N: V, Inc: 1, Data: product})
			for i, v := range row {
				offset -= v * g.centre[i]
				sum += v * (product[i] - 2*sums.Data[at*w+i])
				sumW += v * g.sum[i]
			}
		}
		out[y] = math.Max(0, (sum+2*offset*(g.sum[at]-sumW))/n+offset*offset)
	}
	return out
}
