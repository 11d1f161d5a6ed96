package c99

import (
	"fmt"

	"github.com/dgm-robotics/dgm/estimator/program"
)

// repeat evaluates a program so many times with a carried state, values and tangents together. whole returns the value of a
// register with a column for every step, step appends an operation of the program.
func (s *scope) repeat(o *program.Repeat, whole func(r program.Reg) *value, step func(body *scope, o program.Operation)) {
	body := &scope{builder: s.builder, p: o.Body, columns: s.columns, known: map[program.Reg]*value{}}
	body.outside = body.constant
	active := false
	for _, b := range o.Fixed {
		body.known[b.In] = s.get(b.Outer)
		active = active || body.known[b.In].active
	}
	for _, b := range o.Each {
		active = active || whole(b.Outer).active
	}
	for _, c := range o.Carried {
		active = active || s.get(c.Initial).active
	}
	states, results := make([]*value, len(o.Carried)), make([]*value, len(o.Carried))
	for j, c := range o.Carried {
		states[j] = s.fresh(s.p.Rows(c.Initial), s.columns)
		states[j].active = active
		s.copy(states[j], s.get(c.Initial))
		body.known[c.In] = states[j]
		if o.All {
			results[j] = whole(c.Out)
			results[j].active = active
		} else {
			s.known[c.Out] = states[j]
		}
	}
	i := fmt.Sprintf("i%d", s.depth)
	s.depth++
	var count []*value
	if o.Count != program.None {
		count = append(count, s.get(o.Count))
		more := s.kernel("more", s.columns)
		s.loop(func() string {
			return fmt.Sprintf("for (int %s = 0; %s < %d && %s(%v, %s); %s++) {", i, i, o.Times, more, of(count[0]), i, i)
		})
	} else {
		s.loop(func() string { return fmt.Sprintf("for (int %s = 0; %s < %d; %s++) {", i, i, o.Times, i) })
	}
	for _, b := range o.Each {
		from := whole(b.Outer)
		x := s.fresh(from.rows, 1)
		x.active = from.active
		body.known[b.In] = x
		s.call("load", 1, of(x), of(from).columns(i), x.rows, from.width)
		if x.active {
			s.call("load", 1, tangent(x), tangent(from).columns(i), x.rows, from.width)
		}
	}
	for _, op := range o.Body.Ops {
		step(body, op)
	}
	body.carry(o.Carried, states)
	for j, y := range results {
		if y == nil {
			continue
		}
		s.call("store", 1, of(y).columns(i), of(states[j]), y.rows, y.width)
		if y.active {
			s.call("store", 1, tangent(y).columns(i), tangent(states[j]), y.rows, y.width)
		}
	}
	s.depth--
	s.endLoop(count...)
}

// carry sets the states to what becomes of them, all at once.
func (s *scope) carry(all []program.Carried, states []*value) {
	next := make([]*value, len(all))
	for j, c := range all {
		next[j] = s.get(c.Next)
		for k, state := range states {
			if next[j] == state && k < j { // is set before it is read
				next[j] = s.fresh(state.rows, s.columns)
				next[j].active = state.active
				s.copy(next[j], state)
			}
		}
	}
	for j, v := range next {
		if v != states[j] {
			s.copy(states[j], v)
		}
	}
}

// constant returns the constants of a body, in all columns of a block.
func (s *scope) constant(r program.Reg) *value {
	for _, c := range s.p.Constants {
		if c.Reg != r {
			continue
		}
		v := &value{rows: len(c.Values), width: 1, array: s.reals(c.Values)}
		if s.columns == 1 {
			return v
		}
		block := s.fresh(v.rows, s.columns)
		s.before(func() { s.call("spread", s.columns, of(block), of(v), v.rows) })
		return block
	}
	panic(fmt.Sprintf("c99: register %d of a body is not set", r))
}
