package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// trial is the stage of one scenario: what is started on it ends with it.
type trial struct {
	dir     string
	day     time.Duration
	port    int
	server  *server.Server
	model   *model.Model
	robot   *sender
	planner *planner
	clock   *clock

	faults    []fault
	recovered float64 // s, the longest
	ends      []func() error
}

// fault is a time within which a missing answer has its reason in the fault.
type fault struct{ from, to time.Time }

const (
	chaosRate = 100.                   // states a second, Hz
	inFlight  = 150 * time.Millisecond // before a fault: what is under way is lost with it
	calm      = time.Second            // before and after a fault
	goneFor   = 30 * time.Second       // without recovery it has failed
)

// pendulum is a small model: what is tried is what surrounds it.
func pendulum(seed uint64) *model.Model {
	return artificial.New(artificial.Size{K: 2, P: 1, Features: 20, Basis: 1, Points: 10, Horizon: 1}, seed)
}

func newTrial(day time.Duration) (*trial, error) {
	dir, err := os.MkdirTemp("", "dgm-chaos")
	if err != nil {
		return nil, err
	}
	t := &trial{dir: dir, day: day, model: pendulum(1), clock: newClock(1)}
	t.later(func() error { return os.RemoveAll(dir) })
	return t, nil
}

// flying starts a server and an estimator with the model, on the usual clock. end stops
// all of it and adds what goes wrong with that to err; it must be called, with an error
// too.
func flying(m *model.Model) (t *trial, end func(err *error), err error) {
	if t, err = newTrial(0); err != nil {
		return nil, func(*error) {}, err
	}
	t.model, t.clock = m, newClock(0)
	if err = t.serve(); err == nil {
		_, err = t.estimate(t.url(), node.Config{})
	}
	return t, t.close, err
}

// close does what was left for later, and adds what goes wrong with it to err.
func (t *trial) close(err *error) {
	for i := len(t.ends) - 1; i >= 0; i-- {
		*err = errors.Join(*err, t.ends[i]())
	}
}

// later does something at the end, the last first.
func (t *trial) later(f func() error) { t.ends = append(t.ends, f) }

// serve starts the server, on the port that it had before.
func (t *trial) serve(change ...func(o *server.Options)) error {
	port := t.port
	if port == 0 {
		port = server.RANDOM_PORT
	}
	s, err := startServer(port, change...)
	if err != nil {
		return err
	}
	first := t.server == nil
	t.server = s
	t.port = port
	if first {
		t.port = serverPort(s)
		t.later(func() error { stopServer(t.server); return nil })
	}
	return nil
}

func (t *trial) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", t.port) }

// estimate runs an estimator in this process.
func (t *trial) estimate(url string, cfg node.Config) (*node.Node, error) {
	if cfg.Vehicle == "" {
		cfg.Vehicle = vehicle
	}
	cfg.Clock = t.clock.read
	cfg.Every = 50 * time.Millisecond
	n, err := node.New(cfg, t.model)
	if err != nil {
		return nil, err
	}
	nc, err := node.Link{URL: url, Name: "estimator"}.Connect()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx, nc) }()
	t.later(func() error {
		cancel()
		err := <-done
		nc.Close()
		return err
	})
	return n, nil
}

// link connects as a client that keeps nothing for later.
func (t *trial) link(url, name string) (*nats.Conn, error) {
	nc, err := node.Link{URL: url, Name: name}.Connect()
	if err != nil {
		return nil, err
	}
	t.later(func() error { nc.Close(); return nil })
	return nc, nil
}

// fly starts planner and robot.
func (t *trial) fly() error {
	if err := t.listen(t.url()); err != nil {
		return err
	}
	return t.takeOff(t.url(), chaosRate)
}

func (t *trial) listen(url string) error {
	nc, err := t.link(url, "planner")
	if err != nil {
		return err
	}
	if t.planner, err = newPlanner(nc, t.clock); err == nil && t.robot != nil {
		t.planner.watch(t.robot)
	}
	return err
}

func (t *trial) takeOff(url string, rate float64) error {
	nc, err := t.link(url, "robot")
	if err != nil {
		return err
	}
	t.robot = newSender(nc, vehicle, rate, t.clock)
	if t.planner != nil {
		t.planner.watch(t.robot)
	}
	t.later(func() error { t.robot.land(); return nil })
	return nil
}

// standard is the usual stage: server, estimator, planner and robot, flying.
func (t *trial) standard(ctx context.Context) error {
	if err := t.serve(); err != nil {
		return err
	}
	if _, err := t.estimate(t.url(), node.Config{}); err != nil {
		return err
	}
	if err := t.fly(); err != nil {
		return err
	}
	return t.settle(ctx)
}

// settle waits until states are answered; what was before does not count.
func (t *trial) settle(ctx context.Context) error {
	began := time.Now()
	if _, err := t.answeredAfter(ctx, began); err != nil {
		return err
	}
	t.faults = append(t.faults, fault{time.Time{}, time.Now()})
	return nil
}

// answeredAfter waits until a state that was sent after a time is answered, and
// returns when that one was sent.
func (t *trial) answeredAfter(ctx context.Context, after time.Time) (sent time.Time, err error) {
	for end := time.Now().Add(goneFor); time.Now().Before(end); {
		if sent, ok := t.planner.firstAnswered(t.robot, after); ok {
			return sent, nil
		}
		if err := pause(ctx, 2*time.Millisecond); err != nil {
			return sent, err
		}
	}
	return sent, fmt.Errorf("nothing was answered within %v", goneFor)
}

// during does something that may stop answers, and waits until they are back.
func (t *trial) during(ctx context.Context, f func() error) error {
	if err := pause(ctx, calm); err != nil {
		return err
	}
	from := time.Now()
	if err := f(); err != nil {
		return err
	}
	end := time.Now()
	sent, err := t.answeredAfter(ctx, end)
	if err != nil {
		return err
	}
	t.recovered = max(t.recovered, time.Since(end).Seconds())
	t.faults = append(t.faults, fault{from.Add(-inFlight), sent})
	return pause(ctx, calm)
}

// end ends the trial and fills in the row.
func (t *trial) end(row *chaosRow, err error) error {
	if t.robot != nil && t.planner != nil {
		t.robot.land()
		time.Sleep(500 * time.Millisecond) // the last answers
		row.Lost, _ = t.lost()
		row.Answered = t.planner.count()
		row.Stale, row.NonFinite, row.Dropped = t.planner.lies()
	}
	t.close(&err)
	row.Recovered = float64(int(t.recovered*1000)) / 1000
	if err == nil && row.Lost+row.Stale+row.NonFinite > 0 {
		err = fmt.Errorf("%d lost, %d stale, %d not finite; the status tells of %s", row.Lost, row.Stale, row.NonFinite, t.planner.reasons())
	}
	if err == nil && row.Answered == 0 {
		err = errors.New("nothing was answered")
	}
	return err
}

// lost counts states outside every fault that have neither an answer nor a reason
// on the estimator's status.
func (t *trial) lost() (lost, answered int) {
	for seq, at := range t.robot.sent() {
		if t.planner.answered(seq) {
			answered++
			continue
		}
		excused := false
		for _, f := range t.faults {
			excused = excused || (!at.Before(f.from) && !at.After(f.to))
		}
		if !excused {
			lost++
		}
	}
	return max(lost-t.planner.explained(), 0), answered
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// path returns a name in the trial's folder.
func (t *trial) path(name string) string { return filepath.Join(t.dir, name) }

// clock is the clock of all on the stage: it may run fast and be set.
type clock struct {
	mu    sync.Mutex
	start time.Time
	speed int64
	set   int64 // ns added to the wall clock
	jump  int64 // ns added to both
}

func newClock(speed int64) *clock { return &clock{start: time.Now(), speed: speed} }

func (c *clock) read() (unix, steady int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	steady = c.speed*int64(time.Since(c.start)) + c.jump
	return c.start.UnixNano() + steady + c.set, steady
}

func (c *clock) unix() int64 { unix, _ := c.read(); return unix }

// step sets the wall clock by d.
func (c *clock) step(d time.Duration) {
	c.mu.Lock()
	c.set += int64(d)
	c.mu.Unlock()
}

// pass lets d pass at once.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	c.jump += int64(d)
	c.mu.Unlock()
}

// statusOf decodes the last status of a node.
func statusOf(n *node.Node) (s wire.Status, err error) {
	return s, s.Decode(n.StatusMessage())
}
