package program

import "fmt"

// Largest is y_r, the largest of the rows r, R + r, 2R + r, … of x, where R is the number of rows of y. Tangent
// and adjoint are those of the first row that is the largest.
type Largest struct{ Out, X Reg }

// Largest appends the operation, of so many rows.
func (p *Program) Largest(rows int, x Reg) Reg {
	o := &Largest{p.register(rows, p.Shape(x).Cols), x}
	p.append(o)
	return o.Out
}

func (o *Largest) results() []Reg  { return []Reg{o.Out} }
func (o *Largest) operands() []Reg { return []Reg{o.X} }

func (o *Largest) check(p *Program) error {
	if n, x := p.Rows(o.Out), p.Shape(o.X); n == 0 || x.Rows%n != 0 || x.Rows == 0 || x.Cols != p.Shape(o.Out).Cols {
		return fmt.Errorf("%d rows of %d", n, x.Rows)
	}
	return nil
}

type largest[T Float] struct {
	out, x       operand
	rows, groups int
}

func newLargest[T Float](m *Machine[T], o *Largest) instruction[T] {
	rows := m.layouts[o.Out].rows
	return &largest[T]{m.asIs(o.Out), m.asIs(o.X), rows, m.layouts[o.X].rows / rows}
}

func (o *largest[T]) value(m *Machine[T]) {
	for b := range o.out.blocks {
		for r := range o.rows {
			y := rowOf(m.v[o.out.r], &o.out, r, b)
			copy(y, rowOf(m.v[o.x.r], &o.x, r, b))
			for g := 1; g < o.groups; g++ {
				for i, v := range rowOf(m.v[o.x.r], &o.x, g*o.rows+r, b) {
					if v > y[i] || v != v {
						y[i] = v
					}
				}
			}
		}
	}
}

// first writes ones to the machine's mask where group g is the first whose row r is the largest in block b.
func (o *largest[T]) first(m *Machine[T], r, g, b int) []T {
	y := rowOf(m.v[o.out.r], &o.out, r, b)
	in := m.mask[:len(y)]
	for i, v := range rowOf(m.v[o.x.r], &o.x, g*o.rows+r, b) {
		in[i] = 0
		if v == y[i] {
			in[i] = 1
		}
	}
	for before := range g {
		for i, v := range rowOf(m.v[o.x.r], &o.x, before*o.rows+r, b) {
			if v == y[i] {
				in[i] = 0
			}
		}
	}
	return in
}

func (o *largest[T]) tangent(m *Machine[T]) {
	if !o.out.active {
		return
	}
	t := &o.out.t
	for b := range t.blocks {
		for r := range o.rows {
			for c := range t.copies {
				clear(tangentRow(m.d[o.out.r], t, r, b, c))
			}
			for g := range o.groups {
				in := o.first(m, r, g, b)
				for c := range t.copies {
					addProduct(tangentRow(m.d[o.out.r], t, r, b, c), 1, in, tangentRow(m.d[o.x.r], &o.x.t, g*o.rows+r, b, c))
				}
			}
		}
	}
}

func (o *largest[T]) adjoint(m *Machine[T]) {
	for b := range o.out.blocks {
		for r := range o.rows {
			for g := range o.groups {
				addProduct(rowOf(m.a[o.x.r], &o.x, g*o.rows+r, b), 1, o.first(m, r, g, b), rowOf(m.a[o.out.r], &o.out, r, b))
			}
		}
	}
}
