package program

import "fmt"

// Weigh is y_rj = w_rj x_rj + c_rj with constants for every row and column. Its tangent is w ẋ, its adjoint x̄ += w ȳ.
type Weigh struct {
	Out, X Reg
	W, C   []float64 // rows × columns of Out, or only rows: the same in all columns; C nil = 0
}

// Weigh appends the operation, of so many columns.
func (p *Program) Weigh(x Reg, cols int, w, c []float64) Reg {
	o := &Weigh{p.register(p.Rows(x), cols), x, w, c}
	p.append(o)
	return o.Out
}

func (o *Weigh) results() []Reg  { return []Reg{o.Out} }
func (o *Weigh) operands() []Reg { return []Reg{o.X} }

func (o *Weigh) check(p *Program) error {
	x, y := p.Shape(o.X), p.Shape(o.Out)
	if x.Rows != y.Rows || x.Cols != 1 && x.Cols != y.Cols || len(o.W) != y.Rows*y.Cols && len(o.W) != y.Rows || len(o.C) != 0 && len(o.C) != y.Rows*y.Cols && len(o.C) != y.Rows {
		return fmt.Errorf("%d weights and %d constants for %d×%d of %d×%d", len(o.W), len(o.C), y.Rows, y.Cols, x.Rows, x.Cols)
	}
	if err := finite("weights", o.W); err != nil {
		return err
	}
	return finite("constants", o.C)
}

type weigh[T Float] struct {
	out, x operand
	rows   int
	w, c   constants[T]
}

// constants are numbers for rows and columns in the layout of a register.
type constants[T Float] struct {
	v      []T
	stride int // numbers of a block
	width  int
	each   int // blocks that have the same numbers
	blocks int // that differ
}

func newConstants[T Float](l *layout, x []float64) constants[T] {
	c := constants[T]{stride: l.stride, width: l.width, each: max(1, l.lanes/width), blocks: l.blocks}
	if len(x) == l.rows {
		c.blocks = 1
	} else if l.lanes > 1 {
		c.blocks = l.cols
	}
	c.v = make([]T, c.blocks*c.stride)
	for r := range l.rows {
		for b := range c.blocks {
			for i, row := 0, c.row(r, b*c.each); i < len(row); i++ {
				at := r*len(x)/l.rows + min(b*l.width*c.each/l.lanes+i/l.lanes, len(x)/l.rows-1)
				row[i] = narrow[T](x[at])
			}
		}
	}
	return c
}

// block returns the first n constants of a block.
func (c *constants[T]) block(b, n int) []T { return c.v[b/c.each%c.blocks*c.stride:][:n] }

// row returns the constants of a row in a block.
func (c *constants[T]) row(r, b int) []T { return c.block(b, c.stride)[r*c.width:][:c.width] }

func newWeigh[T Float](m *Machine[T], o *Weigh) instruction[T] {
	l := &m.layouts[o.Out]
	i := &weigh[T]{out: m.asIs(o.Out), x: m.operand(o.X, o.Out), rows: l.rows, w: newConstants[T](l, o.W)}
	if len(o.C) > 0 {
		i.c = newConstants[T](l, o.C)
	}
	return i
}

func (o *weigh[T]) value(m *Machine[T]) {
	n := o.rows * o.out.width
	for b := range o.out.blocks {
		y := m.v[o.out.r][b*o.out.stride:][:n]
		multiplyRows(y, o.w.block(b, n), blockOf(m.v[o.x.r], &o.x, b, 0, false)[:n])
		if len(o.c.v) > 0 {
			addScaled(y, 1, o.c.block(b, n))
		}
	}
}

func (o *weigh[T]) tangent(m *Machine[T]) {
	if !o.out.active {
		return
	}
	t := &o.out.t
	for c := range t.copies {
		for b := range t.blocks {
			for r := range o.rows {
				y := tangentRow(m.d[o.out.r], t, r, b, c)
				clear(y)
				addProduct(y, 1, o.w.row(r, b%o.out.blocks), tangentRow(m.d[o.x.r], &o.x.t, r, b, c))
			}
		}
	}
}

func (o *weigh[T]) adjoint(m *Machine[T]) {
	for b := range o.out.blocks {
		for r := range o.rows {
			addProduct(rowOf(m.a[o.x.r], &o.x, r, b), 1, o.w.row(r, b), rowOf(m.a[o.out.r], &o.out, r, b))
		}
	}
}
