package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// What a network and its server do.

func serverPort(s *server.Server) int { return s.Addr().(*net.TCPAddr).Port }

func serverKilled(ctx context.Context, t *trial) error {
	if err := t.standard(ctx); err != nil {
		return err
	}
	return t.during(ctx, func() error {
		stopServer(t.server)
		if err := pause(ctx, 2*time.Second); err != nil {
			return err
		}
		return t.serve()
	})
}

// serverSlow: everything to and from the estimator takes 300 ms longer for a while.
func serverSlow(ctx context.Context, t *trial) error {
	p, err := t.behindProxy(ctx, node.Config{})
	if err != nil {
		return err
	}
	return t.during(ctx, func() error {
		p.set(150*time.Millisecond, false)
		err := pause(ctx, 3*time.Second)
		p.set(0, false)
		return err
	})
}

// partitioned: for a minute no byte passes between estimator and server, and
// nobody is told. The clock on the stage runs eight times as fast.
func partitioned(ctx context.Context, t *trial) error {
	const speed = 8
	t.clock = newClock(speed)
	p, err := t.behindProxy(ctx, node.Config{MaxFuture: time.Second})
	if err != nil {
		return err
	}
	return t.during(ctx, func() error {
		p.set(0, true)
		err := pause(ctx, time.Minute/speed)
		p.set(0, false)
		return err
	})
}

// partitionedBriefly: for three seconds no byte passes. That is longer than a
// prediction holds, and so short that nobody's keep-alive notices. The estimator
// predicts at a fixed rate, and so goes on for as long as its last state lets it.
func partitionedBriefly(ctx context.Context, t *trial) error {
	p, err := t.behindProxy(ctx, node.Config{Rate: chaosRate})
	if err != nil {
		return err
	}
	return t.during(ctx, func() error {
		p.set(0, true)
		err := pause(ctx, 3*time.Second)
		p.set(0, false)
		return err
	})
}

// behindProxy is the usual stage with a proxy between estimator and server.
func (t *trial) behindProxy(ctx context.Context, cfg node.Config) (*proxy, error) {
	if err := t.serve(); err != nil {
		return nil, err
	}
	p, err := newProxy(strings.TrimPrefix(t.url(), "nats://"))
	if err != nil {
		return nil, err
	}
	t.later(p.close)
	if _, err := t.estimate(p.url(), cfg); err != nil {
		return nil, err
	}
	if err := t.fly(); err != nil {
		return nil, err
	}
	return p, t.settle(ctx)
}

// otherPermissions: the server comes back with a user who may not publish
// predictions, then with the old one.
func otherPermissions(ctx context.Context, t *trial) error {
	users := func(publish ...string) func(o *server.Options) {
		return func(o *server.Options) {
			all := &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{">"}}, Subscribe: &server.SubjectPermission{Allow: []string{">"}}}
			o.Users = []*server.User{
				{Username: "client", Password: "pw", Permissions: all},
				{Username: "estimator", Password: "pw", Permissions: &server.Permissions{
					Publish: &server.SubjectPermission{Allow: publish}, Subscribe: all.Subscribe,
				}},
			}
		}
	}
	if err := t.serve(users(">")); err != nil {
		return err
	}
	as := func(name string) string { return fmt.Sprintf("nats://%s:pw@127.0.0.1:%d", name, t.port) }
	if _, err := t.estimate(as("estimator"), node.Config{}); err != nil {
		return err
	}
	if err := t.listen(as("client")); err != nil {
		return err
	}
	if err := t.takeOff(as("client"), chaosRate); err != nil {
		return err
	}
	if err := t.settle(ctx); err != nil {
		return err
	}
	return t.during(ctx, func() error {
		for _, publish := range []string{"dgm.status.*", ">"} {
			stopServer(t.server)
			if err := t.serve(users(publish)); err != nil {
				return err
			}
			if err := pause(ctx, 1500*time.Millisecond); err != nil {
				return err
			}
		}
		return nil
	})
}

// anyOrder starts server, estimator, robot and planner in every order.
func anyOrder(ctx context.Context, t *trial) error {
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		return err
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		return err
	}
	var orders [][]int
	var build func(order []int)
	build = func(order []int) {
		if len(order) == 4 {
			orders = append(orders, append([]int(nil), order...))
			return
		}
	next:
		for i := range 4 {
			for _, j := range order {
				if i == j {
					continue next
				}
			}
			build(append(order, i))
		}
	}
	build(nil)
	total := chaosRow{}
	for _, order := range orders {
		s := &trial{dir: t.dir, port: port, model: t.model, clock: t.clock}
		url := s.url()
		var err error
		for _, who := range order {
			switch who {
			case 0:
				var srv *server.Server
				if srv, err = startServer(port); err == nil {
					s.server = srv
					s.later(func() error { stopServer(srv); return nil })
				}
			case 1:
				_, err = s.estimate(url, node.Config{})
			case 2:
				err = s.takeOff(url, chaosRate)
			case 3:
				err = s.listen(url)
			}
			if err == nil {
				err = pause(ctx, 20*time.Millisecond)
			}
			if err != nil {
				break
			}
		}
		began := time.Now()
		if err == nil {
			err = s.settle(ctx)
		}
		t.recovered = max(t.recovered, time.Since(began).Seconds())
		if err == nil {
			err = pause(ctx, 200*time.Millisecond)
		}
		var row chaosRow
		if err = s.end(&row, err); err != nil {
			return fmt.Errorf("order %v: %w", order, err)
		}
		total.Answered += row.Answered
	}
	if total.Answered < 24 {
		return errors.New("hardly anything was answered")
	}
	// A last flight, so that this trial has what others have.
	if err := t.standard(ctx); err != nil {
		return err
	}
	return pause(ctx, calm)
}

// stalledSubscriber: somebody subscribes to everything and never reads.
func stalledSubscriber(ctx context.Context, t *trial) error {
	if err := t.standard(ctx); err != nil {
		return err
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(t.url(), "nats://"))
	if err != nil {
		return err
	}
	defer c.Close()
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4096)
	}
	if _, err := c.Write([]byte("CONNECT {\"verbose\":false}\r\nSUB > 1\r\n")); err != nil {
		return err
	}
	return pause(ctx, 5*time.Second)
}

// flood: states of another vehicle, and nonsense beside them, come twenty times as
// fast; both have an estimator in this process.
func flood(ctx context.Context, t *trial) error {
	if err := t.standard(ctx); err != nil {
		return err
	}
	const other = "flooded"
	n, err := t.estimate(t.url(), node.Config{Vehicle: other})
	if err != nil {
		return err
	}
	nc, err := t.link(t.url(), "flood")
	if err != nil {
		return err
	}
	r := newSender(nc, other, 20*chaosRate, t.clock)
	err = pause(ctx, 5*time.Second)
	r.land()
	if err != nil {
		return err
	}
	time.Sleep(200 * time.Millisecond)
	s, err := statusOf(n)
	if err != nil {
		return err
	}
	sum := s.Published
	for _, reason := range s.Reasons {
		sum += reason.Count
	}
	if s.Received < uint64(10*chaosRate) || sum+2 < s.Received {
		return fmt.Errorf("of %d states of the flood %d are accounted for", s.Received, sum)
	}
	return nil
}

// malformed: nonsense comes to the same vehicle, 20000 messages a second, which is
// twenty times what the fastest robot sends.
func malformed(ctx context.Context, t *trial) error {
	if err := t.standard(ctx); err != nil {
		return err
	}
	nc, err := t.link(t.url(), "nonsense")
	if err != nil {
		return err
	}
	good := wire.State{Seq: 1, T: 1, X: []float64{0, 0}}
	b := good.Append(nil)
	const rate, lasts = 20000, 4 * time.Second
	count := 0
	for began := time.Now(); time.Since(began) < lasts; {
		for due := int(time.Since(began).Seconds() * rate); count < due; count++ {
			c := append([]byte(nil), b...)
			c[count%len(c)] ^= byte(1 + count%255)
			if count%3 == 0 {
				c = c[:count%len(c)]
			}
			if err := nc.Publish(wire.StateSubject(vehicle), c); err != nil {
				return err
			}
		}
		if err := pause(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	if count < rate {
		return fmt.Errorf("only %d messages of nonsense in %v", count, lasts)
	}
	return nil
}
