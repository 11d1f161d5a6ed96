package node

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/node/realtime"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// memoryShare is the part of the available memory that the predictors of a model may take.
// The one in use keeps its own until the other replaced it.
const memoryShare = 2

// queryMemoryShare is the part of that which the predictors of one worker of queries may take.
const queryMemoryShare = 4

// memory returns how many bytes the predictors of a model may take.
func (s *models) memory() int64 {
	if s.maxMemory > 0 {
		return s.maxMemory
	}
	return realtime.Available() / memoryShare
}

// admitMemory returns an error for a model whose predictors need more memory than this
// computer has for them. Nothing is allocated yet.
func (s *models) admitMemory(m *model.Model) error {
	most, need := s.memory(), prediction.Memory(s.settings, m)
	if need > most {
		return fmt.Errorf("model %s needs %d MB of memory for its predictions, and this computer has %d MB for them: set fewer points, or train a smaller model", m.ID, need>>20, most>>20)
	}
	return nil
}

// admitTime measures a model that was loaded and returns an error if it is too slow for its
// deadline on this computer: where no level of its horizon is predicted in time; and where
// each state is answered without a deadline, if the whole horizon takes the better part of
// the time for which a prediction holds. It predicts with P0 where the last state had it.
func (s *models) admitTime(l *prediction.Loaded) error {
	whole, shortest := l.Warm(s.clock, s.covariance.Load())
	period := s.period.Load()
	limit, name := prediction.Deadline(s.settings, period), "the deadline"
	held := s.settings.Validity / prediction.SilentAfter
	switch {
	case s.settings.Deadline > 0:
	case s.settings.Rate > 0:
		name = "the time between two ticks"
	case period > 0:
		name = "the time between two states"
	default:
		limit, name = held, "a quarter of the validity"
	}
	if shortest > limit {
		return tooSlow(l, "the shortest part of its horizon", shortest, name, limit)
	}
	if s.settings.Deadline == 0 && s.settings.Rate == 0 && whole > held {
		return tooSlow(l, "its horizon", whole, "a quarter of the validity", held)
	}
	return nil
}

func tooSlow(l *prediction.Loaded, what string, took int64, limit string, ns int64) error {
	return fmt.Errorf("model %s takes %v to predict %s on this computer, and %s is %v: set fewer points, or train a smaller model",
		l.Model.ID, time.Duration(took).Round(time.Microsecond), what, limit, time.Duration(ns).Round(time.Microsecond))
}

// refusals keep the digests of files that were refused, so that none is tried again as long
// as it is the same.
type refusals struct {
	mu   sync.Mutex
	last map[string]refused // by source
}

// refused is a file that was not accepted, and why.
type refused struct {
	digest [sha256.Size]byte
	why    error
}

// of returns why a file of a source was refused, nil if it was not the last one refused there.
func (r *refusals) of(source string, file []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was, any := r.last[source]; any && was.digest == sha256.Sum256(file) {
		return was.why
	}
	return nil
}

// add notes that a file of a source was refused.
func (r *refusals) add(source string, file []byte, why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last == nil {
		r.last = map[string]refused{}
	}
	r.last[source] = refused{sha256.Sum256(file), why}
}

// errHeld is that the vehicle does not permit a swap now.
var errHeld = errors.New("the vehicle does not permit a swap of its model now")

// permission is whether the vehicle permits swaps.
type permission struct {
	needed bool
	until  atomic.Int64           // ns, steady
	held   atomic.Pointer[string] // ID of a model that waits for it
}

// receivePermission notes what the vehicle says.
func (n *Node) receivePermission(data []byte) {
	var p wire.SwapPermission
	if err := p.Decode(data); err != nil {
		n.log.limited("a permission to swap is not readable: " + err.Error())
		return
	}
	until := int64(0)
	if p.Permitted {
		_, steady := n.cfg.Clock()
		until = steady + wire.PermissionHolds*1e9
	}
	n.models.permission.until.Store(until)
}

// admitSwap returns errHeld where the vehicle does not permit a swap to a model. Going back to the model that
// was in use before is always permitted: the present one may be what endangers the vehicle.
func (s *models) admitSwap(id string) error {
	p := &s.permission
	_, steady := s.clock()
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	if p.needed && steady >= p.until.Load() && !(before != nil && before.ID == id) {
		p.held.Store(&id)
		return errHeld
	}
	return nil
}
