package node

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Node serves one vehicle with one model. Run may be called once.
type Node struct {
	cfg    Config
	models models

	// The intake's, on the goroutine of the subscription.
	K, P    int
	believe wire.PlausibilityLimits
	order   order
	offset  offset

	// The worker's.
	engine   *engine
	task     task
	recorder *recorder
	bridging cost     // of propagating a new state
	newest   *arrival // at a fixed rate: what is predicted from
	buf      []byte
	subject  string

	// The reporter's.
	status     wire.Status
	statuses   []byte
	scratch    [4096]int64
	allocs     allocCounter
	process    processReader
	began      int64 // ns, steady
	before     interval
	states     *nats.Subscription
	maxPayload atomic.Int64 // bytes that the server takes; 0 = not known
	untold     bool         // that the disk does not take what is to be kept

	box      *mailbox
	tally    tally
	rivals   rivals
	findings findings

	pulse      pulse
	lastStatus atomic.Value // []byte
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
	n := &Node{cfg: cfg, K: m.K, P: m.P, box: newMailbox(burst), subject: wire.PredictSubject(cfg.Vehicle)}
	c, err := newCraft(&n.cfg, m)
	if err != nil {
		return nil, err
	}
	c.trust = n.readTrust(m)
	n.models.current, n.models.times = m, c.times
	n.engine = newEngine(&n.cfg, c)
	n.believe.Layout = wire.Layout(m.Channels)
	for _, s := range m.Scale {
		n.believe.MaxStd = append(n.believe.MaxStd, believable*s)
	}
	n.believe.Scale = m.Scale
	n.order = order{shared: !cfg.RobotClock, future: int64(cfg.MaxFuture), age: int64(cfg.MaxAge), resync: int64(cfg.Resync)}
	n.offset = offset{window: offsetWindow, resync: int64(cfg.Resync)}
	n.rivals = rivals{own: cfg.Instance, forget: int64(3*cfg.Every + cfg.Every/2)}
	n.findings.health = -1
	n.status = wire.Status{Vehicle: cfg.Vehicle, Instance: cfg.Instance, Mode: wire.ModeAnswer, Rate: cfg.Rate}
	if cfg.Rate > 0 {
		n.box = newMailbox(1) // ticks are for the newest
		n.status.Mode = wire.ModeRate
	}
	return n, nil
}

// Instance returns the name of this node among those that serve the vehicle.
func (n *Node) Instance() string { return n.cfg.Instance }

// Vehicle returns the vehicle that the node serves.
func (n *Node) Vehicle() string { return n.cfg.Vehicle }

// Times returns the times that are predicted at, in seconds after the state.
func (n *Node) Times() []float64 {
	n.models.mu.Lock()
	defer n.models.mu.Unlock()
	return n.models.times
}

// Totals returns how many states came and how many predictions were sent.
func (n *Node) Totals() (received, published uint64) {
	n.tally.mu.Lock()
	defer n.tally.mu.Unlock()
	return n.tally.received, n.tally.published
}

// Unused says how many states were not predicted from, by the names of the reasons:
// "3 replaced, 1 nan"; empty where none was left.
func (n *Node) Unused() string {
	n.tally.mu.Lock()
	defer n.tally.mu.Unlock()
	var parts []string
	for _, r := range n.tally.list(nil, &n.tally.reasons) {
		parts = append(parts, fmt.Sprintf("%d %s", r.Count, r.Reason))
	}
	return strings.Join(parts, ", ")
}

const (
	buffered = "node: the connection keeps what is published while it is down; make it with Link.Connect"
	drainFor = time.Second

	mostPending      = 8192
	mostPendingBytes = 16 << 20
)

// Run serves until ctx is done; then it answers the states that have come, says
// so in a last status, and returns nil. It returns an error if the connection is
// closed for good. The connection remains the caller's. Run panics if the
// connection would send later what was published while it was down.
func (n *Node) Run(ctx context.Context, nc *nats.Conn) error {
	if nc.Opts.ReconnectBufSize >= 0 {
		panic(buffered)
	}
	if n.cfg.Record != "" {
		var err error
		if n.recorder, err = newRecorder(&n.cfg); err != nil {
			return err
		}
		defer func() {
			if err := n.recorder.close(); err != nil {
				n.cfg.Log("recording: " + err.Error())
			}
		}()
	}
	_, n.began = n.cfg.Clock()
	n.before = interval{at: n.began}
	rivals, err := nc.Subscribe(wire.StatusSubject(n.cfg.Vehicle), func(m *nats.Msg) { n.hear(m.Data) })
	if err != nil {
		return fmt.Errorf("subscribing to %s: %w", wire.StatusSubject(n.cfg.Vehicle), err)
	}
	defer func() { _ = rivals.Unsubscribe() }()
	n.engine.craft.warm(func() int64 { _, steady := n.cfg.Clock(); return steady })
	states, err := nc.Subscribe(wire.StateSubject(n.cfg.Vehicle), func(m *nats.Msg) { n.take(m.Data, epoch(nc)) })
	if err != nil {
		return fmt.Errorf("subscribing to %s: %w", wire.StateSubject(n.cfg.Vehicle), err)
	}
	// What waits longer than this is not worth reading; it is counted.
	if err := states.SetPendingLimits(mostPending, mostPendingBytes); err != nil {
		return fmt.Errorf("subscribing to %s: %w", wire.StateSubject(n.cfg.Vehicle), err)
	}
	n.states = states
	commands, err := n.serveCommands(nc)
	if err != nil {
		return err
	}
	defer func() { _ = commands.Unsubscribe() }()
	if !n.cfg.NoQueries {
		q, err := n.serveQueries(nc)
		if err != nil {
			return err
		}
		defer q.close()
	}
	n.recorder.model(n.engine.craft)
	stop := make(chan struct{})
	var worker sync.WaitGroup
	if n.cfg.Rate > 0 {
		worker.Go(func() { n.beat(nc, stop) })
	} else {
		worker.Go(func() { n.work(nc, stop) })
	}
	err = n.reporting(ctx, nc)
	n.finish(nc, states)
	close(stop)
	worker.Wait()
	n.findings.asked.Store(true)
	n.findings.keep.Store(true)
	n.tell()
	n.keepTrust()
	if err == nil && nc.IsConnected() {
		n.report(nc)
		_ = nc.FlushTimeout(drainFor)
	}
	return err
}

// reporting reports until ctx is done, or returns an error when the connection is
// closed.
func (n *Node) reporting(ctx context.Context, nc *nats.Conn) error {
	every := time.NewTicker(n.cfg.Every)
	defer every.Stop()
	n.report(nc)
	for i := 1; ; i++ {
		select {
		case <-ctx.Done():
			return nil
		case <-every.C:
			if nc.IsClosed() {
				return fmt.Errorf("the link to NATS was closed: %w", lastError(nc))
			}
			n.report(nc)
			n.keepTrust()
			n.findings.asked.Store(true)
			if i%keepEvery == 0 && n.cfg.TrustFile != "" {
				n.findings.keep.Store(true)
			}
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
