package node

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/dgm-robotics/dgm/estimator/model"
)

// models are the one in use and the one before it. Another one is made ready on
// the goroutine that brings it and taken by the worker between two predictions.
type models struct {
	next atomic.Pointer[craft]

	making sync.Mutex // held while one is made ready

	mu              sync.Mutex
	current, before *model.Model
	times           []float64 // s, of current

	count   atomic.Uint64
	refused atomic.Pointer[string]
}

// Swap takes another model in place of the one in use, between two predictions. It
// returns an error, and the old one stays, where the new one is of other channels,
// does not reach the times that are predicted at, or fails its self-checks. It may
// be called from any goroutine.
func (n *Node) Swap(m *model.Model) error {
	n.models.making.Lock()
	defer n.models.making.Unlock()
	return n.swap(m)
}

// swap does it, while no other is made ready.
func (n *Node) swap(m *model.Model) error {
	m = private(m)
	c, err := n.ready(m)
	if err != nil {
		n.Refuse(err)
		return err
	}
	n.models.mu.Lock()
	n.models.before, n.models.current, n.models.times = n.models.current, m, c.times
	n.models.mu.Unlock()
	n.models.next.Store(c)
	n.models.count.Add(1)
	n.models.refused.Store(nil)
	return nil
}

// ready makes a model ready to be taken.
func (n *Node) ready(m *model.Model) (*craft, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	if err := fits(m, n.models.current); err != nil {
		return nil, err
	}
	c, err := newCraft(&n.cfg, m)
	if err != nil {
		return nil, err
	}
	c.trust = n.readTrust(m)
	c.warm(func() int64 { _, steady := n.cfg.Clock(); return steady })
	return c, nil
}

// Offer takes the bytes of a model file as Swap takes a model. Where the
// configuration has a public key they must be signed.
func (n *Node) Offer(file []byte) (id string, err error) {
	m, err := model.DecodeSigned(file, n.cfg.PublicKey)
	if err == nil {
		err = m.Sealed()
	}
	if err != nil {
		n.Refuse(err)
		return "", err
	}
	if m.ID == n.Model() {
		return m.ID, nil // it is in use already
	}
	return m.ID, n.Swap(m)
}

// Refuse notes on the status why a model that was offered was not taken.
func (n *Node) Refuse(err error) {
	text := shorten(err.Error())
	n.models.refused.Store(&text)
}

var errNoModelBefore = errors.New("there is no model to go back to: none was swapped")

// Rollback takes the model before the one in use again and returns its ID. Twice
// is back where it was.
func (n *Node) Rollback() (id string, err error) {
	n.models.making.Lock()
	defer n.models.making.Unlock()
	m := n.models.before
	if m == nil {
		return "", errNoModelBefore
	}
	return m.ID, n.swap(m)
}

// Model returns the ID of the model in use, or of the one to be used next.
func (n *Node) Model() string {
	n.models.mu.Lock()
	defer n.models.mu.Unlock()
	return n.models.current.ID
}

// change takes the model that was made ready, if there is one. It is the worker's.
func (n *Node) change() {
	if n.models.next.Load() == nil {
		return
	}
	if c := n.models.next.Swap(nil); c != nil {
		n.engine.use(c)
		n.recorder.model(c)
	}
}
