package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/node/loopback"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/firmware-sim/fault"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
)

// serve runs a NATS server on loopback; port -1 takes a free one.
func serve(t *testing.T, port int) *server.Server {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Shutdown)
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not come up")
	}
	return s
}

// diary is what the link had to say.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) say(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

func (d *diary) has(part string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.lines, func(l string) bool { return strings.Contains(l, part) })
}

func connect(t *testing.T, url string, d *diary) *nats.Conn {
	t.Helper()
	nc, err := node.Link{URL: url, Name: "test", Log: d.say}.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// listen subscribes as an estimator does.
func listen(t *testing.T, url, vehicle string) *nats.Subscription {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	sub, err := nc.SubscribeSync(wire.StateSubject(vehicle))
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return sub
}

func next(t *testing.T, sub *nats.Subscription, s *wire.State, K, P int) {
	t.Helper()
	m, err := sub.NextMsg(time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Decode(m.Data, K, P); err != nil {
		t.Fatal(err)
	}
}

func TestStatesArriveAsTheRobotMeasuresThem(t *testing.T) {
	url := serve(t, -1).ClientURL()
	sub := listen(t, url, "quad1")
	p := plant.QuadrotorFlown()
	c := Config{Robot: robot.Typical(p), Vehicle: "quad1", Duration: 500 * time.Millisecond}
	c.Robot.Rate, c.Robot.Seed = 100, 3
	c.Robot.PlanHorizon, c.Robot.PlanRows = 0.5, 25
	f, err := fault.Parse("dropout=0.1", p.States, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Robot.Faults = []fault.Fault{f}
	sampled := 0
	c.Sampled = func(*robot.Sample) { sampled++ }

	before := time.Now().UnixNano()
	sum, err := Run(context.Background(), connect(t, url, &diary{}), c)
	if err != nil {
		t.Fatal(err)
	}
	after := time.Now().UnixNano()
	if sum.Sent+sum.Lost+sum.Unsent+sum.Late != 50 || sampled != 50 || sum.Lost == 0 || sum.Sent == 0 {
		t.Fatalf("%+v of %d samples", sum, sampled)
	}
	// The same robot once more, without a clock: what was sent must be equal.
	twin := robot.New(c.Robot)
	twin.Start(0, 0)
	at := 0
	var s wire.State
	var start int64
	for range sum.Sent {
		next(t, sub, &s, 12, 4)
		for ; at < int(s.Seq); at++ {
			twin.Sample()
			twin.Step()
		}
		want, _ := twin.Sample()
		if start == 0 {
			start = s.T - want.Stamp
			if start < before || start > after {
				t.Errorf("time of the first state is %d ns after the start, that of the end %d ns", start-before, after-before)
			}
		}
		if want.Lost || s.T-start != want.Stamp {
			t.Fatalf("state %d: lost %v, at %d ns, want %d", s.Seq, want.Lost, s.T-start, want.Stamp)
		}
		if !slices.Equal(s.X, want.X) || !slices.Equal(s.U, want.U) || !slices.Equal(s.Plan, want.Plan) {
			t.Fatalf("state %d differs from the recorded robot's", s.Seq)
		}
		if s.Layout != wire.Layout(p.Channels()) {
			t.Errorf("layout %q", s.Layout)
		}
		twin.Step()
		at++
	}
}

// Without a server nothing is kept: the first state that arrives is of now.
func TestNothingOldIsSentWhenTheServerComes(t *testing.T) {
	port := loopback.ReservedPort(t)
	url := fmt.Sprintf("nats://127.0.0.1:%d", port)
	var d diary
	nc := connect(t, url, &d)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var sum Summary
	done := make(chan error, 1)
	missed := make(chan struct{})
	c := Config{Robot: robot.Typical(plant.Pendulum()), Vehicle: "p1"}
	n := 0
	c.Sampled = func(*robot.Sample) {
		if n++; n == 20 {
			close(missed)
		}
	}
	go func() {
		var err error
		sum, err = Run(ctx, nc, c)
		done <- err
	}()
	select {
	case <-missed: // twenty samples without a server
	case <-time.After(time.Minute):
		t.Fatal("no twenty samples in a minute")
	}
	up := time.Now().UnixNano()
	serve(t, port)
	sub := listen(t, url, "p1")
	var s wire.State
	for range 3 {
		next(t, sub, &s, 2, 1)
		if s.T < up {
			t.Errorf("state %d is from %d ms before the server was there", s.Seq, (up-s.T)/1e6)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if sum.Unsent < 20 || sum.Sent < 3 || !d.has("connected") {
		t.Errorf("%+v, said %q", sum, d.lines)
	}
}

func TestBadNamesAndDivergence(t *testing.T) {
	nc := connect(t, serve(t, -1).ClientURL(), &diary{})
	c := Config{Robot: robot.Typical(plant.Pendulum()), Vehicle: "a.b"}
	if _, err := Run(context.Background(), nc, c); err == nil || !strings.Contains(err.Error(), `"a.b"`) {
		t.Errorf("vehicle a.b: %v", err)
	}
	c.Vehicle = "v1"
	c.Robot.Plant.F = func(dst, x, _, _ []float64) { dst[0], dst[1] = 1e4*(1+x[0]*x[0]), 0 }
	if _, err := Run(context.Background(), nc, c); err == nil || !strings.Contains(err.Error(), "no longer finite") {
		t.Errorf("divergence: %v", err)
	}
}
