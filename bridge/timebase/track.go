package timebase

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
func (tr *track) set(i int, x []float64) { copy(tr.values(i), x) }
func (tr *track) swap(i int) { // with the one before it
	a, b := tr.head+i-1, tr.head+i
	tr.t[a], tr.t[b] = tr.t[b], tr.t[a]
	x, y := tr.values(i-1), tr.values(i)
	for k := range x {
		x[k], y[k] = y[k], x[k]
	}
}

// insert puts a sample at its place. A time that is there already keeps the
// first sample or takes the last one. It returns false where the time repeats
// and the first is kept, or where everything held is later and the time has
// passed.
func (tr *track) insert(t int64, x []float64, first bool) bool {
	n := tr.len()
	if n > 0 && tr.time(n-1) >= t {
		for i := n - 1; i >= 0 && tr.time(i) >= t; i-- {
			if tr.time(i) == t {
				if !first {
					tr.set(i, x)
				}
				return !first
			}
		}
	}
	tr.compact()
	tr.t = append(tr.t, t)
	tr.x = append(tr.x, x[:tr.width]...)
	for i := n; i > 0 && tr.time(i-1) > t; i-- {
		tr.swap(i)
	}
	return true
}

// drop drops the n oldest samples.
func (tr *track) drop(n int) { tr.head += n }

// passTo drops the samples before the last one that is not after t.
func (tr *track) passTo(t int64) {
	for tr.len() > 1 && tr.time(1) <= t {
		tr.drop(1)
	}
}

// compact moves the samples to the start of their memory when half of it or more
// is dropped.
func (tr *track) compact() {
	if tr.head < 64 || 2*tr.head < len(tr.t) {
		return
	}
	n := copy(tr.t, tr.t[tr.head:])
	copy(tr.x, tr.x[tr.head*tr.width:])
	tr.t, tr.x, tr.head = tr.t[:n], tr.x[:n*tr.width], 0
}
