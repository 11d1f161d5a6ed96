package program

import (
	"github.com/dgm-robotics/dgm/estimator/numeric/matmul"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// Float is the number that a Machine calculates with.
type Float interface{ float32 | float64 }

// Options are how a program is evaluated. The zero value evaluates values for one lane.
type Options struct {
	Lanes    int      // 0 and 1: one, else a multiple of 16
	ByLane   []string // inputs that differ by lane; with one lane none does
	Tangents []string // inputs that are differentiated by, in directions that TangentOf sets
	Adjoint  bool     // whether Adjoint is called
	Seeds    int      // directions of the tangents

	Trained []*Affine // whose matrices and constants are parameters, in double precision with Adjoint, see Parameters
}

// width is the number of columns or lanes of a register that stand side by side.
const width = simd.Width

// layout is how a register lies in memory: blocks of width columns and lanes, in each of them row after
// row. Number j of row r is column j/lanes in lane j%lanes. What fills up the last block repeats the last number.
type layout struct {
	rows, cols, lanes int
	n                 int // cols·lanes
	width, blocks     int // width is 1 where n is
	stride            int // numbers of a block
}

func newLayout(rows, cols, lanes int) layout {
	l := layout{rows: rows, cols: cols, lanes: lanes, n: cols * lanes, width: 1, blocks: 1, stride: rows}
	if l.n > 1 {
		l.width, l.blocks, l.stride = width, (l.n+width-1)/width, simd.Padded(rows)*width
	}
	return l
}

func (l *layout) size() int { return l.blocks * l.stride }

// at returns the place of number j of a row.
func (l *layout) at(row, j int) int { return j/l.width*l.stride + row*l.width + j%l.width }

// Machine evaluates a program. It takes all its memory in New and is not safe for concurrent use.
type Machine[T Float] struct {
	p       *Program
	o       Options
	unit    simd.Unit
	layouts []layout
	active  []bool // of a register: whether it has tangents
	v       [][]T  // values
	d       [][]T  // tangents: of a register with n = 1 as one with n = Seeds, else copies, one for each direction
	a       [][]T  // adjoints
	shared  []instruction[T]
	laned   []instruction[T]
	splats  map[Reg]Reg // registers with n = 1, and their number in every lane
	spread  map[Reg]Reg // registers of one lane, and the same in all lanes
	parts   []simd.Part
	ones    []T
	values  []T           // all of v, where that is one piece of memory
	free    map[int][][]T // memory by its size
	aliases map[Reg]bool  // registers that are rows of others
	rowsOf  []alias       // the same, in their order
	lasts   [][]Reg       // of each operation: the registers that it is the last to read
	fusions fusions
	trained map[*Affine]*Parameters                  // those of the programs of its Repeats, too
	squared map[Reg]*affine[T]                       // whose values are read as squares alone
	kernels map[Reg]func(out operand) instruction[T] // of results that a kernel evaluates: what makes it
	single  bool
	work    matmul.Work
	scratch []T
	mask    [width]T
	rows    []T
	body    func(p *Program, o Options) *Machine[T] // New on the same vector unit
}

// instruction is an operation on a machine's memory.
type instruction[T Float] interface {
	value(m *Machine[T])
	tangent(m *Machine[T])
	adjoint(m *Machine[T])
}

// place takes the memory of a register.
func (m *Machine[T]) place(r Reg, lanes int, active bool) {
	s := m.p.Registers[r]
	l := newLayout(s.Rows, s.Cols, lanes)
	m.v[r] = m.memory(&l)
	m.take(r, l, active)
}

// take takes the memory of a register but for its values.
func (m *Machine[T]) take(r Reg, l layout, active bool) {
	m.layouts[r], m.active[r] = l, active && m.o.Seeds > 0
	if m.active[r] {
		m.d[r] = make([]T, m.tangentSize(&l))
	}
	if m.o.Adjoint {
		m.a[r] = make([]T, l.size())
	}
}

// memory returns that of values: of a register that is no longer read, where nothing differentiates.
func (m *Machine[T]) memory(l *layout) []T {
	n := l.size()
	if free := m.free[n]; m.reuses(l) && len(free) > 0 {
		v := free[len(free)-1]
		m.free[n] = free[:len(free)-1]
		return v
	}
	return make([]T, n)
}

// reuses reports whether the memory of a register may be that of another one: of those in the list of instructions that is
// evaluated last, where no tangent or adjoint reads them again.
func (m *Machine[T]) reuses(l *layout) bool {
	return m.o.Seeds == 0 && !m.o.Adjoint && (m.o.Lanes == 1 || l.lanes > 1)
}

// arena moves all values to one piece of memory, and returns its size; 0 where an instruction has values of its own.
func (m *Machine[T]) arena() int {
	for _, list := range [...][]instruction[T]{m.shared, m.laned} {
		for _, i := range list {
			if _, nested := i.(*repeat[T]); nested {
				return 0
			}
		}
	}
	n := 0
	for r := range m.v {
		if !m.aliases[Reg(r)] {
			n += len(m.v[r])
		}
	}
	m.values = make([]T, n)
	at := 0
	for r, v := range m.v {
		if !m.aliases[Reg(r)] {
			copy(m.values[at:], v)
			m.v[r] = m.values[at : at+len(v) : at+len(v)]
			at += len(v)
		}
	}
	for _, a := range m.rowsOf {
		m.v[a.r] = m.v[a.from][a.first:]
	}
	return n
}

// release gives back the memory of registers that operation i is the last to read.
func (m *Machine[T]) release(i int) {
	for _, r := range m.lasts[i] {
		if l := &m.layouts[r]; m.reuses(l) && !m.aliases[r] {
			m.free[l.size()] = append(m.free[l.size()], m.v[r])
		}
	}
}

// tangentSize returns the numbers of the tangents of a register.
func (m *Machine[T]) tangentSize(l *layout) int {
	if l.n == 1 {
		t := newLayout(l.rows, m.o.Seeds, 1)
		return t.size()
	}
	return m.o.Seeds * l.size()
}

// fresh returns a further register, whose memory is its own.
func (m *Machine[T]) fresh(l layout, active bool) Reg {
	r := Reg(len(m.layouts))
	m.layouts, m.active = append(m.layouts, layout{}), append(m.active, false)
	m.v, m.d, m.a = append(m.v, nil), append(m.d, nil), append(m.a, nil)
	m.v[r] = make([]T, l.size())
	m.take(r, l, active)
	return r
}

// push appends an instruction.
func (m *Machine[T]) push(i instruction[T], lanes int) {
	if lanes > 1 {
		m.laned = append(m.laned, i)
	} else {
		m.shared = append(m.shared, i)
	}
}

// Start evaluates what is the same in all lanes.
func (m *Machine[T]) Start() {
	for _, i := range m.shared {
		i.value(m)
	}
}

// Run evaluates what differs by lane, after Start. With one lane nothing does.
func (m *Machine[T]) Run() {
	for _, i := range m.laned {
		i.value(m)
	}
}

// Value evaluates everything.
func (m *Machine[T]) Value() {
	m.Start()
	m.Run()
}

// Tangent evaluates the tangents of all directions, after Value.
func (m *Machine[T]) Tangent() {
	for _, list := range [...][]instruction[T]{m.shared, m.laned} {
		for _, i := range list {
			i.tangent(m)
		}
	}
}

// ClearAdjoints sets all adjoints to zero.
func (m *Machine[T]) ClearAdjoints() {
	for _, a := range m.a {
		clear(a)
	}
}

// Adjoint adds the adjoints of all operands, from those of the outputs, which AdjointOf sets,
// back to the inputs; after Value and ClearAdjoints.
func (m *Machine[T]) Adjoint() {
	for _, list := range [...][]instruction[T]{m.laned, m.shared} {
		for i := len(list) - 1; i >= 0; i-- {
			list[i].adjoint(m)
		}
	}
}

// Lanes returns the number of lanes in which a register differs.
func (m *Machine[T]) Lanes(r Reg) int { return m.layouts[r].lanes }

// Set sets one number of a register, in a lane of those it has.
func (m *Machine[T]) Set(r Reg, row, col, lane int, v float64) {
	l := &m.layouts[r]
	j := col*l.lanes + lane
	m.v[r][l.at(row, j)] = narrow[T](v)
	if j == l.n-1 {
		m.fill(m.v[r], l, row)
	}
}

// fill repeats the last number of a row up to the end of its block.
func (m *Machine[T]) fill(v []T, l *layout, row int) {
	last := v[l.at(row, l.n-1)]
	for j := l.n; j < l.blocks*l.width; j++ {
		v[l.at(row, j)] = last
	}
}

// narrow rounds to T; what would be subnormal in single precision becomes 0.
func narrow[T Float](v float64) T {
	var t T
	if _, single := any(t).(float32); single {
		return T(simd.Single(v))
	}
	return T(v)
}

// Get returns one number of a register.
func (m *Machine[T]) Get(r Reg, row, col, lane int) float64 {
	l := &m.layouts[r]
	if l.lanes == 1 {
		lane = 0
	}
	return float64(m.v[r][l.at(row, col*l.lanes+lane)])
}

// Columns writes the numbers of a register in a lane to dst, columns × rows.
func (m *Machine[T]) Columns(dst []float64, r Reg, lane int) {
	l := &m.layouts[r]
	if l.lanes == 1 {
		lane = 0
	}
	for c := range l.cols {
		at := l.at(0, c*l.lanes+lane)
		for i := range l.rows {
			dst[c*l.rows+i] = float64(m.v[r][at])
			at += l.width
		}
	}
}

// ClearTangents sets the tangents of an input to zero.
func (m *Machine[T]) ClearTangents(r Reg) { clear(m.d[r]) }

// tangentAt returns the place of a direction's tangent of number j of a row.
func (m *Machine[T]) tangentAt(r Reg, row, j, direction int) int {
	l := &m.layouts[r]
	if l.n == 1 {
		t := newLayout(l.rows, m.o.Seeds, 1)
		return t.at(row, direction)
	}
	return direction*l.size() + l.at(row, j)
}

// SetTangent sets the tangent of a direction of one number of an input, in all lanes.
func (m *Machine[T]) SetTangent(r Reg, row, col, direction int, v float64) {
	l := &m.layouts[r]
	for lane := range l.lanes {
		m.d[r][m.tangentAt(r, row, col*l.lanes+lane, direction)] = T(v)
	}
	if l.n > 1 && col == l.cols-1 {
		m.fill(m.d[r][direction*l.size():(direction+1)*l.size()], l, row)
	}
}

// TangentOf returns the tangent of a direction of one number of a register: 0 where none of the inputs
// of Options.Tangents enters.
func (m *Machine[T]) TangentOf(r Reg, row, col, lane, direction int) float64 {
	if !m.active[r] {
		return 0
	}
	l := &m.layouts[r]
	if l.lanes == 1 {
		lane = 0
	}
	return float64(m.d[r][m.tangentAt(r, row, col*l.lanes+lane, direction)])
}

// TangentsOf writes TangentOf of every direction to dst.
func (m *Machine[T]) TangentsOf(dst []float64, r Reg, row, col, lane int) {
	l := &m.layouts[r]
	if !m.active[r] || l.n == 1 {
		for c := range dst {
			dst[c] = m.TangentOf(r, row, col, lane, c)
		}
		return
	}
	size, at := l.size(), m.tangentAt(r, row, col*l.lanes+lane%l.lanes, 0)
	for c := range dst {
		dst[c] = float64(m.d[r][c*size+at])
	}
}

// SetAdjoint sets the adjoint of one number of an output.
func (m *Machine[T]) SetAdjoint(r Reg, row, col, lane int, v float64) {
	l := &m.layouts[r]
	m.a[r][l.at(row, col*l.lanes+lane)] = T(v)
}

// AdjointOf returns the adjoint of one number of an input. That of one that does not differ by lane is the sum over lanes.
func (m *Machine[T]) AdjointOf(r Reg, row, col, lane int) float64 {
	l := &m.layouts[r]
	return float64(m.a[r][l.at(row, col*l.lanes+lane)])
}
