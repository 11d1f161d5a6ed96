package main

import (
	"context"
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/node/realtime"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// sender is a robot: it sends states at a rate and remembers when it sent which. What its
// own link refused is not sent.
type sender struct {
	nc      *nats.Conn
	subject string
	clock   *clock
	stop    context.CancelFunc
	runs    sync.WaitGroup

	reordered int                                             // (optional) each so many-th state is sent after the next one
	fly       atomic.Pointer[func(s *wire.State, dt float64)] // (optional) makes each state, dt s after the one before, in place of the usual ones

	mu  sync.Mutex
	seq uint64
	was map[uint64]sending
}

// sending is when a state was sent.
type sending struct {
	at time.Time
	t  int64 // ns, by the clock of the rig

	reordered bool // sent after a newer one
}

func newSender(nc *nats.Conn, vehicle string, rate float64, c *clock) *sender {
	return newReordering(nc, vehicle, rate, 0, c)
}

// newReordering is newSender of a robot on whose way each so many-th state comes after the next.
func newReordering(nc *nats.Conn, vehicle string, rate float64, reordered int, c *clock) *sender {
	ctx, stop := context.WithCancel(context.Background())
	r := &sender{nc: nc, subject: wire.StateSubject(vehicle), clock: c, stop: stop, reordered: reordered, was: map[uint64]sending{}}
	r.runs.Go(func() { r.run(ctx, rate) })
	return r
}

func (r *sender) run(ctx context.Context, rate float64) {
	start := time.Now()
	sleeper := realtime.NewSleeper(0, 0)
	defer sleeper.Close()
	s := wire.State{X: make([]float64, 2), U: []float64{0.1}}
	var buf, late []byte
	for i := int64(1); ; i++ {
		sleeper.Until(int64(float64(i) * 1e9 / rate))
		if ctx.Err() != nil {
			return
		}
		if late := int64(time.Since(start).Seconds() * rate); late > i+5 {
			i = late // this process was stopped: it does not catch up
		}
		s.X[0], s.X[1] = 0.3*math.Sin(float64(i)/30), 0.3*math.Cos(float64(i)/30)
		if fly := r.fly.Load(); fly != nil {
			(*fly)(&s, 1/rate)
		}
		r.mu.Lock()
		r.seq++
		s.Seq, s.T = r.seq, r.clock.unix()
		buf = s.Append(buf[:0])
		switch {
		case r.reordered > 0 && s.Seq%uint64(r.reordered) == 0:
			late = append(late[:0], buf...)
			r.was[s.Seq] = sending{time.Now(), s.T, true}
		default:
			if r.publish(buf) {
				r.was[s.Seq] = sending{time.Now(), s.T, false}
			}
			if len(late) > 0 && !r.publish(late) {
				delete(r.was, s.Seq-1)
			}
			late = late[:0]
		}
		r.mu.Unlock()
	}
}

func (r *sender) publish(data []byte) bool {
	return r.nc.IsConnected() && r.nc.Publish(r.subject, data) == nil
}

// again makes the robot count from the start, as after a restart. What it sent
// before is forgotten.
func (r *sender) again() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq = 0
	clear(r.was)
}

// sent returns all states that were sent.
func (r *sender) sent() map[uint64]sending {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.was)
}

// forget forgets the states that were sent before a time, and returns them.
func (r *sender) forget(before time.Time) map[uint64]sending {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[uint64]sending{}
	for seq, s := range r.was {
		if s.at.Before(before) {
			out[seq] = s
			delete(r.was, seq)
		}
	}
	return out
}

// find returns when a state was sent.
func (r *sender) find(seq uint64) (s sending, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok = r.was[seq]
	return s, ok
}

// end ends it, where it runs.
func (r *sender) end() {
	if r.stop != nil {
		r.stop()
		r.runs.Wait()
	}
}
