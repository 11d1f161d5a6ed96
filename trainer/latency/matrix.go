package latency

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
)

// matrix is row-major.
type matrix struct{ blas64.General }

func newMatrix(rows, cols int) matrix {
	return matrix{blas64.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]float64, rows*cols)}}
}

func (m matrix) row(i int) []float64 { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// column returns one column.
func (m matrix) column(c int) matrix {
	out := newMatrix(m.Rows, 1)
	for i := range m.Rows {
		out.Data[i] = m.row(i)[c]
	}
	return out
}

// beside returns the columns of all matrices.
func beside(all ...matrix) matrix {
	cols := 0
	for _, m := range all {
		cols += m.Cols
	}
	out := newMatrix(all[0].Rows, cols)
	for i := range out.Rows {
		at := out.row(i)
		for _, m := range all {
			at = at[copy(at, m.row(i)):]
		}
	}
	return out
}

// standardise divides each column by its root mean square.
func (m matrix) standardise() {
	for c := range m.Cols {
		var sq float64
		for i := c; i < len(m.Data); i += m.Cols {
			sq += m.Data[i] * m.Data[i]
		}
		if rms := math.Sqrt(sq / float64(m.Rows)); rms > 0 {
			for i := c; i < len(m.Data); i += m.Cols {
				m.Data[i] /= rms
			}
		}
	}
}

// product returns aᵀ b.
func product(a, b matrix) matrix {
	var w matmul.Work
	out := newMatrix(a.Cols, b.Cols)
	w.Mul(out.General, 1, true, a.General, false, b.General, 0)
	return out
}

// less returns a − b c.
func less(a, b, c matrix) matrix {
	var w matmul.Work
	out := newMatrix(a.Rows, a.Cols)
	copy(out.Data, a.Data)
	w.Mul(out.General, -1, false, b.General, false, c.General, 1)
	return out
}

// times returns a b.
func times(a, b matrix) matrix {
	var w matmul.Work
	out := newMatrix(a.Rows, b.Cols)
	w.Mul(out.General, 1, false, a.General, false, b.General, 0)
	return out
}

// ridge keeps columns that repeat each other apart.
const ridge = 1e-9

// projector removes from other columns what its own explain.
type projector struct {
	columns matrix
	factor  blas64.Triangular
	ok      bool
	root    []float64 // of the diagonal: columns of any size count alike
}

func newProjector(columns matrix) *projector { return projectorOf(columns, product(columns, columns)) }

// projectorOf returns the projector of columns with their products G, which it overwrites.
func projectorOf(columns, G matrix) *projector {
	p := &projector{columns: columns, root: make([]float64, columns.Cols)}
	for i := range p.root {
		if p.root[i] = math.Sqrt(G.Data[i*G.Cols+i]); p.root[i] == 0 {
			p.root[i] = 1
		}
	}
	for i := range p.root {
		for j := range p.root {
			G.Data[i*G.Cols+j] /= p.root[i] * p.root[j]
		}
		G.Data[i*G.Cols+i] += ridge
	}
	p.factor, p.ok = lapack64.Potrf(blas64.Symmetric{N: G.Cols, Stride: G.Stride, Data: G.Data, Uplo: blas.Upper})
	return p
}

// coefficients returns those with which the columns explain b best.
func (p *projector) coefficients(b matrix) matrix {
	c := product(p.columns, b)
	divide := func() {
		for i, r := range p.root {
			for j, row := 0, c.row(i); j < len(row); j++ {
				row[j] /= r
			}
		}
	}
	divide()
	lapack64.Potrs(p.factor, c.General)
	divide()
	return c
}

// rest returns what the columns do not explain of b.
func (p *projector) rest(b matrix) matrix { return less(b, p.columns, p.coefficients(b)) }

// gram holds columns in parts, with the products of all: a part is replaced without the products of the others.
type gram struct {
	parts []matrix
	G     matrix
}

func newGram(parts []matrix) *gram {
	all := beside(parts...)
	return &gram{parts: parts, G: product(all, all)}
}

// from returns the first column of a part.
func (g *gram) from(part int) (n int) {
	for _, m := range g.parts[:part] {
		n += m.Cols
	}
	return n
}

// replace replaces a part by as many other columns.
func (g *gram) replace(part int, m matrix) {
	g.parts[part] = m
	first := g.from(part)
	cross := product(beside(g.parts...), m)
	for i := range cross.Rows {
		for j, v := range cross.row(i) {
			g.G.row(i)[first+j], g.G.row(first + j)[i] = v, v
		}
	}
}

// without returns the projector of all parts but one.
func (g *gram) without(part int) *projector {
	var rest []matrix
	for i, m := range g.parts {
		if i != part {
			rest = append(rest, m)
		}
	}
	first, cols := g.from(part), g.parts[part].Cols
	G := newMatrix(g.G.Rows-cols, g.G.Cols-cols)
	for i := range G.Rows {
		row := g.G.row(i)
		if i >= first {
			row = g.G.row(i + cols)
		}
		copy(G.row(i), row[:first])
		copy(G.row(i)[first:], row[first+cols:])
	}
	return projectorOf(beside(rest...), G)
}
