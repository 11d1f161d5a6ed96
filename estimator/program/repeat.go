package program

import (
	"fmt"
)

// Repeat evaluates a program so many times, each with the state that the one before it has left: a roll-out. Its
// tangent is that of every step after the one before, its adjoint goes from the last step back, whose values are
// evaluated again. It costs as many evaluations of the program.
type Repeat struct {
	Body    *Program // whose registers for lanes have one column
	Times   int
	All     bool      // results have a column for the state after every step; else they are the state after the last
	Carried []Carried // the state
	Each    []Bound   // with All: column i is read in step i
	Fixed   []Bound   // what every step reads
	Count   Reg       // (optional) one row: how many steps do anything, the others leaving the state as it is; None = all
}

// Carried is a part of the state.
type Carried struct {
	Out      Reg // result
	Initial  Reg // one column where All
	In, Next Reg // of the body: an input and what it becomes
}

// Bound is a register that an input of the body reads.
type Bound struct{ Outer, In Reg }

// Repeat appends the operation, whose Out it sets.
func (p *Program) Repeat(o *Repeat) {
	for i := range o.Carried {
		c := &o.Carried[i]
		if s := p.Shape(c.Initial); o.All {
			c.Out = p.register(s.Rows, o.Times)
		} else {
			c.Out = p.register(s.Rows, p.columns(o.operands()...))
		}
	}
	p.append(o)
}

func (o *Repeat) results() (out []Reg) {
	for _, c := range o.Carried {
		out = append(out, c.Out)
	}
	return out
}

func (o *Repeat) operands() (out []Reg) {
	for _, c := range o.Carried {
		out = append(out, c.Initial)
	}
	for _, b := range o.Each {
		out = append(out, b.Outer)
	}
	for _, b := range o.Fixed {
		out = append(out, b.Outer)
	}
	if o.Count != None {
		out = append(out, o.Count)
	}
	return out
}

func (o *Repeat) check(p *Program) error {
	if o.Times < 1 || o.Times > maxSize {
		return fmt.Errorf("%d times", o.Times)
	}
	if err := o.Body.Check(); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	inner := func(r Reg, rows int) bool {
		return r >= 0 && int(r) < len(o.Body.Registers) && o.Body.Registers[r] == (Shape{rows, 1})
	}
	for i, c := range o.Carried {
		want := Shape{p.Rows(c.Initial), o.Times}
		if !o.All {
			want.Cols = p.columns(o.operands()...)
		}
		if !inner(c.In, want.Rows) || !inner(c.Next, want.Rows) || p.Shape(c.Out) != want || o.All && p.Shape(c.Initial).Cols != 1 {
			return fmt.Errorf("state %d: shapes do not agree", i)
		}
	}
	for i, b := range o.Each {
		if s := p.Shape(b.Outer); !o.All || s.Cols != o.Times || !inner(b.In, s.Rows) {
			return fmt.Errorf("input %d of each step: shapes do not agree", i)
		}
	}
	for i, b := range o.Fixed {
		if s := p.Shape(b.Outer); o.All && s.Cols != 1 || !inner(b.In, s.Rows) {
			return fmt.Errorf("input %d of all steps: shapes do not agree", i)
		}
	}
	if o.Count != None && (o.All || p.Rows(o.Count) != 1) {
		return fmt.Errorf("a count is one row, and not of all states")
	}
	return nil
}
