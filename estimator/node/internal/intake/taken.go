package intake

import "slices"

// remembered is how many states are remembered: 10 s at 100 Hz, 1 s at 1 kHz.
const remembered = 1024

// taken remembers the last states that were accepted.
type taken struct {
	sums, seqs [remembered]uint64 // rings
	n, next    int
}

func (r *taken) add(m *moment) {
	r.sums[r.next], r.seqs[r.next] = m.sum, m.seq
	r.next = (r.next + 1) % remembered
	r.n = min(r.n+1, remembered)
}

// has reports whether a state of that sum was accepted.
func (r *taken) has(sum uint64) bool { return slices.Contains(r.sums[:r.n], sum) }

// hasSeq reports whether a state of that sequence number was accepted.
func (r *taken) hasSeq(seq uint64) bool { return slices.Contains(r.seqs[:r.n], seq) }
