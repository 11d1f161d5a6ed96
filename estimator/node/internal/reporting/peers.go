package reporting

import (
	"sync"
	"sync/atomic"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Peers are the other instances that answer for the same vehicle. Each node receives
// the statuses of all. They are safe for concurrent use.
type Peers struct {
	own    string // instance
	forget int64  // ns without a status until a peer is gone

	contested atomic.Bool

	mu   sync.Mutex
	list []peer
	read wire.Status // memory
}

type peer struct {
	instance, model string
	at              int64 // ns, steady
}

// maxPeers bounds the memory; more of them are no different from this many.
const maxPeers = 16

// NewPeers returns the peers of an instance; one is gone after forget ns without a
// status.
func NewPeers(own string, forget int64) *Peers { return &Peers{own: own, forget: forget} }

// Contested reports whether there is a peer.
func (p *Peers) Contested() bool { return p.contested.Load() }

// Receive decodes a status that came at a steady time. It returns the instance of a
// peer that is new, and "" else.
func (p *Peers) Receive(data []byte, steady int64) (newcomer string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.read.Decode(data); err != nil || p.read.Instance == p.own {
		return ""
	}
	p.contested.Store(true)
	for i := range p.list {
		if p.list[i].instance == p.read.Instance {
			p.list[i].model, p.list[i].at = p.read.Model, steady
			return ""
		}
	}
	if len(p.list) == maxPeers {
		return ""
	}
	p.list = append(p.list, peer{p.read.Instance, p.read.Model, steady})
	return p.read.Instance
}

// report forgets those who are gone and appends the others to dst.
func (p *Peers) report(dst []wire.Other, steady int64) []wire.Other {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.list[:0]
	for _, v := range p.list {
		if steady-v.at <= p.forget {
			kept = append(kept, v)
			dst = append(dst, wire.Other{Instance: v.instance, Model: v.model, Age: float64(steady-v.at) * 1e-9})
		}
	}
	p.list = kept
	p.contested.Store(len(kept) > 0)
	return dst
}
