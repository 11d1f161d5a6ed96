package queries

import (
	"slices"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// blocks answers questions of means, deviations, tubes and scores many at once: what differs between them stands side by
// side. Other questions are answered one by one.
type blocks struct {
	of       *estimator.Batch
	times    []float64
	history  []float64 // rows of the questions of a part
	mean     []float64
	std, obs []float64
	tube     []float64
	ood      []float64
}

// leastBlock is how many questions a query has at least that are answered together.
const leastBlock = 16

// mostBlock is how many are answered between two looks at the time.
const mostBlock = 64

// fit reports whether the questions of a batch are answered many at once.
func (w *wants) fit(n int) bool {
	return n >= leastBlock && !(w.cov || w.samples || w.violation || w.jacobian || w.adjoint || w.dynamics)
}

// run answers the questions from one to before another, at most mostBlock, and appends their numbers to the answer. done is
// false where they are to be answered one by one: some have the history that the model reads, and some have not.
func (k *blocks) run(m *model.Model, p *past, a *wire.Answer, b *batch, from, to int) (done bool, err error) {
	n, row := to-from, m.History.Rows()*(m.K+m.P)
	k.history = k.history[:0]
	without := 0
	for i := from; i < to && row > 0; i++ {
		rows, all := p.before(b.past, i, b.States.Row(i))
		if !all {
			without++
			continue
		}
		if same := i > from && len(k.history) == row && slices.Equal(k.history, rows); !same || len(k.history) > row {
			k.history = append(k.history, rows...)
		}
	}
	if without > 0 && without < n || len(k.history) > row && len(k.history) != n*row {
		return false, nil
	}
	q := b.Questions
	for _, f := range [...]*estimator.Rows{&q.States, &q.P0, &q.U, &q.Plans} {
		if !f.Same() {
			f.X = f.X[from*f.Size : to*f.Size]
		}
	}
	q.History = estimator.Rows{Name: q.History.Name, X: k.history, Size: row, Content: q.History.Content}
	size := len(k.times) * m.K
	d := estimator.Predictions{OOD: room(&k.ood, n), Mean: room(&k.mean, n*size)}
	if w := &b.wants; w.std {
		d.Std, d.ObsStd = room(&k.std, n*size), room(&k.obs, n*size)
	}
	if b.wants.tube {
		d.Tube = room(&k.tube, n*len(estimator.Tube{}))
	}
	if err := k.of.Predict(&d, &q); err != nil {
		return false, errNotFinite
	}
	a.NoHistory += without
	a.OOD = append(a.OOD, d.OOD...)
	if b.wants.mean {
		a.Mean = append(a.Mean, d.Mean...)
	}
	a.Std, a.ObsStd, a.Tube = append(a.Std, d.Std...), append(a.ObsStd, d.ObsStd...), append(a.Tube, d.Tube...)
	return true, nil
}

// room returns n numbers of memory that grows.
func room(v *[]float64, n int) []float64 {
	*v = slices.Grow((*v)[:0], n)[:n]
	return *v
}
