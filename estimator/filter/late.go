package filter

// late holds what the filter knew after its last samples, so that one that comes late takes its place among them.
type late struct {
	after []moment // ring
	next  int      // place of the next one
	held  int      // how many there are

	carried, replaced sample
	nu, ratio         []float64 // K
}

// sample is what Update was given.
type sample struct {
	t    int64     // ns
	y, u []float64 // K, P or none
}

func (s *sample) set(t int64, y, u []float64) {
	s.t, s.y, s.u = t, append(s.y[:0], y...), append(s.u[:0], u...)
}

// moment is a sample and what the filter made of it.
type moment struct {
	sample
	x, p       []float64 // n, n×n
	row, total []int     // K
	known      []bool    // K
	samples    int
}

// KeepLate has the filter keep its last samples, so many, for those that come late. It allocates their memory at the first
// call.
func (f *Filter) KeepLate(samples int) {
	if len(f.late.after) == samples {
		return
	}
	vector := func(n int) []float64 { return make([]float64, 0, n) }
	sampled := func() sample { return sample{y: vector(f.k), u: vector(cap(f.input))} }
	f.late = late{after: make([]moment, samples), carried: sampled(), replaced: sampled(), nu: vector(f.k), ratio: vector(f.k)}
	for i := range f.late.after {
		f.late.after[i] = moment{
			sample: sampled(), x: make([]float64, f.n), p: make([]float64, f.n*f.n),
			row: make([]int, f.k), total: make([]int, f.k), known: make([]bool, f.k),
		}
	}
}

// keep notes the sample that was just taken.
func (l *late) keep(f *Filter, y []float64) {
	if len(l.after) == 0 {
		return
	}
	m := &l.after[l.next]
	l.next = (l.next + 1) % len(l.after)
	l.held = min(l.held+1, len(l.after))
	m.set(f.last, y, f.input)
	m.samples = f.samples
	copy(m.x, f.x)
	copy(m.p, f.p)
	copy(m.row, f.row)
	copy(m.total, f.total)
	copy(m.known, f.known)
}

// place returns the place of the moment that is i before the newest.
func (l *late) place(i int) int { return (l.next - 1 - i + 2*len(l.after)) % len(l.after) }

// Last returns the time of the newest sample, ns.
func (f *Filter) Last() int64 { return f.last }

// Late takes a sample of a time before the newest, y (K) with NaN for what was not measured: what was made of the later ones
// is made again, with it. The input stays what it was. It reports false, and takes nothing, where no sample before it is
// kept, see KeepLate, or where the filter began anew since then. Innovations are those of the late sample.
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
	f.last, f.samples, f.input = m.t, m.samples, append(f.input[:0], m.u...)
	copy(f.x, m.x)
	copy(f.p, m.p)
	copy(f.row, m.row)
	copy(f.total, m.total)
	copy(f.known, m.known)
}
