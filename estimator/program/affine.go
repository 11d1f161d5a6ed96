package program

import (
	"fmt"
	"slices"

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
	parameters *Parameters         // nil = constants
	products   [][]simd.Part       // of the values of each block in single precision
}

type affinePart[T Float] struct {
	x operand
	m matrix[T]
}

func newAffine[T Float](m *Machine[T], o *Affine) instruction[T] {
	if kernel := m.kernels[o.Out]; kernel != nil {
		return kernel(m.asIs(o.Out))
	}
	l := &m.layouts[o.Out]
	linear := m.fusions.angles[o.Out] != nil && l.n > 1 && m.layouts[o.Parts[0].X].n == l.n
	if linear && m.fusions.sums[m.fusions.sinCos[o.Out]] != nil {
		return nil // a featureSum reads what the angles are of
	}
	a := &affine[T]{out: m.asIs(o.Out), rows: l.rows, constant: None, c: make([]T, simd.Padded(l.rows))}
	a.unread = m.single && l.n > 1 && (linear || m.fusions.unread[o.Out])
	for i, v := range o.C {
		a.c[i] = narrow[T](v)
	}
	for i := range o.Parts {
		a.add(m, &o.Parts[i], o.Out)
	}
	if l.n > 1 {
		a.take(m)
	}
	if m.single && l.n > 1 {
		a.fuse(m, o)
	}
	if slices.Contains(m.o.Trained, o) {
		a.train(m, o)
	}
	return a
}

// add adds a part.
func (a *affine[T]) add(m *Machine[T], part *Part, out Reg) {
	n, k := m.layouts[out].n, m.layouts[part.X].rows
	if m.layouts[part.X].n == 1 && n > 1 {
		a.single = append(a.single, affinePart[T]{m.asIs(part.X), newMatrix[T](a.rows, k, part.M, false, m.o.Seeds > 0, m.o.Adjoint)})
		return
	}
	lower := part.Lower && k%simd.Rows == 0
	a.blocks = append(a.blocks, affinePart[T]{m.operand(part.X, out), newMatrix[T](a.rows, k, part.M, lower, n > 1 || m.o.Seeds > 1, m.o.Adjoint && n > 1)})
}

// take takes the memory for blocks.
func (a *affine[T]) take(m *Machine[T]) {
	a.constant = m.fresh(newLayout(simd.Padded(a.rows), 1, 1), false)
	most := a.rows
	for i := range a.blocks {
		most = max(most, m.layouts[a.blocks[i].x.r].rows)
	}
	if n := simd.Padded(most) * width; len(m.scratch) < n {
		m.scratch = make([]T, n)
	}
	if len(a.single) > 0 && a.out.active {
		t := newLayout(a.rows, m.o.Seeds, 1)
		a.directions = make([]T, simd.Padded(a.rows)*t.blocks*t.width)
	}
}

// fuse notes what is squared and summed, or that this sums it.
func (a *affine[T]) fuse(m *Machine[T], o *Affine) {
	if m.fusions.unread[o.Out] {
		m.squared[o.Out] = a
	}
	if m.fusions.squares[o.Parts[0].X] == nil {
		return
	}
	var all []*affine[T]
	for i := range o.Parts {
		all = append(all, m.squared[m.fusions.squares[o.Parts[i].X].Out])
	}
	a.kernel = func(m *Machine[T]) { a.sumSquares(m, all) }
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
	a.multiply(m, a.setConstant(m))
}

// multiply sets the values of blocks: in single precision by products that are listed once, since they are of the same memory every time.
func (a *affine[T]) multiply(m *Machine[T], c []T) {
	out, single := any(m.v[a.out.r]).([]float32)
	if single && a.products == nil {
		for b := range a.out.blocks {
			a.products = append(a.products, slices.Clone(m.singleParts(c, a.blocks, m.v, b)))
		}
	}
	for b, parts := range a.products {
		m.unit.Product(out[b*a.out.stride:], simd.Panels(a.rows), parts)
	}
	if single {
		return
	}
	for b := range a.out.blocks {
		dst := blockOf(m.v[a.out.r], &a.out, b, 0, false)
		for r, x := range c[:a.rows] {
			fillRow(dst[r*width:(r+1)*width], x)
		}
		for i := range a.blocks {
			part := &a.blocks[i]
			m.addDouble(any(dst).([]float64), &part.m, any(blockOf(m.v[part.x.r], &part.x, b, 0, false)).([]float64))
		}
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
			m.multiply(dst, a.rows, a.blocks, m.d, b, c, true)
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
		m.multiply(a.directions[b*l.stride:], a.rows, a.single, m.d, b, 0, true)
	}
}

func (a *affine[T]) adjoint(m *Machine[T]) {
	bar := m.a[a.out.r]
	if a.constant == None {
		for i := range a.blocks {
			a.blocks[i].m.addTransposed(m.a[a.blocks[i].x.r], bar)
		}
		a.addParameters(m, bar, 0)
		return
	}
	if a.parameters != nil {
		for b := range a.out.blocks {
			a.addParameters(m, bar[b*a.out.stride:], b)
		}
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
