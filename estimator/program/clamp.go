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
	low, high []T
}

func newClamp[T Float](m *Machine[T], o *Clamp) instruction[T] {
	i := &clamp[T]{out: m.asIs(o.Out), x: m.asIs(o.X)}
	for r := range o.Low {
		i.low, i.high = append(i.low, T(o.Low[r])), append(i.high, T(o.High[r]))
	}
	return i
}

func (o *clamp[T]) value(m *Machine[T]) {
	for b := range o.out.blocks {
		for r, low := range o.low {
			x, y, high := rowOf(m.v[o.x.r], &o.x, r, b), rowOf(m.v[o.out.r], &o.out, r, b), o.high[r]
			for i, v := range x {
				switch { // NaN stays NaN
				case v < low:
					v = low
				case v > high:
					v = high
				}
				y[i] = v
			}
		}
	}
}

// within writes ones and zeros to the machine's rows: where no bound of row r holds in block b.
func (o *clamp[T]) within(m *Machine[T], r, b int) []T {
	x := rowOf(m.v[o.x.r], &o.x, r, b)
	in := m.mask[:len(x)]
	for i, v := range x {
		in[i] = 1
		if v < o.low[r] || v > o.high[r] {
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
		for r := range o.low {
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
		for r, low := range o.low {
			if v := x[r]; v >= low && v <= o.high[r] {
				to[r] += bar[r]
			}
		}
		return
	}
	for b := range o.out.blocks {
		for r := range o.low {
			addProduct(rowOf(m.a[o.x.r], &o.x, r, b), 1, o.within(m, r, b), rowOf(m.a[o.out.r], &o.out, r, b))
		}
	}
}
