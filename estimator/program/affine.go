package program

import (
	"fmt"

	"github.com/tphakala/simd/f32"
	"github.com/tphakala/simd/f64"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// Affine is y = Σ_i M_i x_i + c. Its tangent is Σ_i M_i ẋ_i, its adjoint x̄_i += M_iᵀ ȳ. It costs as
// many multiply-adds as the matrices have numbers, for every column and lane; an operand of one
// column and lane counts once.
type Affine struct {
	Out   Reg
	Parts []Part
	C     []float64 // rows of Out; nil = 0
}

// Part is a summand of an Affine.
type Part struct {
	X     Reg
	M     []float64 // rows of Out × rows of X, row-major
	Lower bool      // M is square, and zero above the diagonal
}

// Affine appends the operation, of so many rows.
func (p *Program) Affine(rows int, c []float64, parts ...Part) Reg {
	regs := make([]Reg, len(parts))
	for i := range parts {
		regs[i] = parts[i].X
	}
	o := &Affine{p.register(rows, p.columns(regs...)), parts, c}
	p.append(o)
	return o.Out
}

func (o *Affine) results() []Reg { return []Reg{o.Out} }

func (o *Affine) operands() (out []Reg) {
	for i := range o.Parts {
		out = append(out, o.Parts[i].X)
	}
	return out
}

func (o *Affine) check(p *Program) error {
	rows := p.Rows(o.Out)
	if n := p.columns(o.operands()...); n == 0 || n != p.Shape(o.Out).Cols || len(o.Parts) == 0 {
		return fmt.Errorf("%d parts whose columns do not agree with %d", len(o.Parts), p.Shape(o.Out).Cols)
	}
	if len(o.C) != 0 && len(o.C) != rows {
		return fmt.Errorf("constant of %d rows, expected %d", len(o.C), rows)
	}
	for i := range o.Parts {
		part := &o.Parts[i]
		if n := p.Rows(part.X); len(part.M) != rows*n || part.Lower && n != rows {
			return fmt.Errorf("part %d: matrix of %d numbers, expected %d×%d", i, len(part.M), rows, n)
		}
		if err := finite("matrix", part.M); err != nil {
			return err
		}
	}
	return finite("constant", o.C)
}

// affine evaluates an Affine.
type affine[T Float] struct {
	out        operand
	rows       int
	c          []T
	blocks     []affinePart[T]     // whose operands have as many columns as the result
	single     []affinePart[T]     // whose operands have one column and lane, while the result has more
	constant   Reg                 // c and the single parts
	directions []T                 // the tangents of single parts: rows × Seeds, as blocks
	unread     bool                // the values: a SinCos evaluates them
	kernel     func(m *Machine[T]) // evaluates the values; nil = the parts do
}

type affinePart[T Float] struct {
	x operand
	m matrix[T]
}

func newAffine[T Float](m *Machine[T], o *Affine) instruction[T] {
	if kernel := m.kernels[o.Out]; kernel != nil {
		return kernel(m.asIs(o.Out))
	}
	if linear := m.fusions.angles[o.Out]; linear != nil && m.fusions.sums[m.fusions.sinCos[o.Out]] != nil && m.layouts[o.Out].n > 1 && m.layouts[linear.X].n == m.layouts[o.Out].n {
		return nil // a featureSum reads what the angles are of
	}
	a := &affine[T]{out: m.asIs(o.Out), rows: m.layouts[o.Out].rows, constant: None}
	l := m.layouts[o.Out]
	single := m.single && l.n > 1
	a.unread = single && m.fusions.angles[o.Out] != nil && m.layouts[o.Parts[0].X].n == l.n || single && m.fusions.unread[o.Out]
	a.c = make([]T, simd.Padded(a.rows))
	for i, v := range o.C {
		a.c[i] = narrow[T](v)
	}
	for i := range o.Parts {
		part := &o.Parts[i]
		k := m.layouts[part.X].rows
		if m.layouts[part.X].n == 1 && l.n > 1 {
			a.single = append(a.single, affinePart[T]{x: m.asIs(part.X), m: newMatrix[T](a.rows, k, part.M, false, m.o.Seeds > 0, m.o.Adjoint)})
		} else {
			a.blocks = append(a.blocks, affinePart[T]{x: m.operand(part.X, o.Out), m: newMatrix[T](a.rows, k, part.M, part.Lower && k%simd.Rows == 0, l.n > 1 || m.o.Seeds > 1, m.o.Adjoint && l.n > 1)})
		}
	}
	if l.n > 1 {
		a.constant = m.fresh(newLayout(simd.Padded(a.rows), 1, 1), false)
		if n := simd.Padded(a.rows) * width; len(m.scratch) < n {
			m.scratch = make([]T, n)
		}
		for i := range a.blocks {
			if n := simd.Padded(m.layouts[a.blocks[i].x.r].rows) * width; len(m.scratch) < n {
				m.scratch = make([]T, n)
			}
		}
		if len(a.single) > 0 && a.out.active {
			t := newLayout(a.rows, m.o.Seeds, 1)
			a.directions = make([]T, simd.Padded(a.rows)*t.blocks*t.width)
		}
	}
	if a.unread && m.fusions.unread[o.Out] {
		m.squared[o.Out] = a
	}
	if single && m.fusions.squares[o.Parts[0].X] != nil {
		var all []*affine[T]
		for i := range o.Parts {
			all = append(all, m.squared[m.fusions.squares[o.Parts[i].X].Out])
		}
		a.kernel = func(m *Machine[T]) { a.sumSquares(m, all) }
	}
	return a
}

// sumSquares sets the result to the sum of the squares of the rows of others.
func (a *affine[T]) sumSquares(m *Machine[T], all []*affine[T]) {
	for _, of := range all {
		of.setConstant(m)
	}
	for b := range a.out.blocks {
		dst := any(rowOf(m.v[a.out.r], &a.out, 0, b)).([]float32)
		clear(dst)
		for _, of := range all {
			m.unit.SumSquares(dst, simd.Panels(of.rows), m.singleParts(m.v[of.constant], of.blocks, m.v, b))
		}
	}
}

func (a *affine[T]) value(m *Machine[T]) {
	switch {
	case a.unread:
		return
	case a.kernel != nil:
		a.kernel(m)
		return
	}
	out := m.v[a.out.r]
	if a.constant == None {
		copy(out, a.c[:a.rows])
		for i := range a.blocks {
			a.blocks[i].m.addVector(out, m.v[a.blocks[i].x.r])
		}
		return
	}
	c := a.setConstant(m)
	for b := range a.out.blocks {
		m.multiply(out[b*a.out.stride:], a.rows, c, a.blocks, m.v, b, 0, false)
	}
}

// setConstant sets what is the same in all columns, and returns it.
func (a *affine[T]) setConstant(m *Machine[T]) []T {
	c := m.v[a.constant]
	copy(c, a.c)
	for i := range a.single {
		a.single[i].m.addVector(c[:a.rows], m.v[a.single[i].x.r])
	}
	return c
}

func (a *affine[T]) tangent(m *Machine[T]) {
	if !a.out.active {
		return
	}
	out, t := m.d[a.out.r], &a.out.t
	if a.directions != nil {
		a.setDirections(m)
	}
	for c := range t.copies {
		for b := range t.blocks {
			dst := out[c*t.size+b*t.stride:]
			m.multiply(dst, a.rows, nil, a.blocks, m.d, b, c, true)
			if a.directions != nil {
				l := newLayout(a.rows, m.o.Seeds, 1)
				for r := range a.rows {
					x := a.directions[l.at(r, c)]
					for i := range dst[r*t.width : (r+1)*t.width] {
						dst[r*t.width+i] += x
					}
				}
			}
		}
	}
}

// setDirections sets the tangents of the single parts.
func (a *affine[T]) setDirections(m *Machine[T]) {
	l := newLayout(a.rows, m.o.Seeds, 1)
	if l.width == 1 {
		clear(a.directions)
		for i := range a.single {
			if a.single[i].x.active {
				a.single[i].m.addVector(a.directions[:a.rows], m.d[a.single[i].x.r])
			}
		}
		return
	}
	for b := range l.blocks {
		m.multiply(a.directions[b*l.stride:], a.rows, nil, a.single, m.d, b, 0, true)
	}
}

func (a *affine[T]) adjoint(m *Machine[T]) {
	bar := m.a[a.out.r]
	if a.constant == None {
		for i := range a.blocks {
			a.blocks[i].m.addTransposed(m.a[a.blocks[i].x.r], bar)
		}
		return
	}
	for i := range a.blocks {
		part := &a.blocks[i]
		for b := range a.out.blocks {
			m.multiplyTransposed(m.a[part.x.r][b%part.x.blocks*part.x.stride:], &part.m, bar[b*a.out.stride:])
		}
	}
	if len(a.single) == 0 {
		return
	}
	total := m.scratch[:a.rows]
	clear(total)
	for b := range a.out.blocks {
		for r := range total {
			total[r] += sum(bar[b*a.out.stride+r*width : b*a.out.stride+(r+1)*width])
		}
	}
	for i := range a.single {
		a.single[i].m.addTransposed(m.a[a.single[i].x.r], total)
	}
}

// matrix is a constant matrix in the layouts of the kernels.
type matrix[T Float] struct {
	rows, cols int
	dense      []T       // row-major
	panels     []float32 // of blocks, in single precision
	transposed []float32
	lower      bool
}

func newMatrix[T Float](rows, cols int, x []float64, lower, blocks, adjoint bool) matrix[T] {
	out := matrix[T]{rows: rows, cols: cols, dense: make([]T, len(x)), lower: lower}
	for i, v := range x {
		out.dense[i] = narrow[T](v)
	}
	if _, single := any(out.dense).([]float32); !single {
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

// addVector adds M x to y.
func (a *matrix[T]) addVector(y, x []T) {
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

// multiply sets a block of rows to c (nil = 0) and the products of the parts with block b of their
// registers: their values, or copy k of their tangents. Tangents of a register with n = 1 are a block
// of directions.
func (m *Machine[T]) multiply(dst []T, rows int, c []T, parts []affinePart[T], v [][]T, b, k int, tangents bool) {
	block := func(x *operand) []T {
		if tangents {
			return v[x.r][k*x.t.size+b%x.t.blocks*x.t.stride:]
		}
		return v[x.r][b%x.blocks*x.stride:]
	}
	if len(parts) > 0 && tangents && parts[0].x.t.width == 1 { // one direction of a register with n = 1
		clear(dst[:rows])
		for i := range parts {
			if parts[i].x.active {
				parts[i].m.addVector(dst[:rows], block(&parts[i].x))
			}
		}
		return
	}
	if single, ok := any(dst).([]float32); ok {
		list := m.parts[:0]
		if c != nil {
			list = append(list, simd.Part{L: any(c).([]float32), X: any(m.ones).([]float32), K: 1})
		}
		for i := range parts {
			x := &parts[i].x
			if tangents && !x.active {
				continue
			}
			list = append(list, parts[i].m.part(any(block(x)).([]float32)))
		}
		if len(list) == 0 {
			clear(single[:simd.Padded(rows)*width])
			return
		}
		m.unit.Product(single, simd.Panels(rows), list)
		return
	}
	for r := range rows {
		x := T(0)
		if c != nil {
			x = c[r]
		}
		fillRow(dst[r*width:(r+1)*width], x)
	}
	for i := range parts {
		if x := &parts[i].x; !tangents || x.active {
			m.addDouble(any(dst).([]float64), &parts[i].m, any(block(x)).([]float64))
		}
	}
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
	dense := any(a.dense).([]float64)
	if a.rows >= 4 && a.cols >= 8 {
		m.work.Mul(general(a.rows, width, Y), 1, false, general(a.rows, a.cols, dense), false, general(a.cols, width, X), 1)
		return
	}
	for r := range a.rows {
		y := Y[r*width : (r+1)*width]
		for c, v := range dense[r*a.cols : (r+1)*a.cols] {
			if v != 0 {
				addScaled(y, v, X[c*width:(c+1)*width])
			}
		}
	}
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
