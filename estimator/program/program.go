package program

import (
	"fmt"
	"math"
	"slices"
)

// Reg is the place of a register in Program.Registers.
type Reg int

// None is no register.
const None Reg = -1

// Shape is that of a register.
type Shape struct{ Rows, Cols int }

// Port is a register with a name: an input or an output of a program.
type Port struct {
	Name string
	Reg  Reg
}

// Operation computes one register, or those of a Repeat, from others.
type Operation interface {
	results() []Reg
	operands() []Reg
	// check returns what contradicts itself, or nil; shapes are within range.
	check(p *Program) error
}

// Program is a list of operations, each of which reads registers that are inputs or results of those
// before it. It is data: a Machine evaluates it, and exporters write it in other languages.
type Program struct {
	Inputs, Outputs []Port
	Constants       []Constant
	Registers       []Shape
	Ops             []Operation
}

// Constant is a register whose numbers never change.
type Constant struct {
	Reg    Reg
	Values []float64 // rows × columns, row-major
}

// Input appends an input register.
func (p *Program) Input(name string, rows, cols int) Reg {
	r := p.register(rows, cols)
	p.Inputs = append(p.Inputs, Port{name, r})
	return r
}

// Constant appends a register with constants (rows × cols, row-major).
func (p *Program) Constant(rows, cols int, values []float64) Reg {
	if len(values) != rows*cols {
		panic("program: constants of another shape")
	}
	r := p.register(rows, cols)
	p.Constants = append(p.Constants, Constant{r, values})
	return r
}

// Output names a register as an output.
func (p *Program) Output(name string, r Reg) { p.Outputs = append(p.Outputs, Port{name, r}) }

// Shape returns rows and columns of a register.
func (p *Program) Shape(r Reg) Shape { return p.Registers[r] }

// Rows returns the number of rows of a register.
func (p *Program) Rows(r Reg) int { return p.Registers[r].Rows }

func (p *Program) register(rows, cols int) Reg {
	p.Registers = append(p.Registers, Shape{rows, cols})
	return Reg(len(p.Registers) - 1)
}

// append appends an operation, and panics if it contradicts itself: a program is built by code.
func (p *Program) append(o Operation) {
	if err := o.check(p); err != nil {
		panic("program: " + err.Error())
	}
	p.Ops = append(p.Ops, o)
}

// columns returns the number of columns of an operation on registers, each of which has as many
// or one; 0 if they do not agree.
func (p *Program) columns(regs ...Reg) int {
	n := 1
	for _, r := range regs {
		switch c := p.Registers[r].Cols; {
		case c == 1 || c == n:
		case n == 1:
			n = c
		default:
			return 0
		}
	}
	return n
}

// Check returns what contradicts itself in a program, or nil.
func (p *Program) Check() error {
	known := make([]bool, len(p.Registers))
	if err := p.checkGiven(known); err != nil {
		return err
	}
	for i, o := range p.Ops {
		if err := p.checkOperation(o, known); err != nil {
			return fmt.Errorf("operation %d (%T): %w", i, o, err)
		}
	}
	for _, port := range p.Outputs {
		if !p.has(port.Reg) || !known[port.Reg] {
			return fmt.Errorf("output %q: register %d is not set", port.Name, port.Reg)
		}
	}
	return nil
}

// has reports whether there is a register.
func (p *Program) has(r Reg) bool { return r >= 0 && int(r) < len(p.Registers) }

// checkOperation returns what contradicts itself in an operation, or nil, and notes the registers that it sets.
func (p *Program) checkOperation(o Operation, known []bool) error {
	for _, r := range o.operands() {
		if !p.has(r) || !known[r] {
			return fmt.Errorf("reads register %d before it is set", r)
		}
	}
	for _, r := range o.results() {
		if !p.has(r) || known[r] {
			return fmt.Errorf("sets register %d, which is missing or set", r)
		}
	}
	if err := o.check(p); err != nil {
		return err
	}
	for _, r := range o.results() {
		known[r] = true
	}
	return nil
}

// checkGiven returns what contradicts itself in shapes, inputs and constants, or nil, and notes which registers they set.
func (p *Program) checkGiven(known []bool) error {
	for i, s := range p.Registers {
		if s.Rows < 0 || s.Cols < 1 || s.Rows > maxSize || s.Cols > maxSize || s.Rows*s.Cols > maxSize {
			return fmt.Errorf("register %d has %d rows and %d columns", i, s.Rows, s.Cols)
		}
	}
	for _, port := range p.Inputs {
		if !p.has(port.Reg) || known[port.Reg] {
			return fmt.Errorf("input %q: register %d is missing, or given twice", port.Name, port.Reg)
		}
		known[port.Reg] = true
	}
	for _, c := range p.Constants {
		if !p.has(c.Reg) || known[c.Reg] || len(c.Values) != p.Registers[c.Reg].Rows*p.Registers[c.Reg].Cols {
			return fmt.Errorf("constants of register %d: missing, set twice, or of another shape", c.Reg)
		}
		if err := finite(fmt.Sprintf("constants of register %d", c.Reg), c.Values); err != nil {
			return err
		}
		known[c.Reg] = true
	}
	return nil
}

// maxSize bounds the numbers of a register.
const maxSize = 1 << 24

// Prune removes the operations on which no output depends.
func (p *Program) Prune() {
	needed := make([]bool, len(p.Registers))
	for _, port := range p.Outputs {
		needed[port.Reg] = true
	}
	kept := len(p.Ops)
	for i := len(p.Ops) - 1; i >= 0; i-- {
		use := false
		for _, r := range p.Ops[i].results() {
			use = use || needed[r]
		}
		if !use {
			continue
		}
		for _, r := range p.Ops[i].operands() {
			needed[r] = true
		}
		kept--
		p.Ops[kept] = p.Ops[i]
	}
	p.Ops = p.Ops[kept:]
	p.Constants = slices.DeleteFunc(p.Constants, func(c Constant) bool { return !needed[c.Reg] })
}

// finite returns an error that names the first number that is not finite.
func finite(name string, v []float64) error {
	for i, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%s: number %d is %v", name, i, x)
		}
	}
	return nil
}
