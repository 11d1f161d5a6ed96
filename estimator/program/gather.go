package program

import "fmt"

// Gather takes rows from other registers. Its tangent and its adjoint take and add the same rows.
type Gather struct {
	Out  Reg
	From []Row
}

// Row is a row of a register.
type Row struct {
	Reg Reg
	Row int
}

// Gather appends the operation.
func (p *Program) Gather(from ...Row) Reg {
	regs := make([]Reg, len(from))
	for i, f := range from {
		regs[i] = f.Reg
	}
	o := &Gather{p.register(len(from), p.columns(regs...)), from}
	p.append(o)
	return o.Out
}

// Stack appends the rows of registers below one another. One register is itself.
func (p *Program) Stack(regs ...Reg) Reg {
	if len(regs) == 1 {
		return regs[0]
	}
	var rows []Row
	for _, r := range regs {
		for i := range p.Rows(r) {
			rows = append(rows, Row{r, i})
		}
	}
	return p.Gather(rows...)
}

// Some appends the rows of a register at places.
func (p *Program) Some(r Reg, places ...int) Reg {
	rows := make([]Row, len(places))
	for i, at := range places {
		rows[i] = Row{r, at}
	}
	return p.Gather(rows...)
}

func (o *Gather) results() []Reg { return []Reg{o.Out} }

func (o *Gather) operands() (out []Reg) {
	for _, f := range o.From {
		if n := len(out); n == 0 || out[n-1] != f.Reg {
			out = append(out, f.Reg)
		}
	}
	return out
}

func (o *Gather) check(p *Program) error {
	if len(o.From) != p.Rows(o.Out) || p.columns(o.operands()...) != p.Shape(o.Out).Cols {
		return fmt.Errorf("%d rows, or columns that do not agree", len(o.From))
	}
	for i, f := range o.From {
		if f.Row < 0 || f.Row >= p.Rows(f.Reg) {
			return fmt.Errorf("row %d is row %d of %d", i, f.Row, p.Rows(f.Reg))
		}
	}
	return nil
}

// gather copies runs of rows.
type gather[T Float] struct {
	out  operand
	runs []run
}

// run is consecutive rows of one register.
type run struct {
	from       operand
	row, to, n int
}

func newGather[T Float](m *Machine[T], o *Gather) instruction[T] {
	if m.alias(o) {
		return nil
	}
	i := &gather[T]{out: m.asIs(o.Out)}
	for to, f := range o.From {
		if n := len(i.runs); n > 0 && o.From[to-1].Reg == f.Reg && o.From[to-1].Row+1 == f.Row {
			i.runs[n-1].n++
			continue
		}
		i.runs = append(i.runs, run{from: m.operand(f.Reg, o.Out), row: f.Row, to: to, n: 1})
	}
	return i
}

// alias is a register that is another one from a number on.
type alias struct {
	r, from Reg
	first   int
}

// alias makes the result consecutive rows of the register that they are of, and reports whether it could: nothing is
// copied then.
func (m *Machine[T]) alias(o *Gather) bool {
	from := o.From[0]
	for i, f := range o.From {
		if f.Reg != from.Reg || f.Row != from.Row+i {
			return false
		}
	}
	l, of := &m.layouts[o.Out], &m.layouts[from.Reg]
	if l.n != of.n || l.lanes != of.lanes || l.n == 1 && m.active[o.Out] {
		return false
	}
	l.stride = of.stride
	first := from.Row * l.width
	m.aliases[o.Out] = true
	m.rowsOf = append(m.rowsOf, alias{o.Out, from.Reg, first})
	m.v[o.Out] = m.v[from.Reg][first:]
	if m.active[from.Reg] {
		m.d[o.Out] = m.d[from.Reg][first:]
	}
	if m.o.Adjoint {
		m.a[o.Out] = m.a[from.Reg][first:]
	}
	return true
}

func (o *gather[T]) value(m *Machine[T]) {
	v := m.v[o.out.r]
	for b := range o.out.blocks {
		for i := range o.runs {
			r := &o.runs[i]
			w := o.out.width
			copy(v[b*o.out.stride+r.to*w:][:r.n*w], m.v[r.from.r][b%r.from.blocks*r.from.stride+r.row*w:])
		}
	}
}

func (o *gather[T]) tangent(m *Machine[T]) {
	if !o.out.active {
		return
	}
	d, t := m.d[o.out.r], &o.out.t
	for c := range t.copies {
		for b := range t.blocks {
			for i := range o.runs {
				r := &o.runs[i]
				to := d[c*t.size+b*t.stride+r.to*t.width:][:r.n*t.width]
				if r.from.active {
					copy(to, m.d[r.from.r][c*r.from.t.size+b%r.from.t.blocks*r.from.t.stride+r.row*t.width:])
				} else {
					clear(to)
				}
			}
		}
	}
}

func (o *gather[T]) adjoint(m *Machine[T]) {
	for b := range o.out.blocks {
		for i := range o.runs {
			r := &o.runs[i]
			w := o.out.width
			addScaled(m.a[r.from.r][b%r.from.blocks*r.from.stride+r.row*w:][:r.n*w], 1, m.a[o.out.r][b*o.out.stride+r.to*w:])
		}
	}
}
