package reporting

import (
	"runtime/metrics"
	"sync"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// process reads what the runtime knows of this process.
type process struct{ samples [4]metrics.Sample }

func newProcess() *process {
	p := &process{}
	for i, name := range [...]string{
		"/memory/classes/total:bytes", "/memory/classes/heap/released:bytes", "/sched/goroutines:goroutines", "/gc/heap/allocs:objects",
	} {
		p.samples[i].Name = name
	}
	return p
}

// read returns the bytes that the runtime has from the operating system and has not
// given back, the goroutines, and the objects allocated so far; 0 where this runtime
// does not count them.
func (p *process) read() (memory, goroutines, allocs uint64) {
	metrics.Read(p.samples[:])
	value := func(i int) uint64 {
		if p.samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return p.samples[i].Value.Uint64()
	}
	return value(0) - value(1), value(2), value(3)
}

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
