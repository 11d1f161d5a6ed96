package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A connection that closes while JetStream begins to watch it leaves the library waiting
// for a channel that is never made: nothing here could end that.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats%2ego.(*js).resetPendingAcksOnReconnect"))
}

const ms = int64(1e6)

// patience is how long a test waits for what must come; nothing is measured by it.
const patience = time.Minute

// pendulum is a model of two states and one input over one second.
func pendulum() *model.Model {
	return artificial.New(artificial.Size{K: 2, P: 1, Features: 20, Basis: 1, Points: 10, Horizon: 1}, 1)
}

// serve starts a server on a loopback port of its choice, or on the given one.
func serve(t *testing.T, port int) *server.Server {
	t.Helper()
	if port == 0 {
		port = server.RANDOM_PORT
	}
	return start(t, &server.Options{Host: "127.0.0.1", Port: port})
}

func start(t *testing.T, o *server.Options) *server.Server {
	t.Helper()
	o.NoLog, o.NoSigs, o.NoFastProducerStall = true, true, true
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

// stepping is a clock that advances by a microsecond when it is read, so that no state
// grows old on a busy computer.
type stepping struct{ ns atomic.Int64 }

func (c *stepping) read() (unix, steady int64) {
	ns := c.ns.Add(1000)
	return 5e18/4 + ns, ns
}

func (c *stepping) unix() int64 { unix, _ := c.read(); return unix }

// testClock is the clock of the nodes that run runs, unless they have another.
var testClock stepping

// lines collects a log.
type lines struct {
	mu    sync.Mutex
	lines []string
}

func (l *lines) add(line string) { l.mu.Lock(); l.lines = append(l.lines, line); l.mu.Unlock() }

func (l *lines) has(part string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.lines, func(s string) bool { return strings.Contains(s, part) })
}

// connect returns a connection that ends with the test.
func connect(t *testing.T, url string, log *lines) *nats.Conn {
	t.Helper()
	return connectAs(t, Link{URL: url}, log)
}

func connectAs(t *testing.T, l Link, log *lines) *nats.Conn {
	t.Helper()
	if log != nil {
		l.Log = log.add
	}
	nc, err := l.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// run runs a node until the test ends or stop is called, which waits for it. Where there is a server,
// the node answers what is sent after run has returned.
func run(t *testing.T, nc *nats.Conn, cfg Config, m *model.Model) (n *Node, stop func()) {
	t.Helper()
	if cfg.Vehicle == "" {
		cfg.Vehicle = "v1"
	}
	if cfg.Every == 0 {
		cfg.Every = 20 * time.Millisecond
	}
	if cfg.Clock == nil {
		cfg.Clock = testClock.read
	}
	n, err := New(cfg, m)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx, nc) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("Run: %v", err)
				}
			case <-time.After(patience):
				t.Error("Run does not end")
			}
		})
	}
	t.Cleanup(stop)
	if nc.IsConnected() {
		eventually(t, "the first status, after the subscriptions", func() bool { return n.StatusMessage() != nil })
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	return n, stop
}

// listener collects the messages of a subject.
type listener struct {
	t    *testing.T
	msgs chan []byte
}

func listen(t *testing.T, nc *nats.Conn, subject string) *listener {
	t.Helper()
	l := &listener{t: t, msgs: make(chan []byte, 10000)}
	if _, err := nc.Subscribe(subject, func(m *nats.Msg) { l.msgs <- m.Data }); err != nil {
		t.Fatal(err)
	}
	if nc.IsConnected() {
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// prediction waits for the next one.
func (l *listener) prediction() *wire.Prediction {
	l.t.Helper()
	var p wire.Prediction
	select {
	case b := <-l.msgs:
		if err := p.Decode(b); err != nil {
			l.t.Fatal(err)
		}
	case <-time.After(patience):
		l.t.Fatal("no prediction came")
	}
	return &p
}

// status waits for one that satisfies a condition.
func (l *listener) status(what string, ok func(s *wire.Status) bool) *wire.Status {
	l.t.Helper()
	var s wire.Status
	deadline := time.After(patience)
	for {
		select {
		case b := <-l.msgs:
			if err := s.Decode(b); err != nil {
				l.t.Fatal(err)
			}
			if ok(&s) {
				return &s
			}
		case <-deadline:
			l.t.Fatalf("no status with %s; the last: %+v", what, s)
		}
	}
}

// counts returns the counters of a status by reason.
func counts(s *wire.Status) map[string]uint64 {
	c := map[string]uint64{}
	for _, r := range s.Reasons {
		c[r.Reason] = r.Count
	}
	return c
}

// send publishes a state of the pendulum dated now on the test's clock.
func send(t *testing.T, nc *nats.Conn, seq uint64) wire.State {
	t.Helper()
	testClock.ns.Add(int64(time.Millisecond)) // after the state before it: what the clock counts of a prediction is little of that
	return sendAt(t, nc, seq, testClock.unix())
}

// sendAt publishes a state of the pendulum dated at unix, ns.
func sendAt(t *testing.T, nc *nats.Conn, seq uint64, unix int64) wire.State {
	t.Helper()
	s := wire.State{Seq: seq, T: unix, X: []float64{0.1, -0.2}, U: []float64{0.3}}
	if err := nc.Publish(wire.StateSubject("v1"), s.Append(nil)); err != nil {
		t.Fatal(err)
	}
	return s
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(fmt.Sprint("never: ", what))
		}
	}
}
