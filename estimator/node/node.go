package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Node serves one vehicle with one model. Run may be called once.
type Node struct {
	cfg Config
	m   *model.Model

	// The intake's, on the goroutine of the subscription.
	believe wire.Believable
	order   order

	// The worker's.
	predictor *estimator.Predictor
	dst       *estimator.Prediction
	out       wire.Prediction
	buf       []byte
	subject   string

	// The reporter's.
	status   wire.Status
	statuses []byte
	scratch  [4096]int64
	allocs   allocCounter
	began    int64 // ns, steady
	before   interval

	box    *mailbox
	tally  tally
	rivals rivals
}

// New prepares a node and takes its memory. It returns an error for a model that
// cannot be used and for a configuration that does not fit it.
func New(cfg Config, m *model.Model) (*Node, error) {
	if err := m.Check(); err != nil { // completes what follows from other fields
		return nil, err
	}
	if err := cfg.complete(m); err != nil {
		return nil, err
	}
	p, err := estimator.New(m, cfg.Times)
	if err != nil {
		return nil, err
	}
	n := &Node{cfg: cfg, m: m, predictor: p, dst: p.NewPrediction(), box: newMailbox(), subject: wire.PredictSubject(cfg.Vehicle)}
	n.believe.Layout = wire.Layout(m.Channels)
	for _, s := range m.Scale {
		n.believe.MaxStd = append(n.believe.MaxStd, believable*s)
	}
	n.order = order{shared: !cfg.RobotClock, future: int64(cfg.MaxFuture), age: int64(cfg.MaxAge), resync: int64(cfg.Resync)}
	n.rivals = rivals{own: cfg.Instance, forget: int64(3*cfg.Every + cfg.Every/2)}
	n.prepare()
	return n, nil
}

// prepare fills in what is the same in every message.
func (n *Node) prepare() {
	o := &n.out
	o.Vehicle, o.Model, o.Instance = n.cfg.Vehicle, n.m.ID, n.cfg.Instance
	for _, c := range n.m.Channels[:n.m.K] {
		o.Channels = append(o.Channels, c.Name)
		o.Units = append(o.Units, c.Unit)
	}
	o.Horizon, o.Mean, o.Std, o.ObsStd = n.dst.Times, n.dst.Mean, n.dst.Std, n.dst.ObsStd
	n.buf = o.Append(nil)
	n.buf = append(n.buf, make([]byte, 64)...)[:0] // numbers grow
	n.status = wire.Status{Vehicle: o.Vehicle, Model: o.Model, Instance: o.Instance}
}

// Instance returns the name of this node among those that serve the vehicle.
func (n *Node) Instance() string { return n.cfg.Instance }

// Vehicle returns the vehicle that the node serves.
func (n *Node) Vehicle() string { return n.cfg.Vehicle }

// Times returns the times that are predicted at, in seconds after the state.
func (n *Node) Times() []float64 { return n.cfg.Times }

// Totals returns how many states came and how many predictions were sent.
func (n *Node) Totals() (received, published uint64) {
	n.tally.mu.Lock()
	defer n.tally.mu.Unlock()
	return n.tally.received, n.tally.published
}

const (
	buffered = "node: the connection keeps what is published while it is down; make it with Link.Connect"
	drainFor = time.Second
)

// Run serves until ctx is done; then it answers the states that have come, says
// so in a last status, and returns nil. It returns an error if the connection is
// closed for good. The connection remains the caller's. Run panics if the
// connection would send later what was published while it was down.
func (n *Node) Run(ctx context.Context, nc *nats.Conn) error {
	if nc.Opts.ReconnectBufSize >= 0 {
		panic(buffered)
	}
	_, n.began = n.cfg.Clock()
	n.before = interval{at: n.began}
	rivals, err := nc.Subscribe(wire.StatusSubject(n.cfg.Vehicle), func(m *nats.Msg) { n.hear(m.Data) })
	if err != nil {
		return fmt.Errorf("subscribing to %s: %w", wire.StatusSubject(n.cfg.Vehicle), err)
	}
	defer func() { _ = rivals.Unsubscribe() }()
	states, err := nc.Subscribe(wire.StateSubject(n.cfg.Vehicle), func(m *nats.Msg) { n.take(m.Data, epoch(nc)) })
	if err != nil {
		return fmt.Errorf("subscribing to %s: %w", wire.StateSubject(n.cfg.Vehicle), err)
	}
	stop := make(chan struct{})
	var worker sync.WaitGroup
	worker.Go(func() { n.work(nc, stop) })
	err = n.tick(ctx, nc)
	n.finish(nc, states)
	close(stop)
	worker.Wait()
	if err == nil && nc.IsConnected() {
		n.report(nc)
		_ = nc.FlushTimeout(drainFor)
	}
	return err
}

// tick reports until ctx is done, or returns an error when the connection is
// closed.
func (n *Node) tick(ctx context.Context, nc *nats.Conn) error {
	every := time.NewTicker(n.cfg.Every)
	defer every.Stop()
	n.report(nc)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
			if nc.IsClosed() {
				return fmt.Errorf("the link to NATS was closed: %w", lastError(nc))
			}
			n.report(nc)
		}
	}
}

// finish ends the subscription after what has come was taken.
func (n *Node) finish(nc *nats.Conn, states *nats.Subscription) {
	done := make(chan struct{})
	states.SetClosedHandler(func(string) { close(done) })
	if nc.IsConnected() && states.Drain() == nil {
		select {
		case <-done:
			return
		case <-time.After(drainFor):
		}
	}
	_ = states.Unsubscribe() // an error: it is gone already
}

// work answers arrivals until stop is closed and none is left.
func (n *Node) work(nc *nats.Conn, stop <-chan struct{}) {
	for stopped := false; !stopped; {
		select {
		case <-n.box.ready:
		case <-stop:
			stopped = true
		}
		for a := n.box.get(); a != nil; a = n.box.get() {
			n.answer(nc, a)
		}
	}
}

// epoch counts the times that a connection came back: what came in one epoch is
// not answered in another.
func epoch(nc *nats.Conn) uint64 { return nc.Stats().Reconnects }

// lastError returns the last error of a connection, never nil.
func lastError(nc *nats.Conn) error {
	if err := nc.LastError(); err != nil {
		return err
	}
	return nats.ErrConnectionClosed
}
