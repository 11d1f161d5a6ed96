package link_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
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
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not come up")
	}
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close(); s.Shutdown(); s.WaitForShutdown() })
	return nc
}

// free returns a port that nothing listens on.
func free(t *testing.T) int {
	t.Helper()
	l, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.LocalAddr().(*net.UDPAddr).Port
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
	for end := time.Now().Add(15 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
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
			n, stop := run(t, nc, c) // before the autopilot
			p := fly(t, other)
			within(t, "the first state", func() bool { return n.States.Load() > 5 })
			m, err := sub.NextMsg(time.Second)
			if err != nil {
				t.Fatal(err)
			}
			var s wire.State
			if err := s.Decode(m.Data, 12, 0); err != nil {
				t.Fatal(err)
			}
			if age := time.Now().UnixNano() - s.T; s.X[0] != 1 || s.X[9] != 0.5 || math.Abs(float64(age)) > 5e9 {
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
func places(t *testing.T, nc *nats.Conn) func() map[float64]bool {
	t.Helper()
	var mu sync.Mutex
	seen := map[float64]bool{}
	if _, err := nc.Subscribe("dgm.state.v1", func(m *nats.Msg) {
		var s wire.State
		if s.Decode(m.Data, 12, 0) == nil {
			mu.Lock()
			seen[s.X[0]] = true
			mu.Unlock()
		}
	}); err != nil {
		t.Fatal(err)
	}
	return func() map[float64]bool {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(seen)
	}
}

// Whoever sends later as the same autopilot is counted, and makes no state.
func TestStrangersMakeNoState(t *testing.T) {
	nc := serve(t)
	seen := places(t, nc)
	address := fmt.Sprintf("127.0.0.1:%d", free(t))
	n, _ := run(t, nc, link.Config{Link: "udp:" + address, Vehicle: "v1", Channels: autopilot.DefaultChannels()[:12]})
	p := fly(t, gomavlib.EndpointUDPClient{Address: address})
	defer p.land()
	within(t, "the first state", func() bool { return n.States.Load() > 5 })
	stranger := flyAt(t, gomavlib.EndpointUDPClient{Address: address}, 99, nil)
	defer stranger.land()
	within(t, "a stranger's message", func() bool { return n.Strangers.Load() > 20 })
	if got := seen(); !got[1] || got[99] {
		t.Errorf("states at %v", got)
	}
}

// With a key unsigned messages and those that are signed with another key make no state.
func TestSignedLinks(t *testing.T) {
	nc := serve(t)
	seen := places(t, nc)
	address := fmt.Sprintf("127.0.0.1:%d", free(t))
	key, other := frame.NewV2Key(bytes.Repeat([]byte{1}, 32)), frame.NewV2Key(bytes.Repeat([]byte{2}, 32))
	n, _ := run(t, nc, link.Config{Link: "udp:" + address, Vehicle: "v1", Channels: autopilot.DefaultChannels()[:12], Key: key})
	for x, k := range map[float32]*frame.V2Key{50: nil, 51: other} {
		p := flyAt(t, gomavlib.EndpointUDPClient{Address: address}, x, k)
		defer p.land()
	}
	within(t, "messages that are dropped", func() bool { return n.BadBytes.Load() > 20 })
	p := flyAt(t, gomavlib.EndpointUDPClient{Address: address}, 1, key)
	defer p.land()
	within(t, "a signed state", func() bool { return n.States.Load() > 5 })
	if got := seen(); len(got) != 1 || !got[1] {
		t.Errorf("states at %v", got)
	}
}

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
	if ahead > 100_000 || ahead < -5_000_000 || p.tunnels[0].PayloadType != autopilot.PayloadType || p.tunnels[0].TargetSystem != 1 {
		t.Errorf("ODOMETRY is %d µs ahead of the autopilot's clock", ahead)
	}
}

// Signed messages of an earlier day, sent again and again, give way to the autopilot, whose
// signatures are newer.
func TestRecordedSignaturesGiveWay(t *testing.T) {
	nc := serve(t)
	key := frame.NewV2Key(bytes.Repeat([]byte{1}, 32))
	sink, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	earlier := flyAt(t, gomavlib.EndpointUDPClient{Address: sink.LocalAddr().String()}, 99, key)
	var recorded [][]byte
	for len(recorded) < 60 {
		b := make([]byte, 2048)
		n, _, err := sink.ReadFrom(b)
		if err != nil {
			t.Fatal(err)
		}
		recorded = append(recorded, b[:n])
	}
	earlier.land()
	sink.Close()
	address := fmt.Sprintf("127.0.0.1:%d", free(t))
	n, _ := run(t, nc, link.Config{Link: "udp:" + address, Vehicle: "v1", Channels: autopilot.DefaultChannels()[:12], Key: key})
	again, err := net.Dial("udp4", address)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	stop := make(chan struct{})
	var sending sync.WaitGroup
	sending.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				_, _ = again.Write(recorded[i%len(recorded)]) // the link may not listen yet
			}
		}
	})
	defer func() { close(stop); sending.Wait() }()
	within(t, "a message that was recorded", func() bool { return n.Messages.Load() > 10 })
	p := flyAt(t, gomavlib.EndpointUDPClient{Address: address}, 1, key)
	defer p.land()
	seen := places(t, nc)
	within(t, "a state of the autopilot", func() bool { return seen()[1] })
	later, strangers := places(t, nc), n.Strangers.Load()
	within(t, "messages that are refused", func() bool { return n.Strangers.Load() > strangers+100 })
	if got := later(); !got[1] || got[99] {
		t.Errorf("states at %v", got)
	}
}

func TestReadKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "link.key")
	for text, good := range map[string]bool{strings.Repeat("0a", 32) + "\n": true, strings.Repeat("0a", 31): false, strings.Repeat("zz", 32): false, "": false} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := link.ReadKey(path)
		if good && (err != nil || key[31] != 10) || !good && (err == nil || !strings.Contains(err.Error(), path)) {
			t.Errorf("%q: %v, %v", text, key, err)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for text, want := range map[string]string{
		"udp:14550":                  "{127.0.0.1:14550}",
		"udpout:192.168.1.10:14550":  "{192.168.1.10:14550}",
		"tcp:127.0.0.1:5760":         "{127.0.0.1:5760}",
		"tcpin:5760":                 "{127.0.0.1:5760}",
		"udp:0.0.0.0:14550":          "{0.0.0.0:14550}",
		"serial:/dev/ttyAMA0:921600": "{/dev/ttyAMA0 921600}",
		"serial:/dev/ttyUSB0":        "{/dev/ttyUSB0 57600}",
	} {
		if e, err := link.Endpoint(text); err != nil || fmt.Sprint(e) != want {
			t.Errorf("%s: %v, %v", text, e, err)
		}
	}
	for text, want := range map[string]string{"": "no address given", "udp:": "no address given", "udp:x": "it needs a port", "udp:1.2.3.4:99999": "it needs a port", "foo:1": `"foo" is not known`, "serial:/dev/x:fast": "is not a rate"} {
		if _, err := link.Endpoint(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "write udp:14550") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
