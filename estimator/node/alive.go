package node

import (
	"sync"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// pulse is what Alive saw the last time.
type pulse struct {
	mu              sync.Mutex
	ticks, overruns uint64
	waited          bool   // a state did
	reads           uint64 // of states
}

// Alive says whether the node has done its work since Alive was asked before: at a
// fixed rate, that ticks went on and at most half of them were missed; else, that
// states which waited then were taken up since. Without a state to answer there is no
// work. It is what a watchdog is fed by, and may be called from one goroutine.
func (n *Node) Alive() bool {
	p := &n.pulse
	p.mu.Lock()
	defer p.mu.Unlock()
	if n.cfg.Rate > 0 {
		t := &n.tally
		t.mu.Lock()
		ticks, overruns := t.ticks, t.silent[wire.Overrun]
		t.mu.Unlock()
		made, missed := ticks-p.ticks, overruns-p.overruns
		p.ticks, p.overruns = ticks, overruns
		return made > 0 && 2*missed <= made
	}
	waiting, reads := n.box.left()
	stuck := waiting > 0 && p.waited && reads == p.reads
	p.waited, p.reads = waiting > 0, reads
	return !stuck
}

// StatusMessage returns the last status as it was published, nil before the first.
// It may be called from any goroutine.
func (n *Node) StatusMessage() []byte {
	b, _ := n.lastStatus.Load().([]byte)
	return b
}
