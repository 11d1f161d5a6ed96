package program

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
