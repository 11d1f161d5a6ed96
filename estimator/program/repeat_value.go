package program

import "maps"

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
