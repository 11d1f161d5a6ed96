package node

import (
	"sync"
	"sync/atomic"

	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
)

// snapshot hands what the engine knows from the worker to the status. The worker
// writes it when it was requested, between two predictions; the status reads what was
// written last.
type snapshot struct {
	requested atomic.Bool
	withState atomic.Bool

	mu     sync.Mutex
	report prediction.Report
	state  []byte // of the monitor; empty = nothing new
}

// request asks for an update, withState also for the state of the trust monitor.
func (s *snapshot) request(withState bool) {
	if withState {
		s.withState.Store(true)
	}
	s.requested.Store(true)
}

// update writes what the engine knows, if that was requested.
func (s *snapshot) update(e *prediction.Engine) {
	if !s.requested.Load() {
		return
	}
	s.requested.Store(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Report(&s.report)
	if s.withState.Load() {
		s.withState.Store(false)
		s.state = e.AppendState(s.state[:0])
	}
}

// read returns what was written last.
func (s *snapshot) read() prediction.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.report
	r.Trust = r.Trust.Clone()
	return r
}

// newState returns the state of the monitor, empty if it was returned already.
func (s *snapshot) newState() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := append([]byte(nil), s.state...)
	s.state = s.state[:0]
	return b
}
