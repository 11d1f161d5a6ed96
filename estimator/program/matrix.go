package program

import (
	"github.com/tphakala/simd/f32"
	"github.com/tphakala/simd/f64"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// matrix is a constant matrix in the layouts of the kernels.
type matrix[T Float] struct {
	rows, cols int
	dense      []T       // row-major
	panels     []float32 // of blocks, in single precision
	transposed []float32
	lower      bool
	picks      []pick[T]  // where no row has more than one number but 0, as those that scale and move rows: these; else nil
	terms      simd.Terms // numbers but 0 times rows of a block, in double precision, of a matrix that is small or has few
}

// pick is a number of a matrix.
type pick[T Float] struct {
	row, col int
	v        T
}

// picksOf returns the numbers but 0 of a matrix that has one in a row at most; nil of others.
func picksOf[T Float](rows, cols int, dense []T) []pick[T] {
	out := make([]pick[T], 0, rows)
	for i, v := range dense {
		if v == 0 {
			continue
		}
		if n := len(out); n > 0 && out[n-1].row == i/cols {
			return nil
		}
		out = append(out, pick[T]{i / cols, i % cols, v})
	}
	return out
}

func newMatrix[T Float](rows, cols int, x []float64, lower, blocks, adjoint bool) matrix[T] {
	out := matrix[T]{rows: rows, cols: cols, dense: make([]T, len(x)), lower: lower}
	for i, v := range x {
		out.dense[i] = narrow[T](v)
	}
	out.picks = picksOf(rows, cols, out.dense)
	if _, single := any(out.dense).([]float32); !single {
		if out.picks != nil || rows < 4 || cols < 8 {
			out.terms = termsOf(cols, x)
		}
		return out
	}
	if blocks && lower {
		out.panels = make([]float32, simd.LowerSize(rows))
		simd.PackLower(out.panels, rows, x, cols)
	} else if blocks {
		out.panels = simd.Packed(rows, cols, func(r, c int) float64 { return x[r*cols+c] })
	}
	if adjoint {
		out.transposed = simd.Packed(cols, rows, func(r, c int) float64 { return x[c*cols+r] })
	}
	return out
}

// termsOf returns the numbers but 0 of a matrix, each times a row.
func termsOf(cols int, x []float64) simd.Terms {
	var list []simd.Term
	for i, v := range x {
		if v != 0 {
			list = append(list, simd.Term{Row: i / cols, A: i % cols, S: v})
		}
	}
	return simd.NewTerms(list)
}

// addVector adds M x to y.
func (a *matrix[T]) addVector(y, x []T) {
	if a.picks != nil {
		for _, p := range a.picks {
			y[p.row] += T(p.v * x[p.col])
		}
		return
	}
	switch m := any(a.dense).(type) {
	case []float32:
		y, x := any(y).([]float32), any(x).([]float32)[:a.cols]
		for r := range a.rows {
			y[r] += f32.DotProduct(m[r*a.cols:(r+1)*a.cols], x)
		}
	case []float64:
		y, x := any(y).([]float64), any(x).([]float64)[:a.cols]
		for r := range a.rows {
			y[r] += f64.DotProduct(m[r*a.cols:(r+1)*a.cols], x)
		}
	}
}

// dot returns the product of row r with x.
func (a *matrix[T]) dot(r int, x []T) T {
	row := a.dense[r*a.cols : (r+1)*a.cols]
	switch m := any(row).(type) {
	case []float32:
		return T(f32.DotProduct(m, any(x).([]float32)[:a.cols]))
	case []float64:
		return T(f64.DotProduct(m, any(x).([]float64)[:a.cols]))
	}
	return 0
}

// addTransposed adds Mᵀ y to x.
func (a *matrix[T]) addTransposed(x, y []T) {
	for r, v := range y[:a.rows] {
		if v != 0 {
			addScaled(x[:a.cols], v, a.dense[r*a.cols:(r+1)*a.cols])
		}
	}
}

// multiply sets a block of rows to the products of the parts with block b of their
// registers: their values, or copy k of their tangents. Tangents of a register with n = 1 are a block
// of directions.
func (m *Machine[T]) multiply(dst []T, rows int, parts []affinePart[T], v [][]T, b, k int, tangents bool) {
	if len(parts) > 0 && tangents && parts[0].x.t.width == 1 { // one direction of a register with n = 1
		clear(dst[:rows])
		for i := range parts {
			if x := &parts[i].x; x.active {
				parts[i].m.addVector(dst[:rows], blockOf(v[x.r], x, b, k, true))
			}
		}
		return
	}
	if single, ok := any(dst).([]float32); ok {
		m.multiplySingle(single, rows, parts, v, b, k, tangents)
		return
	}
	clear(dst[:rows*width])
	for i := range parts {
		if x := &parts[i].x; !tangents || x.active {
			m.addDouble(any(dst).([]float64), &parts[i].m, any(blockOf(v[x.r], x, b, k, tangents)).([]float64))
		}
	}
}

// multiplySingle is multiply in single precision.
func (m *Machine[T]) multiplySingle(dst []float32, rows int, parts []affinePart[T], v [][]T, b, k int, tangents bool) {
	list := m.parts[:0]
	for i := range parts {
		if x := &parts[i].x; !tangents || x.active {
			list = append(list, parts[i].m.part(any(blockOf(v[x.r], x, b, k, tangents)).([]float32)))
		}
	}
	if len(list) == 0 {
		clear(dst[:simd.Padded(rows)*width])
		return
	}
	m.unit.Product(dst, simd.Panels(rows), list)
}

// singleParts returns the parts of a product in single precision at block b, with a constant.
func (m *Machine[T]) singleParts(c []T, parts []affinePart[T], v [][]T, b int) []simd.Part {
	list := append(m.parts[:0], simd.Part{L: any(c).([]float32), X: any(m.ones).([]float32), K: 1})
	for i := range parts {
		x := &parts[i].x
		list = append(list, parts[i].m.part(any(v[x.r][b%x.blocks*x.stride:]).([]float32)))
	}
	return list
}

// part returns the product with a block.
func (a *matrix[T]) part(x []float32) simd.Part {
	if a.lower {
		return simd.Part{L: a.panels, X: x, K: simd.Rows, Grow: simd.Rows}
	}
	return simd.Part{L: a.panels, X: x, K: a.cols}
}

// addDouble adds M X to Y, blocks of width.
func (m *Machine[T]) addDouble(Y []float64, a *matrix[T], X []float64) {
	if a.terms.Len() > 0 {
		m.unit.AddTerms(Y, X, any(m.ones).([]float64), &a.terms, false)
		return
	}
	m.work.Mul(general(a.rows, width, Y), 1, false, general(a.rows, a.cols, any(a.dense).([]float64)), false, general(a.cols, width, X), 1)
}

// multiplyTransposed adds Mᵀ Y to X, blocks of width.
func (m *Machine[T]) multiplyTransposed(X []T, a *matrix[T], Y []T) {
	if x, single := any(X).([]float32); single {
		to := any(m.scratch).([]float32)[:simd.Padded(a.cols)*width]
		m.unit.Product(to, simd.Panels(a.cols), append(m.parts[:0], simd.Part{L: a.transposed, X: any(Y).([]float32), K: a.rows}))
		f32.Add(x[:a.cols*width], x[:a.cols*width], to[:a.cols*width])
		return
	}
	m.work.Mul(general(a.cols, width, any(X).([]float64)), 1, true, general(a.rows, a.cols, any(a.dense).([]float64)), false, general(a.rows, width, any(Y).([]float64)), 1)
}

func general(rows, cols int, d []float64) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: d}
}
