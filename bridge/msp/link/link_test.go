package link_test

import (
	"context"
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/msp/link"
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

// received is a state and when it came.
type received struct {
	wire.State
	at time.Time
}

// running is a link at work.
type running struct {
	n    link.Counts
	done chan error
	stop context.CancelFunc

	mu     sync.Mutex
	states []received
	lines  []string
}

// run runs a link; it is stopped at the end of the test.
func run(t *testing.T, nc *nats.Conn, where string, change func(*link.Config)) *running {
	t.Helper()
	r := &running{done: make(chan error, 1)}
	sub, err := nc.Subscribe("dgm.state.v1", func(m *nats.Msg) {
		s := received{at: time.Now()}
		if err := s.Decode(m.Data, 6, 4); err != nil {
			t.Error(err)
		}
		s.X, s.U, s.P0 = slices.Clone(s.X), slices.Clone(s.U), slices.Clone(s.P0)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.states = append(r.states, s)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	end, err := link.ParseEndpoint(where)
	if err != nil {
		t.Fatal(err)
	}
	c := link.Config{Link: end, Vehicle: "v1", Rate: 200, Idle: -1, Log: func(text string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.lines = append(r.lines, text)
	}}
	if c.Map, err = importer.Preset("betaflight"); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.stop = cancel
	go func() { r.done <- link.Run(ctx, nc, c, &r.n) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-r.done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the link does not stop")
		}
		_ = sub.Unsubscribe() // the connection ends
	})
	return r
}

// failed returns the error with which a link ends by itself.
func (r *running) failed(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.done:
		r.done <- nil
		return err
	case <-time.After(time.Minute):
		t.Fatal("the link goes on")
		return nil
	}
}

func (r *running) got() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.states)
}

func (r *running) said(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.lines, func(line string) bool { return strings.Contains(line, text) })
}

func within(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what, " does not happen")
		}
	}
}

const degree = math.Pi / 180

// right checks states: the controller's attitude and motors, and times and numbers that increase.
func right(t *testing.T, states []received) {
	t.Helper()
	for i, s := range states {
		for k, want := range []float64{10 * degree, 20 * degree, (360 - 300.45) * degree} {
			if math.Abs(s.X[k]-want) > 0.1*degree { // carried on by the rates
				t.Fatalf("state %d: %v", i, s.X)
			}
		}
		if !slices.Equal(s.U, []float64{0.25, 0.5, 0.75, 1}) {
			t.Fatalf("state %d: inputs %v", i, s.U)
		}
		if age := s.at.UnixNano() - s.T; age < -20e6 || age > 5e9 {
			t.Fatalf("state %d: measured %d ns before it came", i, age)
		}
		if i > 0 && (s.T <= states[i-1].T || s.Seq != states[i-1].Seq+1) {
			t.Fatalf("state %d: number %d at %d after %d at %d", i, s.Seq, s.T, states[i-1].Seq, states[i-1].T)
		}
	}
}

// A controller is polled by one request for all, or by one for each, and its states are sent while it is armed.
func TestStates(t *testing.T) {
	for name, c := range map[string]*controller{"several in one": newController(), "one each": {variant: "INAV", single: true, board: 40}} {
		t.Run(name, func(t *testing.T) {
			nc := serve(t)
			c.armed.Store(true)
			c.start(t, "127.0.0.1:0")
			r := run(t, nc, "tcp:"+c.listener.Addr().String(), nil)
			within(t, "a state", func() bool { return len(r.got()) > 20 })
			c.armed.Store(false)
			within(t, "an end of the states", func() bool { return r.n.Disarmed.Load() > 20 })
			before := r.n.States.Load()
			within(t, "a poll", func() bool { return r.n.Disarmed.Load() > 60 })
			if r.n.States.Load() > before {
				t.Error("states of a controller that is disarmed")
			}
			c.armed.Store(true)
			within(t, "a state after that", func() bool { return r.n.States.Load() > before+20 })
			right(t, r.got())
			if s := r.got()[5]; len(s.P0) > 0 || s.Layout == "" || s.Sensor != "" {
				t.Errorf("%+v", s.State)
			}
			if c.hasty.Load() > 0 || r.n.Lost.Load() > 0 || r.n.Damaged.Load() > 0 {
				t.Errorf("%d requests too early, %d lost, %d damaged", c.hasty.Load(), r.n.Lost.Load(), r.n.Damaged.Load())
			}
		})
	}
}

func TestDisarmedStatesOnDemand(t *testing.T) {
	nc := serve(t)
	c := newController()
	c.armed.Store(false)
	c.start(t, "127.0.0.1:0")
	r := run(t, nc, "tcp:"+c.listener.Addr().String(), func(c *link.Config) { c.All = true })
	within(t, "a state", func() bool { return len(r.got()) > 5 })
}

// A line that damages, tears, delays, loses and adds bytes costs the replies that it damages, and no state is wrong.
func TestDamagedLine(t *testing.T) {
	t.Parallel()
	nc := serve(t)
	c := newController()
	late := []byte(nil)
	c.damage = func(n int, reply []byte) []byte {
		before := late
		late = nil
		switch n % 40 {
		case 5:
			return append([]byte("\x00$M$X>#garbage$M"), reply...)
		case 10:
			reply[9]++
			return reply
		case 15:
			return reply[:len(reply)-7]
		case 20:
			return nil
		case 25: // it comes with the next one, which is asked for when nothing has come
			late = reply
			return nil
		case 26:
			return append(before, reply...)
		case 30: // unasked: of a display
			return append([]byte{'$', 'M', '>', 1, 182, 0, 1 ^ 182}, reply...)
		}
		return reply
	}
	c.start(t, "127.0.0.1:0")
	r := run(t, nc, "tcp:"+c.listener.Addr().String(), nil)
	within(t, "200 states", func() bool { return len(r.got()) > 200 })
	right(t, r.got())
	if r.n.Damaged.Load() < 4 || r.n.Lost.Load() < 12 || r.n.Restarts.Load() > 0 || c.hasty.Load() > 0 {
		t.Errorf("%d damaged, %d lost, %d restarts, %d requests too early", r.n.Damaged.Load(), r.n.Lost.Load(), r.n.Restarts.Load(), c.hasty.Load())
	}
}

// A reply that comes after its time is that of no later request, however late it is.
func TestLateReplies(t *testing.T) {
	t.Parallel()
	nc := serve(t)
	c := newController()
	c.damage = func(n int, reply []byte) []byte {
		if n%20 == 10 {
			time.Sleep(time.Duration(n+20) * 10 * time.Millisecond)
		}
		return reply
	}
	c.start(t, "127.0.0.1:0")
	r := run(t, nc, "tcp:"+c.listener.Addr().String(), func(c *link.Config) { c.Rate = 20 })
	within(t, "100 states", func() bool { return len(r.got()) > 100 })
	right(t, r.got())
	for i, s := range r.got() {
		if age := time.Duration(s.at.UnixNano() - s.T); i > 0 && age > 25*time.Millisecond { // the reply to the request ahead is 50 ms old
			t.Errorf("state %d was measured %v before it came", i, age)
		}
	}
	if r.n.Lost.Load() < 5 || r.n.Restarts.Load() > 0 {
		t.Errorf("%d lost, %d restarts", r.n.Lost.Load(), r.n.Restarts.Load())
	}
}

// A slow line is asked as often as it answers, one request at a time, and the rate is reported.
func TestSlowLine(t *testing.T) {
	t.Parallel()
	nc := serve(t)
	c := newController()
	c.slow = 40 * time.Millisecond
	c.start(t, "127.0.0.1:0")
	r := run(t, nc, "tcp:"+c.listener.Addr().String(), nil)
	within(t, "a report of the rate", func() bool { return r.said("states a second, of 200 that are asked for") })
	states := r.got()
	right(t, states)
	rate := float64(len(states)-1) / states[len(states)-1].at.Sub(states[0].at).Seconds()
	if rate < 5 || rate > 25 || c.hasty.Load() > 0 || r.n.Lost.Load() > 0 {
		t.Errorf("%.1f states a second, %d requests too early, %d lost", rate, c.hasty.Load(), r.n.Lost.Load())
	}
	for _, s := range states[1:] { // half of the way there and back
		if age := time.Duration(s.at.UnixNano() - s.T); age < 19*time.Millisecond {
			t.Fatalf("measured %v before it came", age)
		}
	}
}

// The rate that is asked for is not exceeded.
func TestRate(t *testing.T) {
	t.Parallel()
	nc := serve(t)
	c := newController()
	c.start(t, "127.0.0.1:0")
	r := run(t, nc, "tcp:"+c.listener.Addr().String(), func(c *link.Config) { c.Rate = 50 })
	within(t, "100 states", func() bool { return len(r.got()) > 100 })
	states := r.got()
	if rate := 100 / states[100].at.Sub(states[0].at).Seconds(); rate > 52 {
		t.Errorf("%.1f states a second", rate)
	}
}

// Either end may start first, and a controller may come back as another one, with a board that has more to say than a short frame has.
func TestRestarts(t *testing.T) {
	t.Parallel()
	nc := serve(t)
	c := newController()
	c.start(t, "127.0.0.1:0")
	address := c.listener.Addr().String()
	c.stop()
	r := run(t, nc, "tcp:"+address, nil)
	within(t, "a failure", func() bool { return r.said("it is tried again") })
	for i, board := range []int{40, 300} {
		c := newController()
		c.board, c.single = board, i > 0
		c.start(t, address)
		before := r.n.States.Load()
		within(t, "a state", func() bool { return r.n.States.Load() > before+20 })
		c.stop()
	}
	right(t, r.got())
	if r.n.Restarts.Load() != 1 || !r.said("Betaflight 4.6.0 on TEST") {
		t.Errorf("%d restarts", r.n.Restarts.Load())
	}
}

// A controller that falls silent, without an end of the line, is asked anew.
func TestSilence(t *testing.T) {
	t.Parallel()
	nc := serve(t)
	c := newController()
	c.damage = func(n int, reply []byte) []byte {
		if n > 20 && n < 60 {
			return nil
		}
		return reply
	}
	c.start(t, "127.0.0.1:0")
	r := run(t, nc, "tcp:"+c.listener.Addr().String(), nil)
	within(t, "a state after the silence", func() bool { return r.n.States.Load() > 30 })
	if r.n.Restarts.Load() == 0 || !r.said("it does not answer") {
		t.Errorf("%d restarts", r.n.Restarts.Load())
	}
}

// What speaks something else, or cannot give what is wanted, ends the link with the reason.
func TestRefusals(t *testing.T) {
	nc := serve(t)
	other, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go func() {
		for {
			conn, err := other.Accept()
			if err != nil {
				return
			}
			fmt.Fprint(conn, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
			conn.Close()
		}
	}()
	err = run(t, nc, "tcp:"+other.Addr().String(), nil).failed(t)
	if err == nil || !strings.Contains(err.Error(), `no MSP is spoken there: it sent "HTTP/1.1 400 Bad Request\r\n`) {
		t.Error(err)
	}
	plane := func(c *link.Config) {
		if c.Map, err = importer.Preset("betaflight-plane"); err != nil {
			t.Error(err)
		}
	}
	for want, c := range map[string]*controller{
		"does not give MSP_SERVO: its firmware was built without it": {variant: "BTFL", without: map[uint16]bool{103: true}},
		"does not give MSP_SERVO":                                    {variant: "INAV", single: true, without: map[uint16]bool{103: true}},
		`firmware "MWII" is not known`:                               {variant: "MWII"},
		"the range of the motors: the controller does not know request 131; give their idle (--idle": {variant: "BTFL", without: map[uint16]bool{131: true}},
	} {
		c.start(t, "127.0.0.1:0")
		if err := run(t, nc, "tcp:"+c.listener.Addr().String(), plane).failed(t); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestEndpoints(t *testing.T) {
	for text, want := range map[string]string{"tcp:127.0.0.1:5761": "tcp:127.0.0.1:5761", "tcp:[::1]:5761": "tcp:[::1]:5761", "serial:/dev/ttyACM0": "serial:/dev/ttyACM0", "serial:COM3:57600": "serial:COM3"} {
		if e, err := link.ParseEndpoint(text); err != nil || e.String() != want {
			t.Errorf("%s: %v, %v", text, &e, err)
		}
	}
	for text, want := range map[string]string{"": "no address given", "tcp:": "no address given", "tcp:5761": "it needs a host and a port", "tcp:a:99999": "it needs a host and a port", "udp:1": `"udp" is not known`, "serial:/dev/x:fast": `"fast" is not a rate`, "serial::9600": "no device given"} {
		if _, err := link.ParseEndpoint(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "write tcp:host:port or serial:device:rate") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
