package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// What the computer, its operator and time do.

// child starts an estimator in a process of its own.
func (t *trial) child(args ...string) (*child, error) {
	file := t.path("flight.dgm")
	if err := model.WriteFile(file, t.model); err != nil {
		return nil, err
	}
	return startChild(append([]string{"serve", "--nats", t.url(), "--model", file}, args...)...)
}

// diskFull: the recording and what is kept of the intervals meet a disk that takes
// no more.
func diskFull(ctx context.Context, t *trial) error {
	if err := t.serve(); err != nil {
		return err
	}
	c, err := t.child("--record", t.path("out.msgpack"), "--trust", t.path("trust"), "--most-file-bytes", "40000")
	if err != nil {
		return err
	}
	t.later(c.stop)
	if err := t.fly(); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	for end := time.Now().Add(goneFor); ; {
		t.planner.mu.Lock()
		said := t.planner.status.Recording
		t.planner.mu.Unlock()
		if strings.Contains(said, "cannot be written") {
			break
		}
		if time.Now().After(end) {
			return fmt.Errorf("the status says nothing about the disk: recording %q", said)
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	return pause(ctx, calm)
}

func clockForward(ctx context.Context, t *trial) error { return stepClock(ctx, t, time.Hour) }
func clockBack(ctx context.Context, t *trial) error    { return stepClock(ctx, t, -time.Hour) }

// stepClock sets the wall clock that robot, estimator and planner share.
func stepClock(ctx context.Context, t *trial, d time.Duration) error {
	if err := t.standard(ctx); err != nil {
		return err
	}
	return t.during(ctx, func() error { t.clock.step(d); return nil })
}

func stopped(ctx context.Context, t *trial) error {
	if err := t.serve(); err != nil {
		return err
	}
	c, err := t.child()
	if err != nil {
		return err
	}
	t.later(c.stop)
	if err := t.fly(); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	return t.during(ctx, func() error {
		if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		err := pause(ctx, 10*time.Second)
		if e := c.cmd.Process.Signal(syscall.SIGCONT); err == nil {
			err = e
		}
		return err
	})
}

func estimatorKilled(ctx context.Context, t *trial) error {
	if err := t.serve(); err != nil {
		return err
	}
	c, err := t.child()
	if err != nil {
		return err
	}
	t.later(func() error { return c.stop() })
	if err := t.fly(); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	return t.during(ctx, func() error {
		if err := c.cmd.Process.Kill(); err != nil {
			return err
		}
		_ = c.stop() // killed
		again, err := t.child()
		if err != nil {
			return err
		}
		c = again
		return nil
	})
}

// bucket makes an object store, and lets a node watch it.
func (t *trial) bucket(ctx context.Context, n *node.Node) (nats.ObjectStore, error) {
	nc, err := t.link(t.url(), "operator")
	if err != nil {
		return nil, err
	}
	js, err := nc.JetStream()
	if err != nil {
		return nil, err
	}
	b, err := js.CreateObjectStore(&nats.ObjectStoreConfig{Bucket: "models", Storage: nats.MemoryStorage})
	if err != nil {
		return nil, err
	}
	link, err := t.link(t.url(), "models")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); n.Watch(ctx, link, "models", "flight.dgm") }()
	t.later(func() error { cancel(); <-done; return nil })
	return b, nil
}

// corruptModel: files that are cut, flipped, of another robot, and at last a good
// one are put into the bucket.
func corruptModel(ctx context.Context, t *trial) error {
	if err := t.serve(func(o *server.Options) { o.JetStream, o.StoreDir = true, t.path("jetstream") }); err != nil {
		return err
	}
	n, err := t.estimate(t.url(), node.Config{})
	if err != nil {
		return err
	}
	if err := t.fly(); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	b, err := t.bucket(ctx, n)
	if err != nil {
		return err
	}
	good := pendulum(2)
	file, err := good.Encode()
	if err != nil {
		return err
	}
	flipped := append([]byte(nil), file...)
	flipped[len(flipped)/2] ^= 1
	for _, bad := range [][]byte{file[:len(file)/2], flipped, []byte("nonsense"), {}} {
		if _, err := b.PutBytes("flight.dgm", bad); err != nil {
			return err
		}
		if err := pause(ctx, 500*time.Millisecond); err != nil {
			return err
		}
		s, err := statusOf(n)
		if err != nil {
			return err
		}
		if s.Model != t.model.ID || s.Refused == "" {
			return fmt.Errorf("after a corrupt model the status names model %s, refused %q", s.Model, s.Refused)
		}
	}
	if _, err := b.PutBytes("flight.dgm", file); err != nil {
		return err
	}
	for end := time.Now().Add(goneFor); t.planner.by(good.ID) == 0; {
		if time.Now().After(end) {
			return fmt.Errorf("the good model was not taken")
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return pause(ctx, calm)
}

func hundredSwaps(ctx context.Context, t *trial) error {
	if err := t.serve(); err != nil {
		return err
	}
	n, err := t.estimate(t.url(), node.Config{})
	if err != nil {
		return err
	}
	if err := t.listen(t.url()); err != nil {
		return err
	}
	if err := t.takeOff(t.url(), 500); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	for i := range 100 {
		if err := n.Swap(pendulum(uint64(i%2) + 2)); err != nil {
			return err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	if a, b := t.planner.by(pendulum(2).ID), t.planner.by(pendulum(3).ID); a == 0 || b == 0 {
		return fmt.Errorf("the models answered %d and %d states", a, b)
	}
	return nil
}

// senderAgain: the robot starts again and counts from 1.
func senderAgain(ctx context.Context, t *trial) error {
	if err := t.standard(ctx); err != nil {
		return err
	}
	return t.during(ctx, func() error {
		t.robot.again()
		t.planner.forget()
		return nil
	})
}

// dayInFastTime sends a state every 100 ms of a simulated day, as fast as they are
// answered, and compares what the process holds after a tenth of it and at the end.
func dayInFastTime(ctx context.Context, t *trial) error {
	if err := t.serve(); err != nil {
		return err
	}
	t.clock = newClock(0)
	n, err := t.estimate(t.url(), node.Config{TrustFile: t.path("trust")})
	if err != nil {
		return err
	}
	if err := t.listen(t.url()); err != nil {
		return err
	}
	nc, err := t.link(t.url(), "robot")
	if err != nil {
		return err
	}
	t.robot = &sender{clock: t.clock, stop: make(chan struct{}), done: make(chan struct{}), at: map[uint64]time.Time{}, t: map[uint64]int64{}}
	close(t.robot.done)
	// It is the planner's answers that are awaited: time must not pass before it has
	// looked at them.
	answers := make(chan uint64, 1024)
	t.planner.mu.Lock()
	t.planner.seen = answers
	t.planner.mu.Unlock()
	const period = 100 * time.Millisecond
	total := uint64(t.day / period)
	var before usage
	s := wire.State{X: make([]float64, 2)}
	for seq := uint64(1); seq <= total; seq++ {
		t.clock.pass(period)
		s.Seq, s.T = seq, t.clock.unix()
		s.X[0], s.X[1] = float64(seq%100)/300, float64(seq%77)/300
		b := s.Append(nil)
		if err := nc.Publish(wire.StateSubject(vehicle), b); err != nil {
			return err
		}
		if seq == 1 { // until the estimator listens
			if err := awaitFirst(ctx, nc, b, answers); err != nil {
				return err
			}
		} else if err := awaitAnswer(ctx, seq, answers); err != nil {
			return err
		}
		t.planner.thin()
		if seq == total/10 {
			before = measureUsage()
		}
		if seq%(total/20+1) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	t.robot.at[total] = time.Now()
	after := measureUsage()
	st, err := statusOf(n)
	if err != nil {
		return err
	}
	if after.goroutines > before.goroutines || after.files > before.files || after.heap > before.heap*1.2+2 {
		return fmt.Errorf("grown from %+v to %+v", before, after)
	}
	if len(st.Checks) == 0 {
		return fmt.Errorf("nothing was checked in %v", t.day)
	}
	return nil
}

// thin keeps the memory of a long day small.
func (p *planner) thin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.answers) > 1000 {
		for seq := range p.answers {
			if len(p.answers) <= 100 {
				break
			}
			if seq+500 < p.read.Seq {
				delete(p.answers, seq)
			}
		}
	}
}

// awaitFirst sends a state until it is answered.
func awaitFirst(ctx context.Context, nc *nats.Conn, state []byte, answers <-chan uint64) error {
	for range 300 {
		select {
		case <-answers:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
			if err := nc.Publish(wire.StateSubject(vehicle), state); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("the first state was not answered")
}

func awaitAnswer(ctx context.Context, seq uint64, answers <-chan uint64) error {
	end := time.NewTimer(goneFor)
	defer end.Stop()
	for {
		select {
		case got := <-answers:
			if got == seq {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return fmt.Errorf("state %d was not answered", seq)
		}
	}
}

// usage is what a process holds.
type usage struct {
	heap       float64 // MB in use after a collection
	goroutines int
	files      int
}

func measureUsage() usage {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{heap: float64(m.HeapAlloc) / (1 << 20), goroutines: runtime.NumGoroutine()}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		u.files = len(entries)
	}
	return u
}
