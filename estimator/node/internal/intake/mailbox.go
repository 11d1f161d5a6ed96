package intake

import (
	"sync"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Arrival is a state that was accepted.
type Arrival struct {
	State  wire.State
	At     int64  // ns, steady, when it came
	Age    int64  // ns, how old it was then
	Period int64  // ns between states that are answered, as known then; 0 = not known
	Epoch  uint64 // of the link when it came

	// Set by the filter, where the model has one. State.X is then its estimate.
	Measured  []float64 // K, what came, NaN = not measured
	Compared  []float64 // K, what predictions are compared with: the measurement, the estimate of what was not measured
	Unsettled bool      // the estimate does not count yet
	Stamp     int64     // ns, State.T as it came
	Late      bool      // it was measured before the newest; State is that of the newest
	Dropped   bool      // it came too late to be taken
	Unasked   bool      // its sender sends no input, and another does: it is taken, and not answered
	Carried   bool      // State.U is that of the sender which sends it
}

// CopyFrom makes a a copy that shares no memory with b.
func (a *Arrival) CopyFrom(b *Arrival) {
	was := *a
	*a = *b
	s, o := &a.State, &was.State
	for _, v := range []struct {
		dst *[]float64
		mem []float64
	}{{&s.X, o.X}, {&s.P0, o.P0}, {&s.U, o.U}, {&s.Plan, o.Plan}, {&a.Measured, was.Measured}, {&a.Compared, was.Compared}} {
		*v.dst = append(v.mem[:0], *v.dst...)
	}
	s.FirstUnknown = append(o.FirstUnknown[:0], s.FirstUnknown...)
}

// Mailbox hands arrivals from one goroutine to another, the oldest first. It holds a
// few. Where more come they come faster than they can be answered, and only the newest
// is worth it: the others are dropped. The memory of its arrivals is used again.
type Mailbox struct {
	Ready chan struct{} // one token when there may be an arrival

	mu      sync.Mutex
	filling *Arrival   // the writer's
	waiting []*Arrival // oldest first
	reading *Arrival   // the reader's
	spare   []*Arrival
	reads   uint64
}

// NewMailbox returns one that holds n arrivals.
func NewMailbox(n int) *Mailbox {
	b := &Mailbox{Ready: make(chan struct{}, 1), filling: new(Arrival), reading: new(Arrival), waiting: make([]*Arrival, 0, n)}
	for range n {
		b.spare = append(b.spare, new(Arrival))
	}
	return b
}

// Blank returns the arrival for the writer to fill. It stays the same until Put.
func (b *Mailbox) Blank() *Arrival { return b.filling }

// Put posts the arrival that Blank returned. It returns how many were dropped for it
// that nobody had read.
func (b *Mailbox) Put() (dropped int) {
	b.mu.Lock()
	if len(b.waiting) == cap(b.waiting) {
		dropped = len(b.waiting)
		b.spare = append(b.spare, b.waiting...)
		b.waiting = b.waiting[:0]
	}
	b.waiting = append(b.waiting, b.filling)
	last := len(b.spare) - 1
	b.filling, b.spare = b.spare[last], b.spare[:last]
	b.mu.Unlock()
	select {
	case b.Ready <- struct{}{}:
	default:
	}
	return dropped
}

// Get returns the oldest arrival that was not read, nil if there is none. It is the
// reader's until the next Get.
func (b *Mailbox) Get() *Arrival {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		return nil
	}
	b.spare = append(b.spare, b.reading)
	b.reading = b.waiting[0]
	b.waiting = b.waiting[:copy(b.waiting, b.waiting[1:])]
	b.reads++
	return b.reading
}

// Waiting returns how many arrivals wait, and how many were read so far.
func (b *Mailbox) Waiting() (waiting int, reads uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting), b.reads
}
