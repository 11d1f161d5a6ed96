package node

import (
	"bytes"
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

	mu      sync.Mutex
	report  prediction.Report
	state   []byte // of the monitor; empty = nothing new
	learned []byte // by adaptation, the same
}

// request asks for an update, withState also for the states of the trust monitor and of
// adaptation.
func (s *snapshot) request(withState bool) {
	if withState {
		s.withState.Store(true)
	}
	s.requested.Store(true)
}

// update writes what the engine knows, if that was requested.
func (s *snapshot) update(e *prediction.Engine, clock Clock) {
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
		unix, steady := clock()
		s.learned = e.AppendAdaptation(s.learned[:0], unix, steady)
	}
}

// read returns what was written last.
func (s *snapshot) read() prediction.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.report
	r.Trust = r.Trust.Clone()
	if r.Adaptation.State != nil {
		r.Adaptation.State = r.Adaptation.State.Clone()
	}
	return r
}

// newStates returns the states of the monitor and of adaptation, empty if they were returned
// already.
func (s *snapshot) newStates() (trust, adaptation []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	trust, adaptation = bytes.Clone(s.state), bytes.Clone(s.learned)
	s.state, s.learned = s.state[:0], s.learned[:0]
	return trust, adaptation
}
