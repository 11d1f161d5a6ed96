package node

import (
	"sync"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// arrival is a state that was taken.
type arrival struct {
	state  wire.State
	at     int64  // ns, steady, when it came
	age    int64  // ns, how old it was then
	epoch  uint64 // of the link when it came
	period int64  // ns between states, as known then; 0 = not known
}

// burst is how many states wait for their answers. Where a scheduler or a radio held
// them up they come together, and each still has one: 32 ms at 1 kHz.
const burst = 32

// mailbox hands arrivals from one goroutine to another, the oldest first. It holds a
// few. Where more come they come faster than they can be answered, and only the newest
// is worth it: the others are dropped. Its arrivals go round, so that their memory is
// used again.
type mailbox struct {
	ready chan struct{} // one token when there may be an arrival

	mu      sync.Mutex
	filling *arrival   // the writer's
	waiting []*arrival // oldest first
	reading *arrival   // the reader's
	spare   []*arrival
	reads   uint64
}

// newMailbox returns one that holds so many.
func newMailbox(holds int) *mailbox {
	b := &mailbox{ready: make(chan struct{}, 1), filling: new(arrival), reading: new(arrival), waiting: make([]*arrival, 0, holds)}
	for range holds {
		b.spare = append(b.spare, new(arrival))
	}
	return b
}

// blank returns the arrival for the writer to fill. It stays the same until put.
func (b *mailbox) blank() *arrival { return b.filling }

// put posts the arrival that blank returned and says how many were dropped for it that
// nobody had read.
func (b *mailbox) put() (dropped int) {
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
	case b.ready <- struct{}{}:
	default:
	}
	return dropped
}

// get returns the oldest arrival that was not read, or nil if there is none. It is the
// reader's until the next get.
func (b *mailbox) get() *arrival {
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

// left returns how many arrivals wait, and how many were read so far.
func (b *mailbox) left() (waiting int, reads uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting), b.reads
}
