package direct

import "slices"

// batchedAgreement is what bounds the displacements of a Batched.
type batchedAgreement struct {
	below  []*Batched      // of the levels below, the one with less history first; nil = no level has Apart
	beside []*batchedLevel // of each level with Apart, see Sorted; nil of others
	g      []float64       // N×3·K, of beside
	bound  [2][]float64    // N×K: the displacements of those below
	shares [3][]float64    // N×K: ∂m by the displacement of the level, of each below
	moved  []float64       // N×K, d (c − m)
}

func (b *Batched) newAgreement(sorted *Sorted) (a batchedAgreement) {
	if b.d.below[0] == nil {
		return a
	}
	n := len(b.times) * len(b.d.x0)
	for i, below := range b.d.below {
		a.below = append(a.below, newBatchedAlone(below, b.times, sorted))
		a.bound[i] = make([]float64, n)
	}
	for i := range a.shares {
		a.shares[i] = make([]float64, n)
	}
	a.moved, a.g, b.next = make([]float64, n), make([]float64, bounds*n), make([]float64, bounds*n)
	for _, of := range sorted.bounded {
		if of == nil {
			a.beside = append(a.beside, nil)
			continue
		}
		l := newBatchedLevel(of, b.times)
		a.beside = append(a.beside, l)
		b.reserve(l)
		b.sums = slices.Grow(b.sums[:0], l.T*l.K*max(1, l.plan))
		b.sums = b.sums[:cap(b.sums)]
	}
	return a
}

// NewBatched takes the memory for evaluations of d at ascending times. sorted are the weights of its model; nil = they are
// sorted here.
func NewBatched(d *Map, times []float64, sorted *Sorted) *Batched {
	if sorted == nil {
		sorted = NewSorted(d.m)
	}
	b := newBatchedAlone(d, times, sorted)
	b.agreements = b.newAgreement(sorted)
	return b
}

// Evaluate writes the displacements of the last Run to dst: N×K.
func (b *Batched) Evaluate(dst []float64) {
	if b.d.measuring() == nil {
		b.alone(dst)
		return
	}
	b.together(dst)
	b.agree(dst)
}

// together evaluates the level of the last Run, and those below, each by itself.
func (b *Batched) together(dst []float64) {
	a, l := &b.agreements, b.level()
	beside, K := a.beside[slices.Index(b.levels, l)], l.K
	b.sum(beside, a.g)
	l.takeColumns(beside)
	for i, t := range b.times {
		g := a.g[i*beside.K : (i+1)*beside.K]
		b.displace(dst[i*K:(i+1)*K], g, t)
		for n := range a.bound {
			b.displace(a.bound[n][i*K:(i+1)*K], g[(1+n)*K:], t)
		}
	}
	for _, below := range a.below {
		below.level().takeColumns(beside)
	}
}

// takeColumns sets the columns of the plan, and their products, to those that another level has already, or to the first of them.
func (l *batchedLevel) takeColumns(of *batchedLevel) {
	if l.V == of.V {
		l.columns = of.columns
		return
	}
	for i := range l.at {
		copy(l.columns[i*l.V:(i+1)*l.V], of.columns[i*of.V:])
	}
}

// Bounding returns what the levels below are evaluated by, whether or not the level of the last Run is bounded; nil = no level is.
func (b *Batched) Bounding() []*Batched { return b.agreements.below }

// Bounded reports whether the level of the last Run is bounded by those below.
func (b *Batched) Bounded() bool { return b.d.bounding() != nil }

// Shares returns the derivatives of the displacements (N×K) by those of the level by itself, which Jacobian and InputAt are of, and by
// those of each of Bounding, after Evaluate.
func (b *Batched) Shares() [3][]float64 { return b.agreements.shares }

// Disagreement returns that of the last Evaluate as of a Map (N×K); nil = 0.
func (b *Batched) Disagreement() []float64 {
	if b.d.measuring() == nil {
		return nil
	}
	return b.agreements.moved
}

// agree bounds displacements (N×K) by those of the levels below.
func (b *Batched) agree(dst []float64) {
	a, l := &b.agreements, b.level()
	for j, s := range l.usual {
		g := agree(dst[j], a.bound[0][j], a.bound[1][j], s)
		a.moved[j] = g.moved()
		if b.d.measures {
			continue
		}
		dst[j] = g.value
		a.shares[0][j], a.shares[1][j], a.shares[2][j] = g.own, 0, 0
		a.shares[1+g.nearest][j] = 1 - g.own
	}
}
