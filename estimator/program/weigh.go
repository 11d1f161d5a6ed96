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

// constants are numbers for rows and columns: as a layout where lanes are one, else one number for a row of
// a block.
type constants[T Float] struct {
	v     []T
	rows  int
	each  int // blocks of a column; 0: v has the layout of the register
	width int
	same  bool // in all columns
}

func newConstants[T Float](l *layout, x []float64) constants[T] {
	if len(x) == l.rows {
		c := constants[T]{rows: l.rows, width: 1, same: true}
		for _, v := range x {
			c.v = append(c.v, narrow[T](v))
		}
		return c
	}
	if l.lanes == 1 {
		c := constants[T]{v: make([]T, l.size()), rows: l.stride / l.width, width: l.width}
		for r := range l.rows {
			for j := range l.blocks * l.width {
				c.v[l.at(r, j)] = narrow[T](x[r*l.cols+min(j, l.cols-1)])
			}
		}
		return c
	}
	c := constants[T]{rows: l.rows, each: l.lanes / width, width: 1, v: make([]T, l.rows*l.cols)}
	for r := range l.rows {
		for j := range l.cols {
			c.v[j*l.rows+r] = narrow[T](x[r*l.cols+j])
		}
	}
	return c
}

// stored reports whether the constants of a block stand as its numbers do.
func (c *constants[T]) stored() bool { return c.each == 0 && !c.same && c.width > 1 }

// block returns the first n constants of a block that are stored.
func (c *constants[T]) block(b, n int) []T { return c.v[b*c.rows*c.width:][:n] }

// row returns the constants of a row in a block: as many as it is wide, or one.
func (c *constants[T]) row(r, block int) []T {
	switch {
	case c.same:
		block = 0
	case c.each > 0:
		block /= c.each
	}
	at := (block*c.rows + r) * c.width
	return c.v[at : at+c.width]
}

func newWeigh[T Float](m *Machine[T], o *Weigh) instruction[T] {
	l := &m.layouts[o.Out]
	i := &weigh[T]{out: m.asIs(o.Out), x: m.operand(o.X, o.Out), rows: l.rows, w: newConstants[T](l, o.W)}
	if len(o.C) > 0 {
		i.c = newConstants[T](l, o.C)
	}
	return i
}

func (o *weigh[T]) value(m *Machine[T]) {
	for b := range o.out.blocks {
		if o.w.stored() && (len(o.c.v) == 0 || o.c.stored()) {
			n := o.rows * o.out.width
			y := m.v[o.out.r][b*o.out.stride:][:n]
			multiplyRows(y, o.w.block(b, n), m.v[o.x.r][b%o.x.blocks*o.x.stride:][:n])
			if len(o.c.v) > 0 {
				addScaled(y, 1, o.c.block(b, n))
			}
			continue
		}
		for r := range o.rows {
			o.row(m, r, b)
		}
	}
}

// row evaluates row r of block b.
func (o *weigh[T]) row(m *Machine[T], r, b int) {
	x, y, w := rowOf(m.v[o.x.r], &o.x, r, b), rowOf(m.v[o.out.r], &o.out, r, b), o.w.row(r, b)
	var c []T
	if len(o.c.v) > 0 {
		c = o.c.row(r, b)
	}
	switch {
	case len(c) > 1:
		copy(y, c)
		addProduct(y, 1, w, x)
	case len(w) > 1:
		multiplyRows(y, w, x)
		if len(c) > 0 {
			addScaled(y, c[0], m.ones[:len(y)])
		}
	default:
		constant := T(0)
		if len(c) > 0 {
			constant = c[0]
		}
		for i, v := range x {
			y[i] = w[0]*v + constant
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
