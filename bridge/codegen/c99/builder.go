package c99

import (
	"fmt"
	"strings"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// instruction is a statement, whose text is written when all values have places.
type instruction struct {
	touches      []*value
	text         func() string
	begins, ends bool // of a loop
}

// builder lowers one program to instructions.
type builder struct {
	*unit
	list    *[]instruction
	prelude *[]instruction // of the region that is being built: what precedes its loop
	depth   int            // of nested repetitions
}

// call appends a call of a C function for so many columns. Arguments are places, numbers (int), and names or
// literals (string).
func (b *builder) call(kernel string, columns int, args ...any) {
	name := b.kernel(kernel, columns)
	var touches []*value
	for _, a := range args {
		if p, ok := a.(place); ok {
			touches = append(touches, p.value)
		}
	}
	*b.list = append(*b.list, instruction{touches: touches, text: func() string {
		text := make([]string, len(args))
		for i, a := range args {
			text[i] = fmt.Sprint(a)
		}
		return name + "(" + strings.Join(text, ", ") + ");"
	}})
}

// statement appends another statement that touches values; text is called when they have places.
func (b *builder) statement(text func() string, touches ...*value) {
	*b.list = append(*b.list, instruction{touches: touches, text: text})
}

// loop appends the begin of a loop that counts in steps.
func (b *builder) loop(head func() string) {
	*b.list = append(*b.list, instruction{text: head, begins: true})
}

// endLoop appends the end of a loop whose head touches values.
func (b *builder) endLoop(touches ...*value) {
	*b.list = append(*b.list, instruction{touches: touches, text: func() string { return "}" }, ends: true})
}

// before appends what f does ahead of the loop of the region that is being built.
func (b *builder) before(f func()) {
	if b.prelude == nil {
		f()
		return
	}
	list, prelude := b.list, b.prelude
	b.list, b.prelude = prelude, nil
	f()
	b.list, b.prelude = list, prelude
}

// write appends the text of the instructions to the unit's code, and returns the size of the work area.
func (b *builder) write() int {
	size := allocate(*b.list)
	depth := 1
	for _, o := range *b.list {
		if o.ends {
			depth--
		}
		for line := range strings.Lines(o.text()) {
			b.code.WriteString(strings.Repeat("    ", depth) + strings.TrimRight(line, "\n") + "\n")
		}
		if o.begins {
			depth++
		}
	}
	return size
}

// scope is where a program is lowered: its registers, as values of so many columns.
type scope struct {
	*builder
	p       *program.Program
	columns int    // of a value: 1, or width in a region of blocks
	first   string // an expression: the first column of the block; "" outside of regions
	known   map[program.Reg]*value
	outside func(r program.Reg) *value // makes what is not known yet
	column  func(r program.Reg) *value // in a region: registers of one column, as they are outside
}

// get returns the value of a register.
func (s *scope) get(r program.Reg) *value {
	if v, ok := s.known[r]; ok {
		return v
	}
	v := s.outside(r)
	s.known[r] = v
	return v
}

// set returns a new value of a register, with a tangent if one of the operands has.
func (s *scope) set(r program.Reg, operands ...*value) *value {
	v := s.fresh(s.p.Rows(r), s.columns)
	for _, o := range operands {
		v.active = v.active || o.active
	}
	s.known[r] = v
	return v
}

// fresh returns a value of no register.
func (b *builder) fresh(rows, columns int) *value { return &value{rows: rows, width: columns} }

// clear sets numbers to zero.
func (b *builder) clear(p place) { b.call("zero", 0, p, p.size()) }

// copy sets the numbers of a value, and of its tangent, to those of another one.
func (b *builder) copy(to, from *value) {
	if to.size() == 0 {
		return
	}
	b.call("copy", 0, of(to), of(from), to.size())
	switch {
	case to.active && from.active:
		b.call("copy", 0, tangent(to), tangent(from), to.size())
	case to.active:
		b.clear(tangent(to))
	}
}
