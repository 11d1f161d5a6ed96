package intake

import "slices"

// remembered is how many states are remembered: 10 s at 100 Hz, 1 s at 1 kHz.
const remembered = 1024

// ring holds the last values that were added.
type ring struct {
	values  [remembered]uint64
	n, next int
}

func (r *ring) add(v uint64) {
	r.values[r.next] = v
	r.next = (r.next + 1) % remembered
	r.n = min(r.n+1, remembered)
}

func (r *ring) has(v uint64) bool { return slices.Contains(r.values[:r.n], v) }

func (r *ring) reset() { r.n, r.next = 0, 0 }

// taken remembers the last states that were accepted.
type taken struct{ sums, seqs ring }

func (r *taken) add(m *moment) {
	r.sums.add(m.sum)
	r.seqs.add(m.seq)
}

func (r *taken) reset() {
	r.sums.reset()
	r.seqs.reset()
}
