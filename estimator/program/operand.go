package program

// operand is a register as an operation reads it: block b of the result goes with block b%blocks.
type operand struct {
	r              Reg
	blocks, stride int
	width          int
	active         bool
	t              tangentRows
}

// tangentRows is how the tangents of a register lie in memory: so many copies of so many blocks.
type tangentRows struct{ copies, size, blocks, stride, width int }

// tangentRows returns that of a register. The directions of one with n = 1 stand side by side; of
// others every direction is a copy.
func (m *Machine[T]) tangentRows(l *layout) tangentRows {
	if l.n == 1 {
		t := newLayout(l.rows, max(m.o.Seeds, 1), 1)
		return tangentRows{1, t.size(), t.blocks, t.stride, t.width}
	}
	return tangentRows{m.o.Seeds, l.size(), l.blocks, l.stride, l.width}
}

// operand returns a register as the operand of a result: as it is, or a register with its
// numbers in all lanes.
func (m *Machine[T]) operand(r Reg, result Reg) operand {
	l, o := &m.layouts[r], &m.layouts[result]
	switch {
	case l.n == 1 && o.n > 1:
		r = m.splat(r)
	case l.lanes == 1 && o.lanes > 1:
		r = m.spreadOver(r, o.lanes)
	}
	return m.asIs(r)
}

func (m *Machine[T]) asIs(r Reg) operand {
	l := &m.layouts[r]
	return operand{r, l.blocks, l.stride, l.width, m.active[r], m.tangentRows(l)}
}

// rowOf returns row i of block b of the values.
func rowOf[T Float](v []T, o *operand, i, b int) []T {
	at := b%o.blocks*o.stride + i*o.width
	return v[at : at+o.width]
}

// tangentRow returns row i of block b of copy c of the tangents.
func tangentRow[T Float](d []T, t *tangentRows, i, b, c int) []T {
	at := c*t.size + b%t.blocks*t.stride + i*t.width
	return d[at : at+t.width]
}

// blockOf returns block b of the values of an operand, or of copy k of its tangents.
func blockOf[T Float](v []T, o *operand, b, k int, tangents bool) []T {
	if tangents {
		return v[k*o.t.size+b%o.t.blocks*o.t.stride:]
	}
	return v[b%o.blocks*o.stride:]
}

// splat returns a register of one block with the numbers of r in every lane.
func (m *Machine[T]) splat(r Reg) Reg {
	if s, ok := m.splats[r]; ok {
		return s
	}
	s := m.fresh(newLayout(m.layouts[r].rows, 1, width), m.active[r])
	m.splats[r] = s
	m.push(&splat[T]{r, s}, 1)
	return s
}

// splat copies numbers to all lanes.
type splat[T Float] struct{ from, to Reg }

func (s *splat[T]) value(m *Machine[T]) {
	to := m.v[s.to]
	for i, x := range m.v[s.from] {
		fillRow(to[i*width:(i+1)*width], x)
	}
}

func (s *splat[T]) tangent(m *Machine[T]) {
	if !m.active[s.from] {
		return
	}
	l := &m.layouts[s.to]
	for c := range m.o.Seeds {
		to := m.d[s.to][c*l.size():]
		for i := range l.rows {
			fillRow(to[i*width:(i+1)*width], m.d[s.from][m.tangentAt(s.from, i, 0, c)])
		}
	}
}

func (s *splat[T]) adjoint(m *Machine[T]) {
	from := m.a[s.to]
	for i := range m.a[s.from] {
		m.a[s.from][i] += sum(from[i*width : (i+1)*width])
	}
}

// spreadOver returns a register with the numbers of r in so many lanes.
func (m *Machine[T]) spreadOver(r Reg, lanes int) Reg {
	if s, ok := m.spread[r]; ok {
		return s
	}
	l := &m.layouts[r]
	s := m.fresh(newLayout(l.rows, l.cols, lanes), m.active[r])
	m.spread[r] = s
	m.push(&spread[T]{r, s}, 1)
	return s
}

// spread copies columns to all lanes.
type spread[T Float] struct{ from, to Reg }

func (s *spread[T]) copy(m *Machine[T], to, from []T) {
	f, t := &m.layouts[s.from], &m.layouts[s.to]
	each := t.lanes / width
	for row := range f.rows {
		for col := range f.cols {
			x := from[f.at(row, col)]
			for b := range each {
				at := (col*each+b)*t.stride + row*width
				fillRow(to[at:at+width], x)
			}
		}
	}
}

func (s *spread[T]) value(m *Machine[T]) { s.copy(m, m.v[s.to], m.v[s.from]) }

func (s *spread[T]) tangent(m *Machine[T]) {
	if !m.active[s.from] {
		return
	}
	f, t := &m.layouts[s.from], &m.layouts[s.to]
	for c := range m.o.Seeds {
		s.copy(m, m.d[s.to][c*t.size():], m.d[s.from][c*f.size():])
	}
}

func (s *spread[T]) adjoint(m *Machine[T]) {
	f, t := &m.layouts[s.from], &m.layouts[s.to]
	each := t.lanes / width
	for row := range f.rows {
		for col := range f.cols {
			for b := range each {
				at := (col*each+b)*t.stride + row*width
				m.a[s.from][f.at(row, col)] += sum(m.a[s.to][at : at+width])
			}
		}
	}
}
