package live_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/dgm-robotics/dgm/bridge/live"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve runs a NATS server on loopback and returns a connection to it.
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

// eventually waits for up to a minute until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not after a minute: %s", what)
		}
	}
}

var channels = []channel.Channel{{Name: "theta", Unit: "rad", Role: channel.State}, {Name: "omega", Role: channel.State}, {Name: "u", Role: channel.Input}, {Name: "temp", Role: channel.Aux}}

// flight writes a log of 30 samples, 10 ms apart, with a plan at one, a pause of an
// hour, a sample that was not measured whole, and a clock that was set back.
func flight(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flight.msgpack")
	w, err := flightlog.CreateFile(path, flightlog.Header{Vehicle: "pend1", Channels: channels})
	if err != nil {
		t.Fatal(err)
	}
	at := int64(5e9)
	for i := range 30 {
		at += 1e7
		x := []float64{float64(i), -1}
		switch i {
		case 5:
			err = errors.Join(err, w.Plan(at, 2, []float64{7, 8}, 1e8))
		case 10:
			at += 3600e9
		case 20:
			x[1] = math.NaN()
		case 25:
			at = 0
		}
		err = errors.Join(err, w.Sample(at, x, []float64{0.5 * float64(i)}, []float64{20}))
	}
	if err = errors.Join(err, w.Commit()); err != nil {
		t.Fatal(err)
	}
	return path
}

// played is what a log became that was played into a recorder.
type played struct {
	begin  time.Time
	took   time.Duration
	states []*nats.Msg
	sum    live.RecordSummary
	log    *flightlog.Log
}

// playInto plays a log of 29 measured samples to the recorder of pend1.
func playInto(t *testing.T, nc *nats.Conn, path string) (p played) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "recorded.msgpack")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan live.RecordSummary, 1)
	go func() {
		s, err := live.Record(ctx, nc, live.RecordConfig{Vehicle: "pend1", Out: out, Channels: channels, Pause: 150 * time.Millisecond})
		if err != nil {
			t.Error(err)
		}
		done <- s
	}()
	sub, err := nc.SubscribeSync(wire.AllStates)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	// The recorder subscribes on the same connection, so its subscription is at the
	// server before what is sent after this.
	eventually(t, "both have subscribed", func() bool { return nc.NumSubscriptions() == 2 })
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	p.begin = time.Now()
	sum, err := live.Play(context.Background(), nc, live.PlayConfig{Log: path, MaxPause: 200 * time.Millisecond})
	p.took = time.Since(p.begin)
	if err != nil || cmp.Diff(sum, live.PlaySummary{Vehicle: "pend1", Sent: 29, Unmeasured: 1, Backwards: 1}) != "" {
		t.Fatalf("%+v, %v", sum, err)
	}
	for i := range 29 {
		m, err := sub.NextMsg(time.Minute)
		if err != nil {
			t.Fatal(i, err)
		}
		p.states = append(p.states, m)
	}
	eventually(t, "the states are in the file", func() bool { return samples(out) == 29 })
	cancel()
	p.sum = <-done
	if p.log, err = flightlog.ReadFile(out); err != nil {
		t.Fatal(err)
	}
	return p
}

// What is played is what a recorder gets: the same states and inputs, in order, at
// the pace of the log, stamped with the time of sending.
func TestPlayIntoRecord(t *testing.T) {
	nc := serve(t)
	path := flight(t)
	var p played
	for range 20 {
		// The pace begins anew where the computer stands still for a second.
		if p = playInto(t, nc, path); p.took < time.Second {
			break
		}
	}
	// 27 steps of 10 ms, one of 200 ms and the one back, which is none.
	if p.took < 470*time.Millisecond {
		t.Errorf("played in %v", p.took)
	}
	var last wire.State
	for i, m := range p.states {
		var s wire.State
		if err := s.Decode(m.Data, 2, 1); err != nil {
			t.Fatal(err)
		}
		n := i
		if i >= 20 {
			n++ // one was not measured whole
		}
		if m.Subject != "dgm.state.pend1" || s.Seq != uint64(i) || s.X[0] != float64(n) || s.U[0] != 0.5*float64(n) || s.Layout != wire.Layout(channels) || (len(s.Plan) > 0) != (i == 5) || (math.Abs(s.PlanDt-0.1) < 1e-12) != (i == 5) {
			t.Fatalf("state %d: %+v", i, s)
		}
		step := s.T - last.T
		if i > 0 && i != 10 && i != 25-1 && i != 20 && step != 1e7 || i == 10 && step != 2e8 {
			t.Errorf("state %d: stamped %d ns after the one before", i, step)
		}
		if i == 0 && (s.T < p.begin.UnixNano() || s.T > time.Now().UnixNano()) {
			t.Errorf("stamped %v", time.Unix(0, s.T))
		}
		last = s
	}
	if p.sum.States != 29 || p.sum.Refused != 0 || p.sum.Segments != 2 || len(p.log.Segments) != 2 || p.log.Segments[0].X[2*9] != 9 || !math.IsNaN(p.log.Segments[0].Aux[0]) {
		t.Errorf("%+v, %d segments", p.sum, len(p.log.Segments))
	}
	if d := cmp.Diff(channels, p.log.Channels); d != "" {
		t.Error(d)
	}
}

func TestPlayFasterAndInPart(t *testing.T) {
	nc := serve(t)
	begin := time.Now()
	sum, err := live.Play(context.Background(), nc, live.PlayConfig{Log: flight(t), Vehicle: "other", Speed: 10, From: 20 * time.Millisecond, To: 2 * time.Hour, MaxPause: time.Millisecond})
	if err != nil || sum.Vehicle != "other" || sum.Sent != 22 || time.Since(begin) > time.Minute { // with its pause six minutes
		t.Errorf("%+v, %v in %v", sum, err, time.Since(begin))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if sum, err := live.Play(ctx, nc, live.PlayConfig{Log: flight(t)}); err != nil || sum.Sent != 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	if _, err := live.Play(context.Background(), nc, live.PlayConfig{Log: flight(t), Vehicle: "a.b"}); err == nil || !strings.Contains(err.Error(), "give another with --vehicle") {
		t.Error(err)
	}
	if _, err := live.Play(context.Background(), nc, live.PlayConfig{Log: "nix"}); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// Without a description channels are numbered; messages that are no state of them
// are counted and cost nothing else; a recording is continued.
func TestRecordOfUnknownChannels(t *testing.T) {
	nc := serve(t)
	out := filepath.Join(t.TempDir(), "recorded.msgpack")
	for part := range 2 {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan live.RecordSummary)
		go func() {
			s, err := live.Record(ctx, nc, live.RecordConfig{Vehicle: "v1", Out: out})
			if err != nil {
				t.Error(err)
			}
			done <- s
		}()
		eventually(t, "the recorder has subscribed", func() bool { return nc.NumSubscriptions() == 1 })
		send := func(b []byte) {
			if err := nc.Publish("dgm.state.v1", b); err != nil {
				t.Fatal(err)
			}
		}
		send([]byte("nonsense"))
		for i := range 5 {
			s := wire.State{Seq: uint64(i), T: int64(i) * 1e6, X: []float64{1, 2, 3}, U: []float64{float64(part)}}
			send(s.Append(nil))
			if i == 0 {
				other := wire.State{Seq: 9, T: 1, X: []float64{1, 2}}
				send(other.Append(nil))
			}
		}
		eventually(t, "the states are in the file", func() bool { return samples(out) == 5*(part+1) })
		cancel()
		if sum := <-done; sum.States != 5 || sum.Refused != 2 || sum.Segments != 1 || sum.Why == "" {
			t.Errorf("%+v", sum)
		}
	}
	log, err := flightlog.ReadFile(out)
	if err != nil || len(log.Segments) != 2 || log.Segments[1].U[0] != 1 {
		t.Fatal(log, err)
	}
	if names := strings.Join(channel.Names(log.Channels), " "); names != "x1 x2 x3 u1" {
		t.Error(names)
	}
}

// samples counts the samples of a log that is being written.
func samples(path string) (n int) {
	log, err := flightlog.ReadFile(path)
	if err != nil {
		return 0
	}
	for i := range log.Segments {
		n += len(log.Segments[i].T)
	}
	return n
}
