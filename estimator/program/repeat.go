package program

import (
	"fmt"
	"maps"
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

// repeat evaluates a Repeat. body is the machine of one step; its registers have the lanes of the result's
// columns, or where All of its lanes.
type repeat[T Float] struct {
	o       *Repeat
	body    *Machine[T]
	carried []link
	each    []link
	fixed   []link
	count   operand
	frames  [][]T // the body's values after every step; none where nothing differentiates
	states  [][]T // not All: of each carried state, what every step began with
	between [][]T // of each carried state, its adjoint between two steps
}

// link is a register of the outer program and one of the body.
type link struct {
	outer operand
	in    Reg
	out   Reg // result and what the state becomes, of a state
	next  Reg
}

func newRepeat[T Float](m *Machine[T], o *Repeat) instruction[T] {
	first := o.Carried[0].Out
	l := m.layouts[first]
	lanes := l.blocks * l.width
	if o.All {
		lanes = l.lanes
	}
	options := Options{Lanes: lanes, Adjoint: m.o.Adjoint, Trained: m.o.Trained}
	i := &repeat[T]{o: o, count: operand{r: None}}
	for _, port := range o.Body.Inputs {
		options.ByLane = append(options.ByLane, port.Name)
	}
	if m.active[first] {
		options.Seeds, options.Tangents = m.o.Seeds, options.ByLane
	}
	i.body = m.body(o.Body, options)
	maps.Copy(m.trained, i.body.trained)
	if n := i.body.arena(); (options.Adjoint || options.Seeds > 0) && n > 0 {
		for range o.Times {
			i.frames = append(i.frames, make([]T, n))
		}
	}
	outer := func(r Reg) operand {
		if o.All && l.lanes == 1 {
			return m.asIs(r)
		}
		return m.operand(r, first)
	}
	for _, c := range o.Carried {
		i.carried = append(i.carried, link{outer: outer(c.Initial), in: c.In, out: c.Out, next: c.Next})
		if !o.All {
			i.states = append(i.states, make([]T, o.Times*m.layouts[c.Out].size()))
		}
		i.between = append(i.between, make([]T, len(i.body.a[c.In])))
	}
	for _, b := range o.Each {
		i.each = append(i.each, link{outer: outer(b.Outer), in: b.In})
	}
	for _, b := range o.Fixed {
		i.fixed = append(i.fixed, link{outer: outer(b.Outer), in: b.In})
	}
	if o.Count != None {
		i.count = m.asIs(o.Count)
	}
	return i
}

// times returns how many steps do anything.
func (o *repeat[T]) times(m *Machine[T]) int {
	if o.count.r == None {
		return o.o.Times
	}
	most := T(0)
	l := &m.layouts[o.count.r]
	for j := range l.n {
		most = max(most, m.v[o.count.r][l.at(0, j)])
	}
	return max(1, min(int(most), o.o.Times))
}

// load copies a register of the outer program, or its column, to the body: values.
func (o *repeat[T]) load(m *Machine[T], k *link, column int) {
	l, to := &o.body.layouts[k.in], o.body.v[k.in]
	from := m.v[k.outer.r]
	if l.width == 1 {
		of := &m.layouts[k.outer.r]
		for r := range l.rows {
			to[r] = from[of.at(r, column)]
		}
		return
	}
	for b := range l.blocks {
		copy(to[b*l.stride:][:l.rows*width], from[(column*l.blocks+b)%k.outer.blocks*k.outer.stride:])
	}
}

// copyRows copies the rows of a register, or of one copy of its tangents, to another one of the same shape.
func copyRows[T Float](dst []T, to *layout, src []T, from *layout) {
	for b := range to.blocks {
		copy(dst[b*to.stride:][:to.rows*to.width], src[b*from.stride:])
	}
}

// addRows is copyRows that adds.
func addRows[T Float](dst []T, to *layout, src []T, from *layout) {
	for b := range to.blocks {
		addScaled(dst[b*to.stride:][:to.rows*to.width], 1, src[b*from.stride:])
	}
}

// loadTangents is load of tangents.
func (o *repeat[T]) loadTangents(m *Machine[T], r Reg, outer *operand, in Reg, column int) {
	body := o.body
	if !outer.active {
		clear(body.d[in])
		return
	}
	l := &body.layouts[in]
	if l.n > 1 {
		for c := range body.o.Seeds {
			for b := range l.blocks {
				copy(body.d[in][c*l.size()+b*l.stride:][:l.rows*width], m.d[r][c*outer.t.size+(column*l.blocks+b)%outer.t.blocks*outer.t.stride:])
			}
		}
		return
	}
	if of := &m.layouts[r]; of.n == 1 {
		copy(body.d[in], m.d[r])
	} else {
		t := newLayout(l.rows, body.o.Seeds, 1)
		for row := range l.rows {
			from, size := of.at(row, column), of.size()
			for c := range body.o.Seeds {
				body.d[in][t.at(row, c)] = m.d[r][c*size+from]
			}
		}
	}
}

// begin loads what step i reads: values. states says whether those that it begins with are known.
func (o *repeat[T]) begin(m *Machine[T], i int, states bool) {
	for j := range o.each {
		o.load(m, &o.each[j], i)
	}
	for j := range o.fixed {
		o.load(m, &o.fixed[j], 0)
	}
	for j := range o.carried {
		k := &o.carried[j]
		switch {
		case i == 0:
			o.load(m, k, 0)
		case o.o.All:
			o.load(m, &link{outer: m.asIs(k.out), in: k.in}, i-1)
		case states:
			copy(o.body.v[k.in], o.states[j][i*len(o.body.v[k.in]):])
		}
	}
	if !o.o.All && !states {
		if i > 0 {
			for j := range o.carried {
				k := &o.carried[j]
				copyRows(o.body.v[k.in], &o.body.layouts[k.in], o.body.v[k.next], &o.body.layouts[k.next])
			}
		}
		for j := range o.carried {
			v := o.body.v[o.carried[j].in]
			copy(o.states[j][i*len(v):(i+1)*len(v)], v)
		}
	}
}

// again sets the body's values to those of step i.
func (o *repeat[T]) again(m *Machine[T], i int) {
	if o.frames != nil {
		copy(o.body.values, o.frames[i])
		return
	}
	o.begin(m, i, !o.o.All)
	o.body.Value()
}

func (o *repeat[T]) value(m *Machine[T]) {
	n := o.times(m)
	for i := range n {
		o.begin(m, i, false)
		o.body.Value()
		if o.frames != nil {
			copy(o.frames[i], o.body.values)
		}
		for j := range o.carried {
			if o.o.All {
				o.store(m, &o.carried[j], i)
			}
		}
	}
	for j := range o.carried {
		if k := &o.carried[j]; !o.o.All {
			copyRows(m.v[k.out], &m.layouts[k.out], o.body.v[k.next], &o.body.layouts[k.next])
		}
	}
}

// store copies the state after step i to its column of the result.
func (o *repeat[T]) store(m *Machine[T], k *link, i int) {
	l, out := &o.body.layouts[k.next], &m.layouts[k.out]
	from, to := o.body.v[k.next], m.v[k.out]
	if l.width > 1 {
		copyRows(to[i*l.blocks*out.stride:], &layout{rows: l.rows, blocks: l.blocks, stride: out.stride, width: width}, from, l)
		return
	}
	for r := range l.rows {
		to[out.at(r, i)] = from[r]
		if i == out.n-1 && out.n > 1 {
			m.fill(to, out, r)
		}
	}
}

func (o *repeat[T]) tangent(m *Machine[T]) {
	if !m.active[o.carried[0].out] {
		return
	}
	body := o.body
	for i := range o.times(m) {
		o.again(m, i)
		o.beginTangents(m, i)
		body.Tangent()
		for j := range o.carried {
			k := &o.carried[j]
			if o.o.All {
				o.storeTangents(m, k, i)
			}
		}
		for j := range o.carried {
			k := &o.carried[j]
			body.copyTangents(body, k.in, k.next)
		}
	}
	for j := range o.carried {
		if k := &o.carried[j]; !o.o.All {
			body.copyTangents(m, k.out, k.in)
		}
	}
}

// beginTangents loads the tangents of what step i reads: in the first step, and then of what changes from step to step.
func (o *repeat[T]) beginTangents(m *Machine[T], i int) {
	for j := range o.each {
		if k := &o.each[j]; i == 0 || k.outer.active {
			o.loadTangents(m, k.outer.r, &k.outer, k.in, i)
		}
	}
	if i > 0 {
		return
	}
	for _, list := range [...][]link{o.fixed, o.carried} {
		for j := range list {
			o.loadTangents(m, list[j].outer.r, &list[j].outer, list[j].in, 0)
		}
	}
}

// copyTangents sets the tangents of a register of another machine to those of one of the same shape.
func (m *Machine[T]) copyTangents(to *Machine[T], r, from Reg) {
	l, of := &to.layouts[r], &m.layouts[from]
	switch {
	case !m.active[from]:
		clear(to.d[r])
	case l.n == 1:
		copy(to.d[r], m.d[from])
	default:
		for c := range m.o.Seeds {
			copyRows(to.d[r][c*l.size():], l, m.d[from][c*of.size():], of)
		}
	}
}

func (o *repeat[T]) storeTangents(m *Machine[T], k *link, i int) {
	body := o.body
	l, out := &body.layouts[k.next], &m.layouts[k.out]
	if !body.active[k.next] {
		return // stays 0
	}
	if l.width > 1 {
		for c := range body.o.Seeds {
			copyRows(m.d[k.out][c*out.size()+i*l.blocks*out.stride:], &layout{rows: l.rows, blocks: l.blocks, stride: out.stride, width: width}, body.d[k.next][c*l.size():], l)
		}
		return
	}
	if out.n == 1 {
		copy(m.d[k.out], body.d[k.next])
		return
	}
	t, size := newLayout(l.rows, body.o.Seeds, 1), out.size()
	for r := range l.rows {
		to := out.at(r, i)
		for c := range body.o.Seeds {
			m.d[k.out][c*size+to] = body.d[k.next][t.at(r, c)]
			if i == out.n-1 {
				m.fill(m.d[k.out][c*size:(c+1)*size], out, r)
			}
		}
	}
}

func (o *repeat[T]) adjoint(m *Machine[T]) {
	body, n := o.body, o.times(m)
	for i := n - 1; i >= 0; i-- {
		o.again(m, i)
		if i == n-1 {
			body.ClearAdjoints()
		} else { // what step i+1 says of its state
			for j := range o.carried {
				k := &o.carried[j]
				copy(o.between[j], body.a[k.in])
			}
			body.ClearAdjoints()
			for j := range o.carried {
				k := &o.carried[j]
				addRows(body.a[k.next], &body.layouts[k.next], o.between[j], &body.layouts[k.in])
			}
		}
		for j := range o.carried {
			k := &o.carried[j]
			if o.o.All {
				o.addAdjoint(m, k.out, i, k.next, true)
			} else if i == n-1 {
				addRows(body.a[k.next], &body.layouts[k.next], m.a[k.out], &m.layouts[k.out])
			}
		}
		body.Adjoint()
		for j := range o.each {
			o.addAdjoint(m, o.each[j].outer.r, i, o.each[j].in, false)
		}
		for j := range o.fixed {
			o.addAdjoint(m, o.fixed[j].outer.r, 0, o.fixed[j].in, false)
		}
	}
	for j := range o.carried {
		o.addAdjoint(m, o.carried[j].outer.r, 0, o.carried[j].in, false)
	}
}

// addAdjoint adds the adjoint of a column of an outer register to that of the body's, or the other way.
func (o *repeat[T]) addAdjoint(m *Machine[T], outer Reg, column int, in Reg, inward bool) {
	l, of := &o.body.layouts[in], &m.layouts[outer]
	add := func(a, b []T) {
		if inward {
			addScaled(a, 1, b)
		} else {
			addScaled(b, 1, a)
		}
	}
	if l.width == 1 {
		for r := range l.rows {
			at := of.at(r, column)
			add(o.body.a[in][r:r+1], m.a[outer][at:at+1])
		}
		return
	}
	for b := range l.blocks {
		at := (column*l.blocks + b) % of.blocks * of.stride
		add(o.body.a[in][b*l.stride:][:l.rows*width], m.a[outer][at:at+l.rows*width])
	}
}
