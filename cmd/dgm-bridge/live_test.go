package main

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	mavlink "github.com/dgm-robotics/dgm/bridge/mavlink/link"
	msp "github.com/dgm-robotics/dgm/bridge/msp/link"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// A log that is played into a recorder comes out as it was.
func TestPlayAndRecord(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Shutdown()
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not come up")
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	w, err := flightlog.CreateFile(in("f.msgpack"), flightlog.Header{Vehicle: "v1", Channels: []channel.Channel{{Name: "theta", Role: channel.State}, {Name: "u", Role: channel.Input}}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := w.Sample(int64(i)*1e7, []float64{float64(i)}, []float64{1}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	before := s.NumSubscriptions() // the server's own
	ctx, interrupt := context.WithCancel(t.Context())
	var recorded sync.WaitGroup
	recorded.Go(func() {
		code, out, errs := runUntil(ctx, "record", "--vehicle", "v2", "--out", in("g.msgpack"), "--like", in("f.msgpack"), "--nats", s.ClientURL())
		if code != cli.Done || !strings.Contains(out, "recorded 100 states of v2 in 1 segment") {
			t.Errorf("exit %d, %s%s", code, errs, out)
		}
	})
	eventually(t, "the recorder has subscribed", func() bool { return s.NumSubscriptions() > before })
	code, out, errs := run("play", in("f.msgpack"), "--vehicle", "v2", "--speed", "10", "--nats", s.ClientURL())
	if code != cli.Done || !strings.HasPrefix(out, "v2: 100 states sent, 0 incomplete, 0 without a server") {
		t.Errorf("exit %d, %s%s", code, errs, out)
	}
	eventually(t, "the states are in the file", func() bool {
		log, err := flightlog.ReadFile(in("g.msgpack"))
		return err == nil && len(log.Segments) == 1 && len(log.Segments[0].T) == 100
	})
	interrupt()
	recorded.Wait()
	if _, out, errs = run("play", in("f.msgpack"), "--from", "985ms", "--nats", s.ClientURL()); out != "v1: 1 state sent, 0 incomplete, 0 without a server, 0 backward time stamps, 0 damaged places\n" {
		t.Errorf("one state: %s%s", out, errs)
	}
	log, err := flightlog.ReadFile(in("g.msgpack"))
	if err != nil || len(log.Segments) != 1 || len(log.Segments[0].T) != 100 || log.Segments[0].X[99] != 99 || log.Channels[0].Name != "theta" {
		t.Error(log, err)
	}
	for _, c := range []struct {
		code int
		line string
		args []string
	}{
		{cli.Failed, "no server answers at nats://127.0.0.1:1", []string{"play", in("f.msgpack"), "--nats", "nats://127.0.0.1:1", "--wait", "50ms"}},
		{cli.Wrong, `vehicle "a b": ' ' cannot be part of a subject`, []string{"play", in("f.msgpack"), "--vehicle", "a b", "--nats", "nats://127.0.0.1:1", "--wait", "50ms"}},
		{cli.Wrong, "--speed 0 must be within", []string{"play", in("f.msgpack"), "--speed", "0"}},
		{cli.Wrong, "--speed NaN must be within", []string{"play", in("f.msgpack"), "--speed", "nan"}},
		{cli.Wrong, "--speed 1e-300 must be within", []string{"play", in("f.msgpack"), "--speed", "1e-300"}}, // pauses beyond 292 years
		{cli.Wrong, "--to is not after --from", []string{"play", in("f.msgpack"), "--from", "2s", "--to", "1s"}},
		{cli.Failed, "no such file", []string{"play", in("nix")}},
		{cli.Wrong, "--vehicle", []string{"record", "--vehicle", "a.b", "--out", in("h")}},
		{cli.Wrong, "give one", []string{"record", "--vehicle", "a", "--out", in("h"), "--model", "x", "--like", "y"}},
		{cli.Wrong, `"out" not set`, []string{"record", "--vehicle", "a"}},
		{cli.Failed, "no such file", []string{"record", "--vehicle", "a", "--out", in("h"), "--like", in("nix")}},
		{cli.Wrong, "--horizons 0 is not from 1 to 100", []string{"foxglove", "--horizons", "0"}},
		{cli.Failed, "cannot listen at nowhere:-1", []string{"foxglove", "--listen", "nowhere:-1", "--nats", s.ClientURL()}},
		{cli.Wrong, `link "nix": no address given`, []string{"mavlink", "--link", "nix", "--vehicle", "v1"}},
		{cli.Wrong, "--rate -1 is not from 0 to 1000", []string{"mavlink", "--link", "udp:1", "--vehicle", "v1", "--rate", "-1"}},
		{cli.Wrong, `"link" not set`, []string{"mavlink", "--vehicle", "v1"}},
		{cli.Failed, `channel "theta" is not in MAVLink's messages`, []string{"mavlink", "--link", "udp:14559", "--vehicle", "v1", "--like", in("f.msgpack"), "--nats", "not an address"}}, // before a server is sought
		{cli.Wrong, `link "nix": no address given`, []string{"msp", "--link", "nix", "--vehicle", "v1"}},
		{cli.Wrong, "--rate 0 is not above 0 and at most 2000", []string{"msp", "--link", "tcp:h:1", "--vehicle", "v1", "--rate", "0"}},
		{cli.Wrong, "--gyro-step NaN is not from 0 to 10", []string{"msp", "--link", "tcp:h:1", "--vehicle", "v1", "--gyro-step", "nan"}},
		{cli.Wrong, "--idle 90 is not below 90", []string{"msp", "--link", "tcp:h:1", "--vehicle", "v1", "--idle", "90"}},
		{cli.Wrong, "--map and --preset both describe the channels", []string{"msp", "--link", "tcp:h:1", "--vehicle", "v1", "--map", "x", "--preset", "betaflight"}},
		{cli.Wrong, `"link" not set`, []string{"msp", "--vehicle", "v1"}},
		{cli.Failed, `preset betaflight: channel theta: it is not among what the link measures`, []string{"msp", "--link", "tcp:h:1", "--vehicle", "v1", "--like", in("f.msgpack"), "--nats", "not an address"}}, // before a server is sought
		{cli.Failed, "no state was received on dgm.state.a", []string{"record", "--vehicle", "a", "--out", in("h"), "--duration", "10ms", "--nats", s.ClientURL()}},
	} {
		code, out, errs := run(c.args...)
		if code != c.code || !strings.Contains(errs, c.line) || strings.Contains(errs, "connected to NATS at \n") || out != "" {
			t.Errorf("%v: exit %d, %q, %q; want %d, %q", c.args, code, out, errs, c.code, c.line)
		}
	}
}

func TestCountsOfALink(t *testing.T) {
	var n mavlink.Counts
	for _, c := range []*atomic.Int64{&n.Messages, &n.States, &n.Predicted, &n.BadBytes, &n.Restarts} {
		c.Store(1)
	}
	if got, want := carried(&n), "1 message, 1 state sent, 0 without a server, 1 prediction to the autopilot, 1 time bad bytes, 0 messages of strangers, 1 restart of the autopilot"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var p msp.Counts
	for _, c := range []*atomic.Int64{&p.Replies, &p.States, &p.Lost, &p.Damaged} {
		c.Store(1)
	}
	if got, want := polled(&p), "1 poll, 1 state sent, 0 without a server, 0 held, 0 incomplete, 0 disarmed, 1 request without a reply, 1 damaged frame, 0 restarts"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	n.States.Store(2)
	if got := carried(&n); !strings.Contains(got, ", 2 states sent,") {
		t.Error(got)
	}
}
