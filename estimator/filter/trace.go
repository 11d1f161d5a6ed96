package filter

// Trace records the samples of a filter of n states, one after the other, for a smoother.
type Trace struct {
	N                int       // n
	Begins           []bool    // whether the filter began with the sample: nothing before it counts
	X, P             []float64 // n and n×n, after the sample
	Prior, PriorP    []float64 // the same before it; of no meaning where the filter began
	Transition       []float64 // n×n, derivative of Prior by X of the sample before
	transition, work []float64
}

// Record makes the filter append its steps from now on to t; nil ends it.
func (f *Filter) Record(t *Trace) {
	if f.trace = t; t != nil {
		t.N, t.transition, t.work = f.n, make([]float64, f.n*f.n), make([]float64, f.n*f.n)
	}
}

// moves begins the time between two samples.
func (t *Trace) moves() {
	if t != nil {
		clear(t.transition)
		for i := range t.N {
			t.transition[i*t.N+i] = 1
		}
	}
}

// moved multiplies the derivative of a part of that time on the others.
func (t *Trace) moved(f *Filter) {
	if t == nil {
		return
	}
	clear(t.work)
	for i := range t.N {
		for l, v := range f.f[i*t.N : (i+1)*t.N] {
			for j, w := range t.transition[l*t.N : (l+1)*t.N] {
				t.work[i*t.N+j] += v * w
			}
		}
	}
	copy(t.transition, t.work)
}

// mirrored changes the sign of a state after that time.
func (t *Trace) mirrored(i int) {
	if t != nil {
		for j := range t.N {
			t.transition[i*t.N+j] = -t.transition[i*t.N+j]
		}
	}
}

// predicted appends what was predicted of a sample.
func (t *Trace) predicted(f *Filter) {
	if t != nil {
		t.Prior, t.PriorP, t.Transition = append(t.Prior, f.x...), append(t.PriorP, f.p...), append(t.Transition, t.transition...)
	}
}

// updated appends what it has made of it.
func (t *Trace) updated(f *Filter) {
	if t != nil {
		t.Begins, t.X, t.P = append(t.Begins, false), append(t.X, f.x...), append(t.P, f.p...)
	}
}

// begins appends a sample that the filter began with.
func (t *Trace) begins(f *Filter) {
	if t == nil {
		return
	}
	if samples := len(t.Begins) + 1; len(t.Prior) < samples*t.N { // else it was predicted, and the filter lost
		t.moves()
		t.predicted(f)
	}
	t.Begins, t.X, t.P = append(t.Begins, true), append(t.X, f.x...), append(t.P, f.p...)
}
