package program

import "fmt"

// Clamp is y_r = min(max(x_r, Low_r), High_r). Where a bound holds tangent and adjoint are 0.
type Clamp struct {
	Out, X    Reg
	Low, High []float64 // rows of X; ±Inf is no bound
}

// Clamp appends the operation.
func (p *Program) Clamp(x Reg, low, high []float64) Reg {
	s := p.Shape(x)
	o := &Clamp{p.register(s.Rows, s.Cols), x, low, high}
	p.append(o)
	return o.Out
}

func (o *Clamp) results() []Reg  { return []Reg{o.Out} }
func (o *Clamp) operands() []Reg { return []Reg{o.X} }

func (o *Clamp) check(p *Program) error {
	if n := p.Rows(o.X); p.Shape(o.X) != p.Shape(o.Out) || len(o.Low) != n || len(o.High) != n {
		return fmt.Errorf("%d and %d bounds of %d rows, or shapes that differ", len(o.Low), len(o.High), n)
	}
	for i, low := range o.Low {
		if !(low <= o.High[i]) {
			return fmt.Errorf("bounds %v and %v of row %d", low, o.High[i], i)
		}
	}
	return nil
}

type clamp[T Float] struct {
	out, x    operand
	rows      int
	low, high constants[T]
}

func newClamp[T Float](m *Machine[T], o *Clamp) instruction[T] {
	l := &m.layouts[o.Out]
	return &clamp[T]{out: m.asIs(o.Out), x: m.asIs(o.X), rows: l.rows, low: newConstants[T](l, o.Low), high: newConstants[T](l, o.High)}
}

func (o *clamp[T]) value(m *Machine[T]) {
	n := o.rows * o.out.width
	low, high := o.low.block(0, n), o.high.block(0, n)
	for b := range o.out.blocks {
		m.clampRows(blockOf(m.v[o.out.r], &o.out, b, 0, false)[:n], blockOf(m.v[o.x.r], &o.x, b, 0, false), low, high)
	}
}

// within writes ones and zeros to the machine's rows: where no bound of row r holds in block b.
func (o *clamp[T]) within(m *Machine[T], r, b int) []T {
	x, low, high := rowOf(m.v[o.x.r], &o.x, r, b), o.low.row(r, 0), o.high.row(r, 0)
	in := m.mask[:len(x)]
	for i, v := range x {
		in[i] = 1
		if v < low[i] || v > high[i] {
			in[i] = 0
		}
	}
	return in
}

func (o *clamp[T]) tangent(m *Machine[T]) {
	if !o.out.active {
		return
	}
	t := &o.out.t
	for b := range t.blocks {
		for r := range o.rows {
			in := o.within(m, r, b)
			for c := range t.copies {
				y := tangentRow(m.d[o.out.r], t, r, b, c)
				clear(y)
				addProduct(y, 1, in, tangentRow(m.d[o.x.r], &o.x.t, r, b, c))
			}
		}
	}
}

func (o *clamp[T]) adjoint(m *Machine[T]) {
	if o.out.width == 1 {
		x, to, bar := m.v[o.x.r], m.a[o.x.r], m.a[o.out.r]
		for r, low := range o.low.v {
			if v := x[r]; v >= low && v <= o.high.v[r] {
				to[r] += bar[r]
			}
		}
		return
	}
	for b := range o.out.blocks {
		for r := range o.rows {
			addProduct(rowOf(m.a[o.x.r], &o.x, r, b), 1, o.within(m, r, b), rowOf(m.a[o.out.r], &o.out, r, b))
		}
	}
}
