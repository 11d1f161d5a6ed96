package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/cmd/dgm-bench/study"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/model/artificial"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/node/loopback"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// rig holds what a scenario starts: a server, an estimator, a robot and a planner. All of
// it ends with the rig.
//
// Its methods end the scenario where something fails, as those of a test do: see guard.
type rig struct {
	ctx     context.Context
	dir     string
	lasts   lasts
	port    int
	server  *server.Server
	model   *model.Model
	robot   *sender
	planner *planner
	clock   *clock

	faults    []fault
	recovered time.Duration // the longest
	lost      int           // states without an answer, outside every fault
	reordered int           // states without an answer that came after a newer one, outside every fault
	figures   string        // (optional) what the scenario has measured
	ends      []func() error
}

// fault is a time within which the fault explains a missing answer.
type fault struct{ from, to time.Time }

const (
	chaosRate = 100.                   // states a second, Hz
	inFlight  = 150 * time.Millisecond // before a fault, at least: what is under way is lost with it
	calm      = time.Second            // before and after a fault
	goneFor   = 2 * time.Minute        // without recovery it has failed
)

// smallModel is a small model of a pendulum's size: what is tested is what surrounds it.
func smallModel(seed uint64) *model.Model {
	return artificial.New(artificial.Size{K: 2, P: 1, Features: 20, Basis: 1, Points: 10, Horizon: 1}, seed)
}

// lasts are the durations of the scenarios that have one.
type lasts struct{ day, soak time.Duration }

func newRig(ctx context.Context, l lasts) (*rig, error) {
	dir, err := os.MkdirTemp("", "dgm-chaos")
	if err != nil {
		return nil, err
	}
	s := &rig{ctx: ctx, dir: dir, lasts: l, model: smallModel(1), clock: newClock(1)}
	s.later(func() error { return os.RemoveAll(dir) })
	return s, nil
}

// withServer runs f on a rig with a server, for a model.
func withServer(ctx context.Context, m *model.Model, f func(s *rig)) error {
	s, err := newRig(ctx, lasts{})
	if err != nil {
		return err
	}
	s.model = m
	err = s.guard(func() {
		s.serve()
		f(s)
	})
	return errors.Join(err, s.close())
}

// failure is what must panics with.
type failure struct{ err error }

// guard runs f and returns the error with which must ended it.
func (s *rig) guard(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.err
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

// must ends what guard runs if there is an error.
func (s *rig) must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// require ends what guard runs if a condition does not hold.
func (s *rig) require(holds bool, format string, args ...any) {
	if !holds {
		s.must(fmt.Errorf(format, args...))
	}
}

// later does something at the end, the last first.
func (s *rig) later(f func() error) { s.ends = append(s.ends, f) }

// close does what was left for later.
func (s *rig) close() (err error) {
	for i := len(s.ends) - 1; i >= 0; i-- {
		err = errors.Join(err, s.ends[i]())
	}
	return err
}

// pause waits; an interrupt ends the scenario.
func (s *rig) pause(d time.Duration) {
	select {
	case <-s.ctx.Done():
		s.must(s.ctx.Err())
	case <-time.After(d):
	}
}

// await pauses until a condition holds; why returns the error if it does not in time.
func (s *rig) await(holds func() bool, why func() error) {
	for end := time.Now().Add(goneFor); !holds(); s.pause(2 * time.Millisecond) {
		if time.Now().After(end) {
			s.must(why())
		}
	}
}

// startServer starts a NATS server on a port of the loopback.
func startServer(port int, change ...func(o *server.Options)) (*server.Server, error) {
	o := &server.Options{
		Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true,
		NoFastProducerStall: true, // one slow subscriber must not slow the others
	}
	for _, f := range change {
		f(o)
	}
	// The port of one that was just stopped may need a moment.
	for end := time.Now().Add(patience); time.Now().Before(end); {
		s, err := server.NewServer(o)
		if err != nil {
			return nil, err
		}
		s.Start()
		if s.ReadyForConnections(time.Second) {
			return s, nil
		}
		stopServer(s)
	}
	return nil, errors.New("the NATS server does not start on the loopback")
}

func stopServer(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// serve starts the server, on the port that it had before.
func (s *rig) serve(change ...func(o *server.Options)) {
	srv, err := startServer(cmp.Or(s.port, server.RANDOM_PORT), change...)
	s.must(err)
	if s.server == nil {
		s.port = srv.Addr().(*net.TCPAddr).Port
		s.later(func() error { stopServer(s.server); return nil })
	}
	s.server = srv
}

// reservedPort returns a port on which nobody listens before this rig does, until the rig ends.
func (s *rig) reservedPort() int {
	port, release, err := loopback.Reserve()
	s.must(err)
	s.later(release)
	return port
}

func (s *rig) url() string { return fmt.Sprintf("nats://127.0.0.1:%d", s.port) }

func (s *rig) path(name string) string { return filepath.Join(s.dir, name) }

// estimate runs an estimator in this process.
func (s *rig) estimate(url string, cfg node.Config) *node.Node {
	cfg.Vehicle = cmp.Or(cfg.Vehicle, vehicle)
	cfg.Clock = s.clock.read
	cfg.Every = 50 * time.Millisecond
	n, err := node.New(cfg, s.model)
	s.must(err)
	nc, err := node.Link{URL: url, Name: "estimator"}.Connect()
	s.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx, nc) }()
	s.later(func() error {
		cancel()
		err := <-done
		nc.Close()
		return err
	})
	return n
}

// child starts an estimator in a process of its own.
func (s *rig) child(args ...string) *child {
	file := s.path("flight.dgm")
	s.must(model.WriteFile(file, s.model))
	c, err := startChild(append([]string{"serve", "--nats", s.url(), "--model", file}, args...)...)
	s.must(err)
	return c
}

// link connects as a client that keeps nothing for later.
func (s *rig) link(url, name string) *nats.Conn {
	nc, err := node.Link{URL: url, Name: name}.Connect()
	s.must(err)
	s.later(func() error { nc.Close(); return nil })
	return nc
}

func (s *rig) startPlanner(url string) {
	var err error
	s.planner, err = newPlanner(s.link(url, "planner"), vehicle, s.clock)
	s.must(err)
	s.planner.watch(s.robot)
}

func (s *rig) startRobot(url string, rate float64) {
	s.robot = newSender(s.link(url, "robot"), vehicle, rate, s.clock)
	if s.planner != nil {
		s.planner.watch(s.robot)
	}
	s.later(func() error { s.robot.end(); return nil })
}

// fly starts planner and robot and waits until states are answered.
func (s *rig) fly() {
	s.startPlanner(s.url())
	s.startRobot(s.url(), chaosRate)
	s.settle()
}

// standard is the usual rig: server, estimator, planner and robot, flying.
func (s *rig) standard() *node.Node {
	s.serve()
	n := s.estimate(s.url(), node.Config{})
	s.fly()
	return n
}

// settle waits until states are answered; what was before does not count.
func (s *rig) settle() {
	s.answeredAfter(time.Now())
	s.faults = append(s.faults, fault{time.Time{}, time.Now()})
}

// answeredAfter waits until a state that was sent after a time is answered, and
// returns when that one was sent.
func (s *rig) answeredAfter(after time.Time) (sent time.Time) {
	s.await(func() (ok bool) {
		sent, ok = s.planner.firstAnswered(s.robot, after)
		return ok
	}, func() error { return fmt.Errorf("nothing was answered within %v", goneFor) })
	return sent
}

// during does something that may stop answers, and waits until they are back.
func (s *rig) during(f func()) {
	s.pause(calm)
	from := time.Now().Add(-inFlight)
	if last := s.planner.lastAnswered(s.robot); last.Before(from) {
		from = last // what is not answered yet is under way
	}
	f()
	end := time.Now()
	sent := s.answeredAfter(end)
	s.recovered = max(s.recovered, time.Since(end))
	s.faults = append(s.faults, fault{from, sent})
	s.pause(calm)
}

// end ends the rig and puts what the planner counted into a row.
func (s *rig) end(r *study.Row, err error) error {
	wrong, lost := counted{}, 0
	reasons := ""
	if s.robot != nil && s.planner != nil {
		s.robot.end()
		for before := -1; before != s.planner.came(); {
			before = s.planner.came()
			time.Sleep(500 * time.Millisecond) // the last answers
		}
		s.account(time.Now())
		lost = max(s.lost-s.planner.explained(), 0)
		wrong, reasons = s.planner.count()
	}
	err = errors.Join(err, s.close())
	r.Put("lost", lost).Put("stale", wrong.stale).Put("nonfinite", wrong.nonfinite).Put("dropped_late", wrong.dropped)
	if s.figures != "" {
		r.Put("figures", s.figures)
	}
	r.Put("answered", wrong.good).Put("recovered_s", float64(s.recovered.Milliseconds())/1000)
	switch {
	case err != nil:
	case lost+wrong.stale+wrong.nonfinite > 0:
		err = fmt.Errorf("%d lost, %d stale, %d not finite; the status reports %s", lost, wrong.stale, wrong.nonfinite, reasons)
	case wrong.good == 0:
		err = errors.New("nothing was answered")
	}
	return err
}

// account counts what became of the states that were sent before a time, and forgets them. A state is
// lost without an answer and outside every fault; where the estimator's status reports that a newer
// one came first, or that it waited too long, it is not: see explained.
func (s *rig) account(before time.Time) {
	for seq, sent := range s.robot.forget(before) {
		excused := slices.ContainsFunc(s.faults, func(f fault) bool { return !sent.at.Before(f.from) && !sent.at.After(f.to) })
		switch {
		case s.planner.takeAnswer(seq), excused:
		case sent.reordered:
			s.reordered++
		default:
			s.lost++
		}
	}
}

// statusOf returns the last status of a node.
func (s *rig) statusOf(n *node.Node) (status wire.Status) {
	s.must(status.Decode(n.StatusMessage()))
	return status
}
