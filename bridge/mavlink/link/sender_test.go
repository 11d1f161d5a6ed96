package link_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bluenviron/gomavlib/v3"
	"github.com/bluenviron/gomavlib/v3/pkg/frame"
	"github.com/dgm-robotics/dgm/bridge/mavlink/autopilot"
	"github.com/dgm-robotics/dgm/bridge/mavlink/link"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/nats-io/nats.go"
)

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

// record returns messages of an autopilot at place 99 that signs them.
func record(t *testing.T, key *frame.V2Key) (recorded [][]byte) {
	t.Helper()
	sink, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	earlier := flyAt(t, gomavlib.EndpointUDPClient{Address: sink.LocalAddr().String()}, 99, key)
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
	return recorded
}

// What was signed minutes ago is a recording, also where nothing else was heard yet.
func TestAnOldRecordingMakesNoState(t *testing.T) {
	nc := serve(t)
	secret := bytes.Repeat([]byte{1}, 32)
	key := frame.NewV2Key(secret)
	recorded := record(t, key)
	for _, b := range recorded { // signed two minutes earlier
		at, n := len(b)-12, len(b)-6
		var stamp [8]byte
		copy(stamp[:6], b[at:n])
		binary.LittleEndian.PutUint64(stamp[:], binary.LittleEndian.Uint64(stamp[:])-120*100_000)
		copy(b[at:n], stamp[:6])
		sum := sha256.Sum256(append(slices.Clone(secret), b[:n]...))
		copy(b[n:], sum[:6])
	}
	address := fmt.Sprintf("127.0.0.1:%d", free(t))
	n, _ := run(t, nc, link.Config{Link: "udp:" + address, Vehicle: "v1", Channels: autopilot.DefaultChannels()[:12], Key: key})
	again, err := net.Dial("udp4", address)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	for i := 0; n.Strangers.Load() < 20; i++ {
		if i > 5000 {
			t.Fatalf("%d messages of strangers, %d that are none", n.Strangers.Load(), n.BadBytes.Load())
		}
		_, _ = again.Write(recorded[i%len(recorded)]) // the link may not listen yet
		time.Sleep(2 * time.Millisecond)
	}
	if n.States.Load() > 0 || n.Messages.Load() > 0 {
		t.Errorf("%d messages, %d states of a recording", n.Messages.Load(), n.States.Load())
	}
}

func TestRecordedSignaturesGiveWay(t *testing.T) {
	nc := serve(t)
	key := frame.NewV2Key(bytes.Repeat([]byte{1}, 32))
	recorded := record(t, key)
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

// A thousand senders cost the memory and the lines of a few, and the autopilot's states go on.
func TestSendersAreBounded(t *testing.T) {
	for _, kind := range []string{"udp", "tcpin"} {
		t.Run(kind, func(t *testing.T) {
			nc := serve(t)
			address := fmt.Sprintf("127.0.0.1:%d", free(t))
			var mu sync.Mutex
			lines := 0
			n, _ := run(t, nc, link.Config{Link: kind + ":" + address, Vehicle: "v1", Channels: autopilot.DefaultChannels()[:12], Log: func(string) {
				mu.Lock()
				defer mu.Unlock()
				lines++
			}})
			other, network := gomavlib.EndpointConf(gomavlib.EndpointUDPClient{Address: address}), "udp4"
			if kind == "tcpin" {
				other, network = gomavlib.EndpointTCPClient{Address: address}, "tcp4"
			}
			p := fly(t, other)
			defer p.land()
			within(t, "the first state", func() bool { return n.States.Load() > 5 })
			before := runtime.NumGoroutine()
			for range 1000 {
				c, err := net.Dial(network, address)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				_, _ = c.Write([]byte{0xfd}) // it may be closed already
			}
			states := n.States.Load()
			within(t, "a state after that", func() bool { return n.States.Load() > states+5 })
			within(t, "an end of the senders", func() bool { return runtime.NumGoroutine() < before+100 })
			mu.Lock()
			defer mu.Unlock()
			if lines > 40 {
				t.Errorf("%d lines were logged", lines)
			}
		})
	}
}
