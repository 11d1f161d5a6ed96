package link_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/bluenviron/gomavlib/v3"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
	"github.com/bluenviron/gomavlib/v3/pkg/frame"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/mavlink/autopilot"
	"github.com/dgm-robotics/dgm/bridge/mavlink/link"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

func serve(t *testing.T) *nats.Conn {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not come up")
	}
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); s.Shutdown(); s.WaitForShutdown() })
	return nc
}

// free returns a port that nothing uses, and that no connection is given by itself: those of Linux begin at 32768.
func free(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 20000 + rand.IntN(12000)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		u, err := net.ListenPacket("udp4", address)
		if err != nil {
			continue
		}
		_ = u.Close()
		l, err := net.Listen("tcp4", address)
		if err != nil {
			continue
		}
		_ = l.Close()
		return port
	}
	t.Fatal("no port is free")
	return 0
}

// pilot is an autopilot that sends attitudes and positions, answers TIMESYNC, and
// keeps what comes to it.
type pilot struct {
	node  *gomavlib.Node
	start time.Time
	stop  chan struct{}
	done  sync.WaitGroup

	mu       sync.Mutex
	odometry []*common.MessageOdometry
	tunnels  []*common.MessageTunnel
}

func fly(t *testing.T, end gomavlib.EndpointConf) *pilot {
	t.Helper()
	return flyAt(t, end, 1, nil)
}

// flyAt is fly of an autopilot at place x that signs what it sends; nil = it does not.
func flyAt(t *testing.T, end gomavlib.EndpointConf, x float32, key *frame.V2Key) *pilot {
	t.Helper()
	p := &pilot{start: time.Now(), stop: make(chan struct{}), node: &gomavlib.Node{Endpoints: []gomavlib.EndpointConf{end}, Dialect: common.Dialect,
		OutVersion: gomavlib.V2, OutSystemID: 1, OutComponentID: 1, OutKey: key}}
	if err := p.node.Initialize(); err != nil {
		t.Fatal(err)
	}
	send := func(m any) {
		switch m := m.(type) {
		case *common.MessageTimesync:
			_ = p.node.WriteMessageAll(m)
		case *common.MessageLocalPositionNed:
			_ = p.node.WriteMessageAll(m)
		case *common.MessageAttitudeQuaternion:
			_ = p.node.WriteMessageAll(m)
		}
	}
	p.done.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case e := <-p.node.Events():
				f, ok := e.(*gomavlib.EventFrame)
				if !ok {
					continue
				}
				p.mu.Lock()
				switch m := f.Message().(type) {
				case *common.MessageTimesync:
					if m.Tc1 == 0 {
						send(&common.MessageTimesync{Tc1: int64(time.Since(p.start)), Ts1: m.Ts1})
					}
				case *common.MessageOdometry:
					p.odometry = append(p.odometry, m)
				case *common.MessageTunnel:
					p.tunnels = append(p.tunnels, m)
				}
				p.mu.Unlock()
			case <-tick.C:
				ms := uint32(time.Since(p.start).Milliseconds()) + 1
				send(&common.MessageLocalPositionNed{TimeBootMs: ms, X: x, Vx: 0})
				send(&common.MessageAttitudeQuaternion{TimeBootMs: ms, Q1: 1, Rollspeed: 0.5})
			}
		}
	})
	return p
}

func (p *pilot) land() {
	close(p.stop)
	p.done.Wait()
	p.node.Close()
}

// run runs a link; it is stopped at the end of the test.
func run(t *testing.T, nc *nats.Conn, c link.Config) (n *link.Counts, stop func()) {
	t.Helper()
	n = &link.Counts{}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- link.Run(ctx, nc, c, n) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(stop)
	return n, stop
}

// within waits for something to become true.
func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what, " does not happen")
		}
	}
}

// States are sent, continue and return whatever end of the link is started anew, and in
// any order: a link that begins before the autopilot, an autopilot that goes and
// comes back, a link that does.
func TestRestartsOfEitherEnd(t *testing.T) {
	for _, kind := range []string{"udp", "udpout", "tcp", "tcpin"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			nc := serve(t)
			sub, err := nc.SubscribeSync("dgm.state.v1")
			if err != nil {
				t.Fatal(err)
			}
			address := fmt.Sprintf("127.0.0.1:%d", free(t))
			other := map[string]gomavlib.EndpointConf{
				"udp": gomavlib.EndpointUDPClient{Address: address}, "udpout": gomavlib.EndpointUDPServer{Address: address},
				"tcp": gomavlib.EndpointTCPServer{Address: address}, "tcpin": gomavlib.EndpointTCPClient{Address: address},
			}[kind]
			c := link.Config{Link: kind + ":" + address, Vehicle: "v1", Channels: autopilot.DefaultChannels()[:12]}
			begin := time.Now()
			n, stop := run(t, nc, c) // before the autopilot
			p := fly(t, other)
			within(t, "the first state", func() bool { return n.States.Load() > 5 })
			m, err := sub.NextMsg(time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			var s wire.State
			if err := s.Decode(m.Data, 12, 0); err != nil {
				t.Fatal(err)
			}
			if age := time.Now().UnixNano() - s.T; s.X[0] != 1 || s.X[9] != 0.5 || age < -5e9 || age > int64(time.Since(begin))+5e9 {
				t.Errorf("%+v, %v old", s, time.Duration(age))
			}
			p.land() // the autopilot goes and comes back
			before := n.States.Load()
			p = fly(t, other)
			within(t, "a state of the autopilot that came back", func() bool { return n.States.Load() > before+5 })
			stop() // the link goes and comes back
			n, _ = run(t, nc, c)
			within(t, "a state of the link that came back", func() bool { return n.States.Load() > 5 })
			p.land()
		})
	}
}

// Bytes that are no packet are counted, and the packets between them are read.
func TestBadBytes(t *testing.T) {
	nc := serve(t)
	address := fmt.Sprintf("127.0.0.1:%d", free(t))
	n, _ := run(t, nc, link.Config{Link: "udp:" + address, Vehicle: "v1", Channels: autopilot.DefaultChannels()[6:9]})
	noise, err := net.Dial("udp4", address)
	if err != nil {
		t.Fatal(err)
	}
	defer noise.Close()
	p := fly(t, gomavlib.EndpointUDPClient{Address: address})
	defer p.land()
	within(t, "a bad byte and a state", func() bool {
		_, err := noise.Write([]byte("this is no packet \xfd\x05\x00"))
		return err == nil && n.BadBytes.Load() > 3 && n.States.Load() > 3
	})
}

// places are the x of the states that come.
// Whoever sends later as the same autopilot is counted, and makes no state.
// With a key unsigned messages and those that are signed with another key make no state.
// Predictions reach the autopilot, stamped with its own clock, no more often than
// was asked for.
func TestPredictionsGoOut(t *testing.T) {
	nc := serve(t)
	address := fmt.Sprintf("127.0.0.1:%d", free(t))
	n, _ := run(t, nc, link.Config{Link: "udp:" + address, Vehicle: "v1", OutRate: 20, Ahead: 90 * time.Millisecond})
	p := fly(t, gomavlib.EndpointUDPClient{Address: address})
	defer p.land()
	within(t, "a message", func() bool { return n.Messages.Load() > 50 })
	names := channel.Names(autopilot.DefaultChannels()[:12])
	begin := time.Now()
	within(t, "a prediction at the autopilot", func() bool {
		pred := wire.Prediction{Vehicle: "v1", Model: "m", Instance: "i", Seq: 3, T: time.Now().UnixNano(), Channels: names, Units: make([]string, 12), Horizon: []float64{0.05, 0.1, 0.2},
			Mean: make([]float64, 36), Std: make([]float64, 36), ObsStd: make([]float64, 36), Inputs: "hold"}
		pred.ValidUntil = pred.T + 1e9
		if err := nc.Publish("dgm.predict.v1", pred.Append(nil)); err != nil {
			t.Fatal(err)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.odometry) > 3 && len(p.tunnels) > 9
	})
	most := int64(time.Since(begin).Seconds()*20/0.95) + 2
	if n.Predicted.Load() > most {
		t.Errorf("%d predictions in %v", n.Predicted.Load(), time.Since(begin))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	ahead := int64(p.odometry[3].TimeUsec) - time.Since(p.start).Microseconds()
	if ahead > 100_000 || ahead < -5_000_000-time.Since(begin).Microseconds() || p.tunnels[0].PayloadType != autopilot.PayloadType || p.tunnels[0].TargetSystem != 1 {
		t.Errorf("ODOMETRY is %d µs ahead of the autopilot's clock", ahead)
	}
}

// Signed messages of an earlier day, sent again and again, give way to the autopilot, whose
// signatures are newer.
