package node

import (
	"errors"
	"slices"
	"sync"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// tally counts what became of states. It is safe for concurrent use.
type tally struct {
	mu        sync.Mutex
	received  uint64
	published uint64
	late      uint64
	reasons   [wire.Reasons]uint64
	last      [wire.Reasons]error
	taken     bool
	takenAt   int64 // ns, steady, when the last state was taken
	missed    uint64
	delay     int64   // ns, of the last state taken
	offset    float64 // s, of the robot's clock
	used      uint64
	ticks     uint64
	silent    [wire.Reasons]uint64 // ticks without a prediction
	shortened uint64
	widened   uint64
	latency   latency
	phases    [phases]latency
}

// The phases of a prediction.
const (
	decoding = iota
	predicting
	encoding
	publishing
	phases
)

var phaseNames = [phases]string{"decode", "predict", "encode", "publish"}

// came counts a state that came.
func (t *tally) came() {
	t.mu.Lock()
	t.received++
	t.mu.Unlock()
}

// took notes a state that was taken, the number missed so far, its delay, ns, the
// offset of its clock, s, and what it took to read it, ns.
func (t *tally) took(at int64, missed uint64, delay int64, offset float64, ns int64) {
	t.mu.Lock()
	t.taken, t.takenAt, t.missed, t.delay, t.offset = true, at, missed, delay, offset
	t.phases[decoding].add(ns)
	t.mu.Unlock()
}

// ticked counts ticks that were due.
func (t *tally) ticked(n uint64) {
	t.mu.Lock()
	t.ticks += n
	t.mu.Unlock()
}

// use counts a state that is predicted from.
func (t *tally) use() {
	t.mu.Lock()
	t.used++
	t.mu.Unlock()
}

// quiet counts ticks without a prediction. cause may be nil.
func (t *tally) quiet(r wire.Reason, n uint64, cause error) {
	t.mu.Lock()
	t.silent[r] += n
	if cause != nil {
		t.last[r] = cause
	}
	t.mu.Unlock()
}

// refused counts a state that is not answered. cause may be nil.
func (t *tally) refused(r wire.Reason, cause error) {
	t.mu.Lock()
	t.reasons[r]++
	if cause != nil {
		t.last[r] = cause
	}
	t.mu.Unlock()
}

// bad counts a state for the reason that its error gives.
func (t *tally) bad(err error) {
	var e *wire.Error
	if errors.As(err, &e) {
		t.refused(e.Reason, err)
		return
	}
	t.refused(wire.Malformed, err)
}

// sent counts a prediction with flags f, sent ns after its state came or its tick
// was due, of which the parts took so long.
func (t *tally) sent(ns int64, f wire.Flags, predict, encode, publish int64) {
	t.mu.Lock()
	t.published++
	for _, c := range [...]struct {
		flag wire.Flags
		n    *uint64
	}{{wire.Late, &t.late}, {wire.Shortened, &t.shortened}, {wire.Widened, &t.widened}} {
		if f&c.flag != 0 {
			*c.n++
		}
	}
	t.latency.add(ns)
	t.phases[predicting].add(predict)
	t.phases[encoding].add(encode)
	t.phases[publishing].add(publish)
	t.mu.Unlock()
}

// latency keeps the latest values of one interval; in a longer or faster one the
// oldest are forgotten, but never the maximum.
type latency struct {
	recent [4096]int64
	n      int
	max    int64
}

func (l *latency) add(ns int64) {
	l.recent[l.n%len(l.recent)] = ns
	l.n++
	l.max = max(l.max, ns)
}

// take returns quantiles and maximum in seconds, all 0 if there was nothing, and
// forgets what there was. scratch is memory for the sorting.
func (l *latency) take(scratch *[4096]int64) (p50, p99, most float64) {
	n := min(l.n, len(l.recent))
	if n > 0 {
		s := scratch[:copy(scratch[:], l.recent[:n])]
		slices.Sort(s)
		p50, p99, most = float64(s[n/2])*1e-9, float64(s[n*99/100])*1e-9, float64(l.max)*1e-9
	}
	l.n, l.max = 0, 0
	return p50, p99, most
}
