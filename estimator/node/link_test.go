package node

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/node/loopback"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

func stopServer(s *server.Server) { s.Shutdown(); s.WaitForShutdown() }

// robot sends a state every 5 ms, whatever the link does, until the test ends.
func robot(t *testing.T, nc *nats.Conn) {
	var seq atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		every := time.NewTicker(5 * time.Millisecond)
		defer every.Stop()
		for {
			select {
			case <-stop:
				return
			case <-every.C:
				s := wire.State{Seq: seq.Add(1), T: time.Now().UnixNano(), X: []float64{0.1, 0.2}}
				_ = nc.Publish(wire.StateSubject("v1"), s.Append(nil)) // the link may be down
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-done })
}

func TestServerIsAwaited(t *testing.T) {
	port := loopback.ReservedPort(t)
	url := "nats://127.0.0.1:" + itoa(port)
	var logged lines
	nc := connect(t, url, &logged)
	run(t, nc, Config{Clock: SystemClock()}, pendulum())
	eventually(t, "logs that the server cannot be reached", func() bool { return logged.has("cannot be reached: no server answers there; trying again") })
	serve(t, port)
	client := connect(t, url, nil)
	predictions := listen(t, client, wire.AllPredictions)
	robot(t, client)
	predictions.prediction()
	eventually(t, "logs that it is connected", func() bool { return logged.has("connected to NATS") })
}

func TestNothingOldIsSentAfterTheLinkWasLost(t *testing.T) {
	port := loopback.ReservedPort(t)
	first := serve(t, port)
	var logged lines
	nc := connect(t, first.ClientURL(), &logged)
	run(t, nc, Config{Clock: SystemClock()}, pendulum())
	client := connect(t, first.ClientURL(), nil)
	predictions := listen(t, client, wire.AllPredictions)
	robot(t, client)
	last := predictions.prediction().Seq

	stopServer(first)
	eventually(t, "the node notices", func() bool { return !nc.IsConnected() })
	// What comes out of the local queue was received before the link was lost.
	for drained := false; !drained; {
		select {
		case b := <-predictions.msgs:
			var p wire.Prediction
			if err := p.Decode(b); err != nil || p.Seq <= last {
				t.Fatalf("seq %d after %d, %v", p.Seq, last, err)
			}
			last = p.Seq
		case <-time.After(200 * time.Millisecond):
			drained = true
		}
	}
	back := time.Now().UnixNano()
	serve(t, port)
	for range 20 {
		p := predictions.prediction()
		if p.T < back {
			t.Errorf("a prediction for a state %v before the server was back", time.Duration(back-p.T))
		}
		if p.Seq <= last {
			t.Errorf("seq %d after %d", p.Seq, last)
		}
		last = p.Seq
	}
	if !logged.has("was lost") || !logged.has("is back") {
		t.Errorf("logged only %q", logged.lines)
	}
}

// A state that came in one epoch of the link is not answered in the next, even if
// the link is up again when its prediction is ready.
func TestAStateFromBeforeTheLossIsNotAnswered(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	n, err := New(Config{Vehicle: "v1", Clock: testClock.read}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	predictions := listen(t, nc, wire.AllPredictions)
	for seq, e := range []uint64{epoch(nc) - 1, epoch(nc)} {
		s := wire.State{Seq: uint64(seq), T: testClock.unix(), X: []float64{0, 0}}
		n.intake.Receive(s.Append(nil), e)
		n.worker.answer(nc, n.intake.Mailbox.Get())
	}
	if p := predictions.prediction(); p.Seq != 1 {
		t.Errorf("seq %d was answered", p.Seq)
	}
	if n.counters.Counts().Reasons[wire.Disconnected] != 1 || n.counters.Counts().Published != 1 {
		t.Errorf("counted %v", n.counters.Counts().Reasons)
	}
}

func TestAPredictionThatIsOverIsNotSent(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	unix, steady := time.Now().UnixNano(), int64(0)
	n, err := New(Config{Vehicle: "v1", Clock: func() (int64, int64) { return unix, steady }}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	for seq, pass := range []func(){func() { steady += 1001 * ms }, func() { unix += 1001 * ms }} {
		s := wire.State{Seq: uint64(seq), T: unix + int64(seq), X: []float64{0, 0}}
		n.intake.Receive(s.Append(nil), epoch(nc))
		pass()
		n.worker.answer(nc, n.intake.Mailbox.Get())
	}
	if n.counters.Counts().Reasons[wire.Expired] != 2 || n.counters.Counts().Published != 0 {
		t.Errorf("counted %v", n.counters.Counts().Reasons)
	}
}

func TestTwoEstimatorsSeeEachOther(t *testing.T) {
	url := serve(t, 0).ClientURL()
	var logged lines
	client := connect(t, url, nil)
	a, _ := run(t, connect(t, url, nil), Config{Log: logged.add, Clock: SystemClock()}, pendulum())
	b, stopB := run(t, connect(t, url, nil), Config{Clock: SystemClock()}, pendulum())
	statuses := listen(t, client, wire.AllStatuses)
	predictions := listen(t, client, wire.AllPredictions)
	for _, pair := range [][2]*Node{{a, b}, {b, a}} {
		statuses.status("the other", func(s *wire.Status) bool {
			return s.Instance == pair[0].Instance() && len(s.Others) == 1 && s.Others[0].Instance == pair[1].Instance() && s.Others[0].Model == s.Model
		})
	}
	seq := uint64(0)
	// Each may miss statuses of the other where the computer is busy.
	sendUntil := func(what string, ok func(p *wire.Prediction) bool) {
		t.Helper()
		eventually(t, what, func() bool {
			seq++
			sendAt(t, client, seq, time.Now().UnixNano())
			for len(predictions.msgs) > 0 {
				if ok(predictions.prediction()) {
					return true
				}
			}
			return false
		})
	}
	for _, n := range []*Node{a, b} {
		sendUntil("each flags that it is contested", func(p *wire.Prediction) bool { return p.Instance == n.Instance() && p.Flags&wire.Contested != 0 })
	}
	if !logged.has("instance \"" + b.Instance()) {
		t.Errorf("logged only %q", logged.lines)
	}
	stopB()
	statuses.status("nobody else", func(s *wire.Status) bool { return s.Instance == a.Instance() && len(s.Others) == 0 })
	sendUntil("it is alone after the other has gone", func(p *wire.Prediction) bool { return p.Flags&wire.Contested == 0 })
}

func TestTheEndAnswersWhatHasCome(t *testing.T) {
	url := serve(t, 0).ClientURL()
	_, stop := run(t, connect(t, url, nil), Config{Every: time.Hour}, pendulum())
	client := connect(t, url, nil)
	statuses := listen(t, client, wire.AllStatuses)
	predictions := listen(t, client, wire.AllPredictions)
	send(t, client, 1)
	predictions.prediction()
	for i := range uint64(20) {
		send(t, client, 1e6+i)
	}
	if err := client.Flush(); err != nil {
		t.Fatal(err)
	}
	stop()
	last := statuses.status("the end", func(s *wire.Status) bool { return s.Published > 0 })
	sum := last.Published
	for _, n := range counts(last) {
		sum += n
	}
	if sum != last.Received {
		t.Errorf("%d came, %d are accounted for: %+v", last.Received, sum, last)
	}
	var seq uint64
	for seq != 1e6+19 {
		seq = predictions.prediction().Seq
	}
}

func TestAClosedLinkEndsRun(t *testing.T) {
	nc := connect(t, serve(t, 0).ClientURL(), nil)
	n, err := New(Config{Vehicle: "v1", Every: 5 * time.Millisecond}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- n.Run(context.Background(), nc) }()
	eventually(t, "serves", func() bool { return nc.NumSubscriptions() >= 3 })
	nc.Close()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Run does not end")
	}
}

func TestPrefixOfInboxesIsASubject(t *testing.T) {
	url := serve(t, 0).ClientURL()
	for _, bad := range []string{"*", "a.>", "a.", ".a", "a b", "a..b"} {
		if nc, err := (Link{URL: url, Inbox: bad}).Connect(); err == nil || !strings.Contains(err.Error(), "inbox") {
			t.Errorf("%q: %v", bad, err)
			if err == nil {
				nc.Close()
			}
		}
	}
	nc := connectAs(t, Link{URL: url, Inbox: "fleet1.planner"}, nil)
	if s := nc.NewInbox(); !strings.HasPrefix(s, "fleet1.planner.") {
		t.Errorf("inbox %s", s)
	}
}

func TestABufferingLinkIsMisuse(t *testing.T) {
	nc, err := nats.Connect(serve(t, 0).ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	n, err := New(Config{Vehicle: "v1"}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if recover() != buffered {
			t.Error("no panic")
		}
	}()
	_ = n.Run(context.Background(), nc)
}

func TestPredictionTooLargeForTheServer(t *testing.T) {
	s := start(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, MaxPayload: 600})
	nc := connect(t, s.ClientURL(), nil)
	n, err := New(Config{Vehicle: "v1", Clock: testClock.read}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	st := wire.State{T: testClock.unix(), X: []float64{0, 0}}
	n.intake.Receive(st.Append(nil), epoch(nc))
	n.worker.answer(nc, n.intake.Mailbox.Get())
	if st := n.compose(0); len(st.Reasons) != 1 || st.Reasons[0].Reason != wire.Unsent.String() || !strings.Contains(st.Reasons[0].Last, "fewer points") {
		t.Errorf("counted %+v", st.Reasons)
	}
}

// The name of a peer is whatever somebody published: it must not reach a terminal
// as it is.
func TestNameOfAPeerIsQuoted(t *testing.T) {
	var logged lines
	n, err := New(Config{Vehicle: "v1", Log: logged.add}, pendulum())
	if err != nil {
		t.Fatal(err)
	}
	n.receivePeer((&wire.Status{Vehicle: "v1", Instance: "\x1b]0;owned\a\nall is well"}).Append(nil))
	if len(logged.lines) != 1 || strings.ContainsAny(logged.lines[0], "\x1b\a\n") || !logged.has("owned") {
		t.Errorf("logged %q", logged.lines)
	}
}

// The handler of a connection runs after it: a connection that is closed by then has no URL.
func TestConnectionClosedAtOnceIsNotLogged(t *testing.T) {
	var logged []string
	l := &throttledLog{log: func(line string) { logged = append(logged, line) }}
	l.connected("connected to NATS at", "")
	l.connected("connected to NATS at", "nats://127.0.0.1:4222")
	if len(logged) != 1 || logged[0] != "connected to NATS at nats://127.0.0.1:4222" {
		t.Errorf("%q", logged)
	}
}
