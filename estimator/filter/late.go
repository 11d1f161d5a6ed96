package filter

// Last returns the time of the newest sample, ns.
func (f *Filter) Last() int64 { return f.last }

// Late takes a sample of a time before the newest, y (K) with NaN for unmeasured channels, and filters the later
// samples again. The input does not change. It reports false, and takes nothing, if no earlier sample is kept,
// see KeepLate, or if the filter has restarted since. Innovations are those of the late sample.
func (f *Filter) Late(t int64, y []float64) (r Result, ok bool) {
	l := &f.late
	later := 0
	for later < l.held && l.after[l.place(later)].t > t {
		later++
	}
	if !f.began || later == 0 || later == l.held {
		return Result{}, false
	}
	f.restore(&l.after[l.place(later)])
	l.next, l.held = (l.place(later)+1)%len(l.after), l.held-later
	l.carried.set(t, y, f.input)
	for i := range later + 1 {
		now := l.carried
		if i < later { // the place is that of a later sample, which is next
			m := &l.after[l.next]
			l.replaced.set(m.t, m.y, m.u)
		}
		one := f.Update(now.t, now.y, now.u)
		if i == 0 {
			r = one
			l.nu, l.ratio = append(l.nu[:0], f.nu...), append(l.ratio[:0], f.ratio...)
		}
		l.carried, l.replaced = l.replaced, now
	}
	copy(f.nu, l.nu)
	copy(f.ratio, l.ratio)
	return r, true
}

// restore goes back to a moment.
func (f *Filter) restore(m *moment) {
	f.last, f.input = m.t, append(f.input[:0], m.u...)
	f.state.set(&m.state)
}
