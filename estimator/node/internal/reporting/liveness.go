package reporting

import (
	"sync"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Liveness compares what was done with what it saw the last time it was asked.
type Liveness struct {
	mu              sync.Mutex
	ticks, overruns uint64
	waited          bool   // a state did
	reads           uint64 // of states
}

// Ticking reports whether ticks went on and at most half of them were missed.
func (l *Liveness) Ticking(c Counts) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	overruns := c.Silent[wire.Overrun]
	made, missed := c.Ticks-l.ticks, overruns-l.overruns
	l.ticks, l.overruns = c.Ticks, overruns
	return made > 0 && 2*missed <= made
}

// Answering reports whether states that waited the last time were read since.
func (l *Liveness) Answering(waiting int, reads uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	stuck := waiting > 0 && l.waited && reads == l.reads
	l.waited, l.reads = waiting > 0, reads
	return !stuck
}
