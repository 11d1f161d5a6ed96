package c99

import (
	"fmt"
	"slices"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// lowering is a program that is being lowered.
type lowering struct {
	*builder
	p     *program.Program
	known map[program.Reg]*value // registers with all their columns
	main  *scope                 // of operations on one column
}

// lower appends the instructions of a program whose inputs have values.
func lower(b *builder, p *program.Program, inputs map[program.Reg]*value) *lowering {
	l := &lowering{builder: b, p: p, known: inputs}
	l.main = &scope{builder: b, p: p, columns: 1, known: l.known, outside: l.constant}
	for _, g := range groupsOf(p) {
		if g.columns == 0 {
			for _, i := range g.ops {
				l.serial(p.Ops[i])
			}
		} else {
			l.region(&g)
		}
	}
	return l
}

// constant returns the value of a register that nothing sets.
func (l *lowering) constant(r program.Reg) *value {
	for _, c := range l.p.Constants {
		if s := l.p.Shape(r); c.Reg == r {
			return &value{rows: s.Rows, width: s.Cols, array: l.reals(c.Values)}
		}
	}
	panic(fmt.Sprintf("c99: register %d is not set", r))
}

// whole returns the value of a register with all columns, which it makes where nothing has set it yet.
func (l *lowering) whole(r program.Reg) *value {
	if v, ok := l.known[r]; ok {
		return v
	}
	if slices.ContainsFunc(l.p.Constants, func(c program.Constant) bool { return c.Reg == r }) {
		return l.main.get(r)
	}
	s := l.p.Shape(r)
	v := l.fresh(s.Rows, s.Cols)
	l.known[r] = v
	return v
}

// serial appends an operation on one column, or on whole registers.
func (l *lowering) serial(o program.Operation) {
	if c, ok := o.(*program.Columns); ok {
		l.sumColumns(c, l.whole(c.Out), l.whole(c.X))
		return
	}
	l.main.operation(o, l.whole)
}

// region appends a loop over the columns of a group of operations.
func (l *lowering) region(g *group) {
	columns := 1
	if g.columns >= width {
		columns = width
	}
	var prelude, body []instruction
	list := l.list
	l.list, l.prelude = &body, &prelude
	s := &scope{builder: l.builder, p: l.p, columns: columns, first: "c", known: map[program.Reg]*value{}, column: l.main.get}
	s.outside = func(r program.Reg) *value { return l.enter(s, r) }
	for _, i := range g.ops {
		s.operation(l.p.Ops[i], nil)
		for _, r := range program.Results(l.p.Ops[i]) {
			if g.kept[r] {
				l.store(s, r)
			}
		}
	}
	l.list, l.prelude = list, nil
	*l.list = append(*l.list, prelude...)
	l.loop(func() string {
		if columns == 1 {
			return fmt.Sprintf("for (int c = 0; c < %d; c++) {", g.columns)
		}
		return fmt.Sprintf("for (int b = 0; b < %d; b += %d) {\n    const int c = b < %d ? b : %d;", g.columns, columns, g.columns-columns, g.columns-columns)
	})
	*l.list = append(*l.list, body...)
	l.endLoop()
}

// enter returns the block of a register from outside of a region: one column stands in all columns.
func (l *lowering) enter(s *scope, r program.Reg) *value {
	from := l.main.get(r)
	if from.width == 1 && s.columns == 1 && l.p.Shape(r).Cols == 1 {
		return from
	}
	v := l.fresh(from.rows, s.columns)
	v.active = from.active
	if l.p.Shape(r).Cols == 1 {
		s.before(func() {
			s.call("spread", s.columns, of(v), of(from), v.rows)
			if v.active {
				s.call("spread", s.columns, tangent(v), tangent(from), v.rows)
			}
		})
		return v
	}
	s.call("load", s.columns, of(v), of(from).columns(s.first), v.rows, from.width)
	if v.active {
		s.call("load", s.columns, tangent(v), tangent(from).columns(s.first), v.rows, from.width)
	}
	return v
}

// store writes the block of a register to the whole one, for those outside of the region.
func (l *lowering) store(s *scope, r program.Reg) {
	v, to := s.known[r], l.whole(r)
	to.active = v.active
	s.call("store", s.columns, of(to).columns(s.first), of(v), v.rows, to.width)
	if v.active {
		s.call("store", s.columns, tangent(to).columns(s.first), tangent(v), v.rows, to.width)
	}
}

// operation appends an operation on columns.
func (s *scope) operation(o program.Operation, whole func(r program.Reg) *value) {
	switch o := o.(type) {
	case *program.Affine:
		s.affine(o)
	case *program.Local:
		s.local(o)
	case *program.Products:
		s.products(o)
	case *program.Weigh:
		s.weigh(o)
	case *program.Gather:
		s.gather(o)
	case *program.Function:
		s.function(o)
	case *program.Clamp:
		s.clamp(o)
	case *program.SinCos:
		s.sinCos(o)
	case *program.Largest:
		s.largest(o)
	case *program.Distances:
		s.distances(o)
	case *program.Repeat:
		s.repeat(o, whole, func(body *scope, o program.Operation) { body.operation(o, nil) })
	default:
		panic(fmt.Sprintf("c99: %T within columns", o))
	}
}
