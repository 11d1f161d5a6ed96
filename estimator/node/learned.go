package node

import (
	"sync"

	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
)

// learned hands what predictions are corrected by from the worker to the service of queries.
type learned struct {
	mu    sync.Mutex
	state adapt.State
	model string // ID; "" = predictions are not corrected
}

// publish copies what the engine has learned, unless it is being read: then the next call
// does. The worker never waits.
func (l *learned) publish(e *prediction.Engine) {
	if !l.mu.TryLock() {
		return
	}
	defer l.mu.Unlock()
	if l.model = ""; e.CopyAdaptation(&l.state) {
		l.model = e.Loaded.Model.ID
	}
}

// copyTo copies to dst what predictions of a model are corrected by. It reports whether they
// are.
func (l *learned) copyTo(dst *adapt.State, model string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.model == "" || l.model != model {
		return false
	}
	dst.CopyFrom(&l.state)
	return true
}
