package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/intake"
	"github.com/dgm-robotics/dgm/estimator/node/internal/prediction"
	"github.com/dgm-robotics/dgm/estimator/node/internal/queries"
	"github.com/dgm-robotics/dgm/estimator/node/internal/recording"
	"github.com/dgm-robotics/dgm/estimator/node/internal/reporting"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Node serves one vehicle with one model. Run may be called once.
type Node struct {
	cfg      Config
	log      throttledLog // of what messages cause
	models   models
	counters *reporting.Counters
	peers    *reporting.Peers
	liveness reporting.Liveness

	intake *intake.Intake
	worker *worker
	status *status
}

// burst is how many states may wait for their answers. Where a scheduler or a radio
// delayed them they come together, and each still has one: 32 ms at 1 kHz.
const burst = 32

// fastest is the rate of states, Hz, of which none is lost between two ticks, and mostBetween
// how many of them wait at most.
const fastest, mostBetween = 1000, 224

// New prepares a node and allocates its memory. It returns an error for a model that
// cannot be used, or not in time on this computer, and for a configuration that does not
// fit it.
func New(cfg Config, m *model.Model) (*Node, error) {
	if err := m.Check(); err != nil { // completes what follows from other fields
		return nil, err
	}
	if err := cfg.complete(m); err != nil {
		return nil, err
	}
	n := &Node{cfg: cfg, log: throttledLog{log: cfg.Log}, counters: &reporting.Counters{}, peers: reporting.NewPeers(cfg.Instance, int64(3*cfg.Every+cfg.Every/2))}
	n.models = models{settings: cfg.settings(), record: cfg.Record != "", clock: cfg.Clock, maxMemory: cfg.MaxMemory, accept: cfg.Accept, log: cfg.Log, adaptFile: cfg.adaptFile(), acceptedFile: AcceptedFile(cfg.TrustFile), decisions: decisions{file: decisionsFile(cfg.TrustFile)}}
	if !cfg.NoTrust {
		n.models.trustFile = cfg.TrustFile
	}
	l, err := n.models.load(m)
	if err != nil {
		return nil, err
	}
	n.models.current, n.models.times, n.models.kind = m, l.Times, l.AdaptKind()
	n.models.permission.needed = cfg.SwapPermission
	n.models.report()
	_, steady := cfg.Clock()
	n.models.since.Store(steady)
	hold := burst
	if cfg.Rate > 0 { // ticks are for the newest, and for the history before it
		hold += min(int(fastest/cfg.Rate), mostBetween)
	}
	n.intake = intake.New(intake.Config{
		RobotClock: cfg.RobotClock, MaxFuture: int64(cfg.MaxFuture), MaxAge: int64(cfg.MaxAge),
		Oldest: prediction.SilentAfter * int64(cfg.AgeLimit), Resync: int64(cfg.Resync), Hold: hold, Clock: cfg.Clock,
	}, m, n.counters)
	n.worker = newWorker(n, l)
	n.status = newStatus(n)
	return n, nil
}

// Instance returns the name of this node among those that serve the vehicle.
func (n *Node) Instance() string { return n.cfg.Instance }

// Vehicle returns the vehicle that the node serves.
func (n *Node) Vehicle() string { return n.cfg.Vehicle }

// Times returns the times that are predicted at, in seconds after the state.
func (n *Node) Times() []float64 {
	_, times := n.models.inUse()
	return times
}

// Totals returns how many states were received and how many predictions were sent.
func (n *Node) Totals() (received, published uint64) {
	c := n.counters.Counts()
	return c.Received, c.Published
}

// Unused lists how many states were not predicted from, by the names of the reasons:
// "3 replaced, 1 nan"; empty where all were.
func (n *Node) Unused() string { return n.counters.Unused() }

// Alive reports whether the node has done its work since Alive was called before: at
// a fixed rate, that ticks went on and at most half of them were missed; else, that
// states which waited then were read since. Without a state to answer there is no
// work. A watchdog is fed by it.
func (n *Node) Alive() bool {
	if n.cfg.Rate > 0 {
		return n.liveness.Ticking(n.counters.Counts())
	}
	return n.liveness.Answering(n.intake.Mailbox.Waiting())
}

// StatusMessage returns the last status as it was published, nil before the first.
// It may be called from any goroutine.
func (n *Node) StatusMessage() []byte {
	b, _ := n.status.last.Load().([]byte)
	return b
}

const (
	buffered = "node: the connection keeps what is published while it is down; make it with Link.Connect"
	drainFor = time.Second

	mostPending      = 8192
	mostPendingBytes = 16 << 20
)

// Run serves until ctx is done; then it answers the states that have come, publishes
// a last status, and returns nil. It returns an error if the connection is closed for
// good. The connection remains the caller's. Run panics if the connection would send
// later what was published while it was down.
func (n *Node) Run(ctx context.Context, nc *nats.Conn) (err error) {
	if nc.Opts.ReconnectBufSize >= 0 {
		panic(buffered)
	}
	w := n.worker
	if w.recorder, err = recording.New(n.cfg.Record, n.models.settings, n.cfg.RecordLimit); err != nil {
		return err
	}
	defer func() {
		if err := w.recorder.Close(); err != nil {
			n.cfg.Log("recording: " + err.Error())
		}
	}()
	_, now := n.cfg.Clock()
	n.status.reporter.Begin(now)
	if note := w.engine.Loaded.AdaptNote; note != "" && n.cfg.Adapt != wire.AdaptOn { // with that it is an alarm of the status
		n.cfg.Log("adaptation is off: " + note)
	}
	peers, err := subscribe(nc, wire.StatusSubject(n.cfg.Vehicle), func(m *nats.Msg) { n.receivePeer(m.Data) })
	if err != nil {
		return err
	}
	defer func() { _ = peers.Unsubscribe() }()
	states, err := subscribe(nc, wire.StateSubject(n.cfg.Vehicle), func(m *nats.Msg) { n.intake.Receive(m.Data, epoch(nc)) })
	if err != nil {
		return err
	}
	// What waits longer than this is not worth reading; it is counted.
	if err := states.SetPendingLimits(mostPending, mostPendingBytes); err != nil {
		return fmt.Errorf("subscribing to %s: %w", states.Subject, err)
	}
	n.status.states = states
	commands, err := subscribe(nc, wire.ModelSubject(n.cfg.Vehicle), n.receiveCommand)
	if err != nil {
		return err
	}
	defer func() { _ = commands.Unsubscribe() }()
	if n.cfg.SwapPermission {
		permits, err := subscribe(nc, wire.SwapSubject(n.cfg.Vehicle), func(m *nats.Msg) { n.receivePermission(m.Data) })
		if err != nil {
			return err
		}
		defer func() { _ = permits.Unsubscribe() }()
	}
	if !n.cfg.NoQueries {
		own, err := another(nc, "queries")
		if err != nil {
			return err
		}
		defer own.Close()
		q, err := queries.Serve(own, queries.Config{
			Vehicle: n.cfg.Vehicle, Instance: n.cfg.Instance, Plain: n.cfg.Plain, MaxMemory: n.models.memory() / queryMemoryShare, Clock: n.cfg.Clock, Model: n.models.inUse, History: w.copyHistory, Adaptation: w.learned.copyTo,
		})
		if err != nil {
			return err
		}
		defer q.Close()
		n.status.queries = q
	}
	w.recorder.Model(w.engine.Loaded)
	stop := make(chan struct{})
	var working sync.WaitGroup
	working.Go(func() { w.run(nc, stop) })
	working.Go(func() { n.scoreWindows(stop) })
	err = n.reportUntil(ctx, nc)
	drain(nc, states)
	close(stop)
	working.Wait()
	n.status.snapshot.request(true)
	n.status.snapshot.update(w.engine, n.cfg.Clock)
	n.keepStates()
	if err == nil && nc.IsConnected() {
		n.report(nc)
		_ = nc.FlushTimeout(drainFor)
	}
	return err
}

func subscribe(nc *nats.Conn, subject string, receive nats.MsgHandler) (*nats.Subscription, error) {
	s, err := nc.Subscribe(subject, receive)
	if err != nil {
		return nil, fmt.Errorf("subscribing to %s: %w", subject, err)
	}
	return s, nil
}

// drain ends the subscription after what has come was received.
func drain(nc *nats.Conn, states *nats.Subscription) {
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

// receivePeer receives another estimator's status, or this one's own.
func (n *Node) receivePeer(data []byte) {
	_, steady := n.cfg.Clock()
	if name := n.peers.Receive(data, steady); name != "" {
		// Anybody may have written the name.
		n.log.limited(fmt.Sprintf("another estimator, instance %.64q, answers for vehicle %s: stop one of them", name, n.cfg.Vehicle))
	}
}
