package baseline

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// ridge keeps columns that repeat each other apart. It is relative to standardised
// columns, and far below what noise does to the coefficients.
const ridge = 1e-9

// gram gathers a least-squares problem y ≈ W v + c in bounded memory, one pass
// over the rows. Columns are centred on the first row so that offsets cost no digits.
type gram struct {
	V, Y   int
	n      int
	shift  []float64 // V+Y, the first row
	rows   []float64 // chunk×(V+Y), shifted
	filled int
	sum    []float64 // V+Y
	square []float64 // (V+Y)×(V+Y), upper triangle
}

const chunk = 256

func newGram(V, Y int) *gram {
	w := V + Y
	return &gram{V: V, Y: Y, shift: make([]float64, w), rows: make([]float64, chunk*w),
		sum: make([]float64, w), square: make([]float64, w*w)}
}

// add takes one row: v (V), then y (Y).
func (g *gram) add(row []float64) {
	if g.n == 0 {
		copy(g.shift, row)
	}
	w := g.V + g.Y
	dst := g.rows[g.filled*w : (g.filled+1)*w]
	for i, v := range row {
		dst[i] = v - g.shift[i]
		g.sum[i] += dst[i]
	}
	g.n++
	if g.filled++; g.filled == chunk {
		g.flush()
	}
}

func (g *gram) flush() {
	w := g.V + g.Y
	if g.filled == 0 {
		return
	}
	blas64.Syrk(blas.Trans, 1, blas64.General{Rows: g.filled, Cols: w, Stride: w, Data: g.rows},
		1, blas64.Symmetric{N: w, Stride: w, Uplo: blas.Upper, Data: g.square})
	g.filled = 0
}

// solve returns W (Y×V row-major) and c (Y). Columns of v that do not vary get
// no weight. ok is false without rows, or where the rows are not finite.
func (g *gram) solve() (W, c []float64, ok bool) {
	g.flush()
	if g.n == 0 {
		return nil, nil, false
	}
	w, n := g.V+g.Y, float64(g.n)
	mean, std := make([]float64, w), make([]float64, w)
	cov := func(i, j int) float64 { return g.square[i*w+j]/n - g.sum[i]*g.sum[j]/(n*n) }
	for i := range w {
		mean[i] = g.shift[i] + g.sum[i]/n
		std[i] = math.Sqrt(math.Max(cov(i, i), 0))
	}
	normal := blas64.Symmetric{N: g.V, Stride: g.V, Uplo: blas.Upper, Data: make([]float64, g.V*g.V)}
	right := blas64.General{Rows: g.V, Cols: g.Y, Stride: g.Y, Data: make([]float64, g.V*g.Y)}
	for i := range g.V {
		if std[i] <= 1e-12*(1+math.Abs(mean[i])) {
			std[i] = 0
		}
	}
	for i := range g.V {
		normal.Data[i*g.V+i] = ridge
		if std[i] == 0 {
			continue
		}
		for j := i; j < g.V; j++ {
			if std[j] > 0 {
				normal.Data[i*g.V+j] += cov(i, j) / (std[i] * std[j])
			}
		}
		for j := range g.Y {
			right.Data[i*g.Y+j] = cov(i, g.V+j) / std[i]
		}
	}
	factor, ok := lapack64.Potrf(normal)
	if !ok {
		return nil, nil, false
	}
	lapack64.Potrs(factor, right)
	W, c = make([]float64, g.Y*g.V), make([]float64, g.Y)
	for j := range g.Y {
		c[j] = mean[g.V+j]
		for i := range g.V {
			if std[i] > 0 {
				W[j*g.V+i] = right.Data[i*g.Y+j] / std[i]
			}
			c[j] -= W[j*g.V+i] * mean[i]
		}
		if math.IsNaN(c[j]) || math.IsInf(c[j], 0) {
			return nil, nil, false
		}
	}
	return W, c, true
}
