package intake

import "slices"

// ring holds the last values that were added.
type ring struct {
	values  [1024]uint64
	n, next int
}

func (r *ring) add(v uint64) {
	r.values[r.next] = v
	r.next = (r.next + 1) % len(r.values)
	r.n = min(r.n+1, len(r.values))
}

func (r *ring) has(v uint64) bool { return slices.Contains(r.values[:r.n], v) }

func (r *ring) reset() { r.n, r.next = 0, 0 }

// remembered is how many states are remembered, a prime: 160 s at 100 Hz, 16 s at 1 kHz, which
// is longer than a prediction holds.
const remembered = 16381

// taken remembers the last states that were accepted, each at the place of its sequence number.
type taken [remembered]struct{ seq, sum uint64 } // seq 0 = none, else 1 more

func (r *taken) add(m *moment) {
	at := &r[m.seq%remembered]
	at.seq, at.sum = m.seq+1, m.sum
}

// has reports whether a state was accepted, with the same bytes.
func (r *taken) has(m *moment) bool { return r.numbered(m) && r[m.seq%remembered].sum == m.sum }

// numbered reports whether a state with the sequence number of m was accepted.
func (r *taken) numbered(m *moment) bool {
	at := &r[m.seq%remembered]
	return at.seq != 0 && at.seq == m.seq+1
}
