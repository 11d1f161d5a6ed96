package program

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// New takes the memory for a program, on the fastest vector unit of the processor.
func New[T Float](p *Program, o Options) *Machine[T] { return NewOn[T](p, o, simd.Best()) }

// NewOn is New on a vector unit.
func NewOn[T Float](p *Program, o Options, unit simd.Unit) *Machine[T] {
	o.Lanes = max(o.Lanes, 1)
	if o.Lanes > 1 && o.Lanes%width != 0 {
		panic("program: lanes are one, or a multiple of 16")
	}
	m := &Machine[T]{p: p, o: o, unit: unit, body: func(p *Program, o Options) *Machine[T] { return NewOn[T](p, o, unit) }, splats: map[Reg]Reg{}, free: map[int][][]T{}, aliases: map[Reg]bool{}, squared: map[Reg]*affine[T]{}, trained: map[*Affine]*Parameters{}, kernels: map[Reg]func(out operand) instruction[T]{}, spread: map[Reg]Reg{}, parts: make([]simd.Part, 0, 16), ones: make([]T, width)}
	_, m.single = any(m.ones).([]float32)
	for i := range m.ones {
		m.ones[i] = 1
	}
	m.layouts, m.active = make([]layout, len(p.Registers)), make([]bool, len(p.Registers))
	m.v, m.d, m.a = make([][]T, len(p.Registers)), make([][]T, len(p.Registers)), make([][]T, len(p.Registers))
	for _, in := range p.Inputs {
		lanes := 1
		if slices.Contains(o.ByLane, in.Name) {
			lanes = o.Lanes
		}
		m.place(in.Reg, lanes, slices.Contains(o.Tangents, in.Name))
	}
	for _, c := range p.Constants {
		m.place(c.Reg, 1, false)
		s := p.Registers[c.Reg]
		for i, v := range c.Values {
			m.Set(c.Reg, i/s.Cols, i%s.Cols, 0, v)
		}
	}
	m.fusions = findFusions(p, o.Seeds == 0 && !o.Adjoint)
	m.lasts = lastReads(p, &m.fusions)
	for i, op := range p.Ops {
		m.add(op)
		m.release(i)
	}
	return m
}

// add compiles an operation.
func (m *Machine[T]) add(op Operation) {
	lanes, active := 1, false
	for _, r := range op.operands() {
		lanes, active = max(lanes, m.layouts[r].lanes), active || m.active[r]
	}
	for _, r := range op.results() {
		m.place(r, lanes, active)
	}
	if i := compile(m, op); i != nil {
		m.push(i, lanes)
	}
}

func compile[T Float](m *Machine[T], op Operation) instruction[T] {
	switch o := op.(type) {
	case *Affine:
		return newAffine(m, o)
	case *Local:
		return newLocal(m, o)
	case *Products:
		return newProducts(m, o)
	case *Weigh:
		return newWeigh(m, o)
	case *Columns:
		return newColumns(m, o)
	case *Gather:
		return newGather(m, o)
	case *Function:
		return newFunction(m, o)
	case *Clamp:
		return newClamp(m, o)
	case *SinCos:
		return newSinCos(m, o)
	case *Largest:
		return newLargest(m, o)
	case *Distances:
		return newDistances(m, o)
	case *Repeat:
		return newRepeat(m, o)
	}
	panic("program: an operation of another package")
}

// Operands returns the registers that an operation reads.
func Operands(o Operation) []Reg { return o.operands() }

// Results returns the registers that an operation sets.
func Results(o Operation) []Reg { return o.results() }
