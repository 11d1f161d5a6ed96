package node

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/node/internal/reporting"
	"github.com/dgm-robotics/dgm/estimator/node/journal"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// models are the one in use and the one before it. Another one is made ready on
// the goroutine that brings it and used by the worker between two predictions.
type models struct {
	settings  *journal.Settings
	record    bool
	trustFile string
	adaptFile string

	acceptedFile string // "" = nothing is kept
	decisions    decisions
	clock        Clock
	log          func(line string)
	maxMemory    int64        // bytes; 0 = by what is available
	period       atomic.Int64 // ns between states, as last measured; 0 = not known
	refusals     refusals

	covariance atomic.Bool // the last state came with P0

	next    atomic.Pointer[prediction.Loaded]
	swaps   atomic.Uint64
	refused atomic.Pointer[string] // why the last one was

	making sync.Mutex                       // held while one is made ready
	flown  string                           // ID of the model that a rollback goes back to, during it
	kind   string                           // of what adaptation learns with the model in use
	accept model.Acceptance                 // its least number is that of the newest statement
	stated atomic.Pointer[model.Acceptance] // accept for the status; nil = nothing was accepted

	shadow     atomic.Pointer[shadowOf] // nil = none
	since      atomic.Int64             // ns, steady, of the model in use
	permission permission

	mu              sync.Mutex
	current, before *model.Model
	times           []float64 // s, of current
}

// inUse returns the model in use, or the one to be used next, and its times, s.
func (s *models) inUse() (m *model.Model, times []float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current, s.times
}

// load makes a model ready, if it meets memory and deadline on this computer.
func (s *models) load(m *model.Model) (*prediction.Loaded, error) {
	if err := s.admitMemory(m); err != nil {
		return nil, err
	}
	l, err := prediction.Load(s.settings, m, s.record)
	if err != nil {
		return nil, err
	}
	l.Trust = readState(s.trustFile)
	unix, _ := s.clock()
	if err := l.RestoreAdaptation(readState(s.adaptFile), unix); err != nil {
		s.log("adaptation is reset: " + err.Error())
	}
	err = s.admitTime(l)
	if m.ID != "" && m.ID == s.flown {
		err = nil // it was fast enough: what delays it now is no reason not to go back to it
	}
	return l, err
}

// Swap replaces the model in use by another, between two predictions. It returns an
// error, and the old one stays, where the new one is of other channels, does not
// reach the times that are predicted at, fails its self-checks, or needs more time or
// memory than this computer has. It may be called from any goroutine.
func (n *Node) Swap(m *model.Model) error {
	n.models.making.Lock()
	defer n.models.making.Unlock()
	err := n.models.swap(prediction.Private(m))
	if err != nil {
		n.Refuse(err)
	}
	return err
}

// swap makes m the next model, while no other is made ready.
func (s *models) swap(m *model.Model) error {
	if err := m.Check(); err != nil {
		return err
	}
	if err := prediction.Replaceable(m, s.current); err != nil {
		return err
	}
	l, err := s.load(m)
	if err != nil {
		return err
	}
	if kind := l.AdaptKind(); kind != s.kind {
		switch {
		case kind == "" && l.AdaptNote != "":
			s.log("adaptation has ended: " + l.AdaptNote)
		case s.kind != "":
			s.log("adaptation is reset: the model has another horizon, or other amounts")
		}
		s.kind = kind
	}
	s.mu.Lock()
	s.before, s.current, s.times = s.current, m, l.Times
	s.mu.Unlock()
	s.shadow.Store(nil) // it was compared with the last one
	_, steady := s.clock()
	s.since.Store(steady)
	s.next.Store(l)
	s.swaps.Add(1)
	s.refused.Store(nil)
	return nil
}

// Offer swaps to the model in the bytes of a file, unless it is in use already. Where
// the configuration has a public key they must be signed for this vehicle or its fleet, with
// a sequence number that is not less than that of any statement accepted before; and with
// SwapPermission the vehicle must permit it.
func (n *Node) Offer(file []byte) (id string, err error) {
	s := &n.models
	s.making.Lock()
	defer s.making.Unlock()
	m, statement, err := model.DecodeSigned(file, s.accept.Key)
	if err == nil {
		err = s.check(s.accept, statement)
	}
	if err == nil {
		id, err = m.ID, m.Sealed()
	}
	if err == nil && id != n.Model() {
		if err = s.admitSwap(id); err != nil {
			return id, err
		}
		if s.before != nil && id == s.before.ID {
			s.flown = id
		}
		err = s.swap(prediction.Private(m))
		s.flown = ""
	}
	if err != nil {
		n.Refuse(err)
		return id, err
	}
	s.permission.held.Store(nil)
	s.accepted(statement, id, file)
	return id, nil
}

// Refuse notes on the status why a model that was offered is not used.
func (n *Node) Refuse(err error) {
	text := reporting.Shorten(err.Error())
	n.models.refused.Store(&text)
}

var errNoModelBefore = errors.New("there is no previous model: none was swapped")

// Rollback swaps to the model before the one in use and returns its ID. A second
// Rollback undoes the first.
func (n *Node) Rollback() (id string, err error) {
	n.models.making.Lock()
	defer n.models.making.Unlock()
	return n.rollback()
}

// rollback is Rollback while no model is made ready.
func (n *Node) rollback() (id string, err error) {
	m := n.models.before
	if m == nil {
		return "", errNoModelBefore
	}
	n.models.flown = m.ID
	defer func() { n.models.flown = "" }()
	if err := n.models.swap(prediction.Private(m)); err != nil {
		n.Refuse(err)
		return m.ID, err
	}
	return m.ID, nil
}

// rollbackBy is Rollback by a command, which must hold a signed statement where models must
// be signed: for the model before, and with a larger sequence number than all before.
func (n *Node) rollbackBy(c *wire.Command) (id string, err error) {
	s := &n.models
	s.making.Lock()
	defer s.making.Unlock()
	if s.accept.Key == nil {
		return n.rollback()
	}
	statement, err := model.VerifyRollback(c.Statement, c.Signature, s.accept.Key)
	if err != nil {
		return "", err
	}
	next := s.accept
	next.Least, next.Model, next.Unnumbered = s.accept.Least+1, "", false
	if err := s.check(next, statement); err != nil {
		return "", err
	}
	if s.before != nil && statement.Model != s.before.ID {
		return "", fmt.Errorf("the signed command is for model %.16s, but the previous model is %s: sign a command for it", statement.Model, s.before.ID)
	}
	if id, err = n.rollback(); err == nil {
		s.accepted(statement, id, nil)
	}
	return id, err
}

// check returns what is wrong with a statement now.
func (s *models) check(a model.Acceptance, statement model.Statement) error {
	a.Now, _ = s.clock()
	return a.Check(statement)
}

// accepted raises the least number, and keeps it over a restart with the file of the model; nil = the model before is used again.
func (s *models) accepted(statement model.Statement, id string, file []byte) {
	least, was := s.accept.Least, s.accept.Model
	if s.accept.Accepted(statement, id); s.accept.Least == least && s.accept.Model == was {
		return
	}
	s.report()
	if err := s.keep(id, file); err != nil {
		s.log("the accepted signature will be forgotten at a restart: " + err.Error())
	}
}

// report lets the status have what was accepted for the model in use.
func (s *models) report() {
	if a := s.accept; a.Key != nil && a.Model != "" && a.Model == s.current.ID {
		s.stated.Store(&a)
	}
}

// Model returns the ID of the model in use, or of the one to be used next.
func (n *Node) Model() string {
	m, _ := n.models.inUse()
	return m.ID
}

// receiveCommand carries out a command about the model and responds.
func (n *Node) receiveCommand(m *nats.Msg) {
	err := n.command(m.Data)
	o := wire.Outcome{Model: n.Model()}
	if err != nil {
		o.Error = reporting.Shorten(err.Error())
		n.log.limited("a command about the model failed: " + o.Error)
	}
	if wire.IsInbox(m.Reply) {
		_ = m.Respond(o.Append(nil)) // who asked may be gone
	}
}

func (n *Node) command(data []byte) error {
	var c wire.Command
	if err := c.Decode(data); err != nil {
		return err
	}
	switch c.Action {
	case wire.Rollback:
	case wire.ResetAdaptation:
		return n.resetAdaptation()
	default:
		return fmt.Errorf("action %.40q is unknown; known are %s and %s", c.Action, wire.Rollback, wire.ResetAdaptation)
	}
	id, err := n.rollbackBy(&c)
	if err != nil {
		return fmt.Errorf("rolling back: %w", err)
	}
	n.log.limited("rolled back to model " + id)
	return nil
}

// resetFor is how long a command to reset adaptation waits for the end of a prediction.
const resetFor = 2 * time.Second

// resetAdaptation forgets what adaptation has learned.
func (n *Node) resetAdaptation() error {
	w, reset := n.worker, false
	if !w.between(resetFor, func() {
		if reset = w.engine.ResetAdaptation(); reset {
			w.recorder.Reset()
			w.learned.publish(w.engine)
			w.snapshot.request(true) // reported and kept though no state may come
			w.snapshot.update(w.engine, w.clock)
		}
	}) {
		return errors.New("resetting adaptation: the estimator is busy; try again")
	}
	if !reset {
		return errors.New("resetting adaptation: nothing is learned: adaptation is switched off, or the model cannot adapt")
	}
	n.log.limited("adaptation is reset")
	return nil
}

// mostState is the size of a file that neither a monitor nor adaptation writes, bytes.
const mostState = 64 << 20

// readState returns the saved state of a monitor or of adaptation, nil if nothing was saved.
func readState(path string) []byte {
	b, err := readRegular(path, mostState)
	if err != nil {
		return nil
	}
	return b
}
