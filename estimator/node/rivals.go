package node

import (
	"sync"
	"sync/atomic"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// rivals are the other estimators that were seen answering for the vehicle. Each
// node hears the statuses of all.
type rivals struct {
	own    string // instance
	forget int64  // ns without a status until a rival is gone

	contested atomic.Bool

	mu   sync.Mutex
	list []rival
	read wire.Status // memory
}

type rival struct {
	instance, model string
	at              int64 // ns, steady
}

// maxRivals bounds the memory; more of them are no different from this many.
const maxRivals = 16

// hear takes a status and returns the name of a rival that is new.
func (r *rivals) hear(data []byte, steady int64) (newcomer string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.read.Decode(data); err != nil || r.read.Instance == r.own {
		return ""
	}
	r.contested.Store(true)
	for i := range r.list {
		if r.list[i].instance == r.read.Instance {
			r.list[i].model, r.list[i].at = r.read.Model, steady
			return ""
		}
	}
	if len(r.list) == maxRivals {
		return ""
	}
	r.list = append(r.list, rival{r.read.Instance, r.read.Model, steady})
	return r.read.Instance
}

// report appends those who are still there to dst.
func (r *rivals) report(dst []wire.Other, steady int64) []wire.Other {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept := r.list[:0]
	for _, v := range r.list {
		if steady-v.at <= r.forget {
			kept = append(kept, v)
			dst = append(dst, wire.Other{Instance: v.instance, Model: v.model, Age: float64(steady-v.at) * 1e-9})
		}
	}
	r.list = kept
	r.contested.Store(len(kept) > 0)
	return dst
}
