package program

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// Local is y(:,j) = M_j x(:,j), with a matrix for every column. Its tangent is M_j ẋ(:,j), its adjoint
// x̄(:,j) += M_jᵀ ȳ(:,j). It costs as many multiply-adds as the matrices have numbers, for every lane.
type Local struct {
	Out, X Reg
	M      []float64 // columns of Out × rows of Out × rows of X
}

// Local appends the operation, of so many rows and columns.
func (p *Program) Local(x Reg, rows, cols int, m []float64) Reg {
	o := &Local{p.register(rows, cols), x, m}
	p.append(o)
	return o.Out
}

func (o *Local) results() []Reg  { return []Reg{o.Out} }
func (o *Local) operands() []Reg { return []Reg{o.X} }

func (o *Local) check(p *Program) error {
	x, y := p.Shape(o.X), p.Shape(o.Out)
	if x.Cols != 1 && x.Cols != y.Cols || len(o.M) != y.Cols*y.Rows*x.Rows {
		return fmt.Errorf("matrices of %d numbers, expected %d×%d×%d", len(o.M), y.Cols, y.Rows, x.Rows)
	}
	return finite("matrices", o.M)
}

// localOfVector multiplies one column with all matrices.
type localOfVector[T Float] struct {
	out, x     operand
	rows, cols int
	part       []affinePart[T] // columns·rows × rows of x
	directions []T             // the tangents of a block of directions
}

// localByColumn multiplies columns side by side, number by number.
type localByColumn[T Float] struct {
	out, x     operand
	rows, cols int
	m          constants[T] // rows·cols rows
}

// localByLane multiplies each column's lanes as a block.
type localByLane[T Float] struct {
	out  operand
	rows int
	each int
	part [][]affinePart[T] // of each column
}

func newLocal[T Float](m *Machine[T], o *Local) instruction[T] {
	l, k := m.layouts[o.Out], m.layouts[o.X].rows
	if m.layouts[o.X].n == 1 && l.n > 1 && l.lanes == 1 {
		i := &localOfVector[T]{out: m.asIs(o.Out), x: m.asIs(o.X), rows: l.rows, cols: l.cols, part: make([]affinePart[T], 1)}
		i.part[0] = affinePart[T]{x: i.x, m: newMatrix[T](l.rows*l.cols, k, o.M, false, m.o.Seeds > 1, false)}
		if i.out.active {
			i.directions = make([]T, simd.Padded(l.rows*l.cols)*i.x.t.width)
		}
		return i
	}
	if l.lanes == 1 {
		all := newLayout(l.rows*k, l.cols, 1)
		x := make([]float64, len(o.M))
		for j := range l.cols {
			for i := range l.rows * k {
				x[i*l.cols+j] = o.M[j*l.rows*k+i]
			}
		}
		return &localByColumn[T]{m.asIs(o.Out), m.operand(o.X, o.Out), l.rows, k, newConstants[T](&all, x)}
	}
	i := &localByLane[T]{out: m.asIs(o.Out), rows: l.rows, each: l.lanes / width}
	x := m.operand(o.X, o.Out)
	for j := range l.cols {
		i.part = append(i.part, []affinePart[T]{{x: x, m: newMatrix[T](l.rows, k, o.M[j*l.rows*k:(j+1)*l.rows*k], false, true, m.o.Adjoint)}})
	}
	if n := max(len(m.scratch), (max(l.rows, k)+4)*width); len(m.scratch) < n {
		m.scratch = make([]T, n)
	}
	return i
}

func (o *localOfVector[T]) value(m *Machine[T]) {
	l, a, x := &m.layouts[o.out.r], &o.part[0].m, m.v[o.x.r]
	for j := range o.cols {
		for r := range o.rows {
			m.v[o.out.r][l.at(r, j)] = a.dot(j*o.rows+r, x)
		}
	}
	for r := range o.rows {
		m.fill(m.v[o.out.r], l, r)
	}
}

func (o *localOfVector[T]) tangent(m *Machine[T]) {
	if !o.out.active {
		return
	}
	l, t := &m.layouts[o.out.r], &o.x.t
	for b := range t.blocks {
		m.multiply(o.directions, o.rows*o.cols, o.part, m.d, b, 0, true)
		for c := b * t.width; c < min((b+1)*t.width, m.o.Seeds); c++ {
			y := m.d[o.out.r][c*l.size():]
			for j := range o.cols {
				for r := range o.rows {
					y[l.at(r, j)] = o.directions[(j*o.rows+r)*t.width+c%t.width]
				}
			}
			for r := range o.rows {
				m.fill(y, l, r)
			}
		}
	}
}

func (o *localOfVector[T]) adjoint(m *Machine[T]) {
	l, a := &m.layouts[o.out.r], &o.part[0].m
	for j := range o.cols {
		for r := range o.rows {
			if bar := m.a[o.out.r][l.at(r, j)]; bar != 0 {
				at := (j*o.rows + r) * a.cols
				addScaled(m.a[o.x.r][:a.cols], bar, a.dense[at:at+a.cols])
			}
		}
	}
}

func (o *localByColumn[T]) value(m *Machine[T]) {
	for b := range o.out.blocks {
		for r := range o.rows {
			y := rowOf(m.v[o.out.r], &o.out, r, b)
			clear(y)
			for k := range o.cols {
				addProduct(y, 1, o.m.row(r*o.cols+k, b), rowOf(m.v[o.x.r], &o.x, k, b))
			}
		}
	}
}

func (o *localByColumn[T]) tangent(m *Machine[T]) {
	if !o.out.active {
		return
	}
	t := &o.out.t
	for c := range t.copies {
		for b := range t.blocks {
			for r := range o.rows {
				y := tangentRow(m.d[o.out.r], t, r, b, c)
				clear(y)
				for k := range o.cols {
					addProduct(y, 1, o.m.row(r*o.cols+k, b%o.out.blocks), tangentRow(m.d[o.x.r], &o.x.t, k, b, c))
				}
			}
		}
	}
}

func (o *localByColumn[T]) adjoint(m *Machine[T]) {
	for b := range o.out.blocks {
		for r := range o.rows {
			bar := rowOf(m.a[o.out.r], &o.out, r, b)
			for k := range o.cols {
				addProduct(rowOf(m.a[o.x.r], &o.x, k, b), 1, o.m.row(r*o.cols+k, b), bar)
			}
		}
	}
}

func (o *localByLane[T]) value(m *Machine[T]) {
	for b := range o.out.blocks {
		m.multiply(m.v[o.out.r][b*o.out.stride:], o.rows, o.part[b/o.each], m.v, b, 0, false)
	}
}

func (o *localByLane[T]) tangent(m *Machine[T]) {
	if !o.out.active {
		return
	}
	t := &o.out.t
	for c := range t.copies {
		for b := range t.blocks {
			m.multiply(m.d[o.out.r][c*t.size+b*t.stride:], o.rows, o.part[b/o.each], m.d, b, c, true)
		}
	}
}

func (o *localByLane[T]) adjoint(m *Machine[T]) {
	for b := range o.out.blocks {
		p := &o.part[b/o.each][0]
		m.multiplyTransposed(m.a[p.x.r][b%p.x.blocks*p.x.stride:], &p.m, m.a[o.out.r][b*o.out.stride:])
	}
}
