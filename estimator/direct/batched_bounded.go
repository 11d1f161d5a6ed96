package direct

// batchedAgreement is what bounds the displacements of a Batched.
type batchedAgreement struct {
	below  []*Batched   // of the levels below, the one with less history first; nil = no level has Apart
	bound  [2][]float64 // N×K: their displacements
	shares [3][]float64 // N×K: ∂m by the displacement of the level, of each below
	moved  []float64    // N×K, d (c − m)
}

func newBatchedAgreement(d *Map, times []float64, sorted *Sorted) (a batchedAgreement) {
	if d.below[0] == nil {
		return a
	}
	n := len(times) * len(d.x0)
	for i, below := range d.below {
		a.below = append(a.below, newBatchedAlone(below, times, sorted))
		a.bound[i] = make([]float64, n)
	}
	for i := range a.shares {
		a.shares[i] = make([]float64, n)
	}
	a.moved = make([]float64, n)
	return a
}

// NewBatched takes the memory for evaluations of d at ascending times. sorted are the weights of its model; nil = they are
// sorted here.
func NewBatched(d *Map, times []float64, sorted *Sorted) *Batched {
	if sorted == nil {
		sorted = NewSorted(d.m)
	}
	b := newBatchedAlone(d, times, sorted)
	b.agreements = newBatchedAgreement(d, times, sorted)
	return b
}

// Evaluate writes the displacements of the last Run to dst: N×K.
func (b *Batched) Evaluate(dst []float64) {
	b.alone(dst, nil)
	b.agree(dst)
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

// agree bounds displacements (N×K).
func (b *Batched) agree(dst []float64) {
	if b.d.measuring() == nil {
		return
	}
	a, l := &b.agreements, b.level()
	for i, below := range a.below {
		below.alone(a.bound[i], l)
	}
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
