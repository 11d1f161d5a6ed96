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

// mailbox hands the newest arrival from one goroutine to another. It holds one:
// putting a second before the first is taken replaces it. Its three arrivals go
// round, so that their memory is used again.
type mailbox struct {
	ready chan struct{} // one token when there may be an arrival

	mu      sync.Mutex
	full    bool
	filling *arrival // the writer's
	waiting *arrival
	reading *arrival // the reader's
}

func newMailbox() *mailbox {
	return &mailbox{ready: make(chan struct{}, 1), filling: new(arrival), waiting: new(arrival), reading: new(arrival)}
}

// blank returns the arrival for the writer to fill. It stays the same until put.
func (b *mailbox) blank() *arrival { return b.filling }

// put posts the arrival that blank returned and says whether it replaced one that
// nobody had read.
func (b *mailbox) put() (replaced bool) {
	b.mu.Lock()
	replaced = b.full
	b.filling, b.waiting, b.full = b.waiting, b.filling, true
	b.mu.Unlock()
	select {
	case b.ready <- struct{}{}:
	default:
	}
	return replaced
}

// get returns the newest arrival, or nil if there is none that was not read. It
// is the reader's until the next get.
func (b *mailbox) get() *arrival {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.full {
		return nil
	}
	b.reading, b.waiting, b.full = b.waiting, b.reading, false
	return b.reading
}

// peek returns the arrival that waits and its seq, nil if none does. The arrival
// must not be read.
func (b *mailbox) peek() (a *arrival, seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.full {
		return nil, 0
	}
	return b.waiting, b.waiting.state.Seq
}
