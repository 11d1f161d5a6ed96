package program

import "fmt"

// Columns is y(:,j) = Σ_i x(:,i) m_ij: means over columns, interpolation, a choice. Its tangent is that of ẋ, its adjoint
// x̄(:,i) += Σ_j m_ij ȳ(:,j).
type Columns struct {
	Out, X  Reg
	Entries []Entry // by ascending To
}

// Entry is an entry of the matrix m.
type Entry struct {
	To, From int
	W        float64
}

// Columns appends the operation, with so many columns.
func (p *Program) Columns(x Reg, cols int, entries []Entry) Reg {
	o := &Columns{p.register(p.Rows(x), cols), x, entries}
	p.append(o)
	return o.Out
}

func (o *Columns) results() []Reg  { return []Reg{o.Out} }
func (o *Columns) operands() []Reg { return []Reg{o.X} }

func (o *Columns) check(p *Program) error {
	x, y := p.Shape(o.X), p.Shape(o.Out)
	if x.Rows != y.Rows {
		return fmt.Errorf("%d rows of %d", y.Rows, x.Rows)
	}
	last := 0
	for i, e := range o.Entries {
		if e.To < last || e.To >= y.Cols || e.From < 0 || e.From >= x.Cols {
			return fmt.Errorf("entry %d: from column %d to %d, out of range or order", i, e.From, e.To)
		}
		if err := finite("entry", []float64{e.W}); err != nil {
			return err
		}
		last = e.To
	}
	return nil
}

type columns[T Float] struct {
	out, x  operand
	entries []entry[T]
	lanes   int
}

type entry[T Float] struct {
	to, from int
	w        T
}

func newColumns[T Float](m *Machine[T], o *Columns) instruction[T] {
	i := &columns[T]{out: m.asIs(o.Out), x: m.asIs(o.X), lanes: m.layouts[o.Out].lanes}
	for _, e := range o.Entries {
		i.entries = append(i.entries, entry[T]{e.To, e.From, narrow[T](e.W)})
	}
	return i
}

func (o *columns[T]) value(m *Machine[T]) {
	o.apply(m.v[o.out.r], m.v[o.x.r], &m.layouts[o.out.r], &m.layouts[o.x.r])
	if o.lanes == 1 {
		for r := range m.layouts[o.out.r].rows {
			m.fill(m.v[o.out.r], &m.layouts[o.out.r], r)
		}
	}
}

// apply writes the sums of columns of x to those of y.
func (o *columns[T]) apply(y, x []T, ly, lx *layout) {
	clear(y[:ly.size()])
	if o.lanes > 1 {
		each, n := o.lanes/width, ly.rows*width
		for i := range o.entries {
			e := &o.entries[i]
			for b := range each {
				addScaled(y[(e.to*each+b)*ly.stride:][:n], e.w, x[(e.from*each+b)*lx.stride:])
			}
		}
		return
	}
	for i := range o.entries {
		e := &o.entries[i]
		to, from := ly.at(0, e.to), lx.at(0, e.from)
		for range ly.rows {
			y[to] += e.w * x[from]
			to += ly.width
			from += lx.width
		}
	}
}

func (o *columns[T]) tangent(m *Machine[T]) {
	if !o.out.active {
		return
	}
	ly, lx := &m.layouts[o.out.r], &m.layouts[o.x.r]
	if ly.n > 1 && lx.n > 1 {
		for c := range m.o.Seeds {
			y := m.d[o.out.r][c*ly.size() : (c+1)*ly.size()]
			o.apply(y, m.d[o.x.r][c*lx.size():], ly, lx)
			if o.lanes == 1 {
				for r := range ly.rows {
					m.fill(y, ly, r)
				}
			}
		}
		return
	}
	y := m.d[o.out.r]
	clear(y)
	for c := range m.o.Seeds {
		for i := range o.entries {
			e := &o.entries[i]
			for r := range ly.rows {
				y[m.tangentAt(o.out.r, r, e.to, c)] += e.w * m.d[o.x.r][m.tangentAt(o.x.r, r, e.from, c)]
			}
		}
		for r := 0; r < ly.rows && ly.n > 1; r++ {
			m.fill(y[c*ly.size():(c+1)*ly.size()], ly, r)
		}
	}
}

func (o *columns[T]) adjoint(m *Machine[T]) {
	y, x, ly, lx := m.a[o.out.r], m.a[o.x.r], &m.layouts[o.out.r], &m.layouts[o.x.r]
	for i := range o.entries {
		e := &o.entries[i]
		if o.lanes > 1 {
			each := o.lanes / width
			for b := range each {
				addScaled(x[(e.from*each+b)*lx.stride:][:ly.rows*width], e.w, y[(e.to*each+b)*ly.stride:])
			}
			continue
		}
		for r := range ly.rows {
			x[lx.at(r, e.from)] += e.w * y[ly.at(r, e.to)]
		}
	}
}
