package node

import (
	"errors"
	"sync/atomic"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

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
