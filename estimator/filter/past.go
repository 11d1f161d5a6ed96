package filter

import "math"

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
	state
}

// state is what a filter makes of samples.
type state struct {
	x, p    []float64 // n, n×n
	row     []int     // K, outliers in a row
	run     []int     // K, of these the last ones on one side
	side    []float64 // K, sign of the last outlier
	odd     []float64 // K, outliers among the last measurements, of which there were
	seen    []float64 // K, so many
	scale   []float64 // K, variance of the sensor over R
	value   []float64 // K, the last measurement
	spread  []float64 // K, S of that of before
	alike   []float64 // K, mean of the products of successive ν/√S, less those at which the process errs
	still   []int     // K, for how many measurements the sensor's noise does not show
	total   []int     // K, outliers so far
	known   []bool    // K, whether a channel was measured since the last reset
	before  []float64 // K, ν/√S of the last measurement; NaN = it was not used
	samples int       // since the last reset
	settled bool      // whether the estimate counts
}

// newState allocates that of a process of n states and k channels.
func newState(n, k int) state {
	var s state
	for _, v := range s.numbers() {
		*v = make([]float64, k)
	}
	for _, v := range s.counts() {
		*v = make([]int, k)
	}
	s.x, s.p, s.known = make([]float64, n), make([]float64, n*n), make([]bool, k)
	s.forget()
	return s
}

// forget makes sensors those of the configuration.
func (s *state) forget() {
	for k := range s.scale {
		s.scale[k], s.odd[k], s.seen[k], s.alike[k], s.value[k] = 1, 0, 0, 0, math.NaN()
	}
}

// numbers and counts are the vectors of length K.
func (s *state) numbers() [8]*[]float64 {
	return [...]*[]float64{&s.alike, &s.spread, &s.side, &s.odd, &s.seen, &s.scale, &s.value, &s.before}
}
func (s *state) counts() [4]*[]int { return [...]*[]int{&s.row, &s.run, &s.total, &s.still} }

// set makes it equal to another one.
func (s *state) set(o *state) {
	s.samples, s.settled = o.samples, o.settled
	copy(s.x, o.x)
	copy(s.p, o.p)
	copy(s.known, o.known)
	of := o.numbers()
	for i, v := range s.numbers() {
		copy(*v, *of[i])
	}
	counted := o.counts()
	for i, v := range s.counts() {
		copy(*v, *counted[i])
	}
}

// KeepLate makes the filter keep its last samples, as many as given, so that samples may come late. It allocates
// their memory at the first call.
func (f *Filter) KeepLate(samples int) {
	if len(f.late.after) == samples {
		return
	}
	vector := func(n int) []float64 { return make([]float64, 0, n) }
	sampled := func() sample { return sample{y: vector(f.k), u: vector(cap(f.input))} }
	f.late = late{after: make([]moment, samples), carried: sampled(), replaced: sampled(), nu: vector(f.k), ratio: vector(f.k)}
	for i := range f.late.after {
		f.late.after[i] = moment{sampled(), newState(f.n, f.k)}
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
	m.sample.set(f.last, y, f.input)
	m.state.set(&f.state)
}

// place returns the place of the moment that is i before the newest.
func (l *late) place(i int) int { return (l.next - 1 - i + 2*len(l.after)) % len(l.after) }
