package timebase

import "slices"

// track holds the samples of one topic in the order of their times.
type track struct {
	width int
	t     []int64
	x     []float64 // len(t)×width
	head  int       // samples before it are dropped
}

func (tr *track) len() int               { return len(tr.t) - tr.head }
func (tr *track) time(i int) int64       { return tr.t[tr.head+i] }
func (tr *track) values(i int) []float64 { k := (tr.head + i) * tr.width; return tr.x[k : k+tr.width] }

// insert puts a sample at its place. Of samples with one time the first is kept, or the
// last. It returns false where the time repeats and the first is kept.
func (tr *track) insert(t int64, x []float64, first bool) bool {
	tr.compact()
	x = x[:tr.width]
	i := len(tr.t)
	if i == tr.head || tr.t[i-1] < t { // in order, as nearly all are
		tr.t, tr.x = append(tr.t, t), append(tr.x, x...)
		return true
	}
	for i > tr.head && tr.t[i-1] > t {
		i--
	}
	if i > tr.head && tr.t[i-1] == t {
		if !first {
			copy(tr.x[(i-1)*tr.width:], x)
		}
		return !first
	}
	tr.t, tr.x = slices.Insert(tr.t, i, t), slices.Insert(tr.x, i*tr.width, x...)
	return true
}

// passTo drops the samples before the last one that is not after t.
func (tr *track) passTo(t int64) {
	for tr.len() > 1 && tr.time(1) <= t {
		tr.head++
	}
}

// compact moves the samples to the start of their memory when half of it or more
// is dropped.
func (tr *track) compact() {
	if tr.head >= 64 && 2*tr.head >= len(tr.t) {
		tr.t, tr.x, tr.head = slices.Delete(tr.t, 0, tr.head), slices.Delete(tr.x, 0, tr.head*tr.width), 0
	}
}
