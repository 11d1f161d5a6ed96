package main

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/dgm-view/page"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// A site is a NATS server, a page for it, and a connection that publishes.
type site struct {
	t      *testing.T
	server *server.Server
	nc     *nats.Conn
	url    string // of the page
}

// openSite opens one whose page may subscribe to what is given, page.Reads without.
func openSite(t *testing.T, reads ...string) *site {
	t.Helper()
	s := startServer(t, server.RANDOM_PORT, reads...)
	settings, err := page.ParseServers(strings.Replace(s.WebsocketURL(), "//", "//viewer:w@", 1))
	if err != nil {
		t.Fatal(err)
	}
	settings.Fleet, settings.PublicKey = true, operatorKey.Public().(ed25519.PublicKey)
	ctx, cancel := context.WithCancel(t.Context())
	urls, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- serve(ctx, "127.0.0.1:0", settings, func(url string) { urls <- url }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	st := &site{t: t, server: s, url: <-urls}
	st.connect()
	return st
}

// startServer starts a server whose WebSocket has a port, with a user that may only read, page.Reads where reads is empty.
func startServer(t *testing.T, port int, reads ...string) *server.Server {
	t.Helper()
	if len(reads) == 0 {
		reads = page.Reads
	}
	viewer := &server.Permissions{Subscribe: &server.SubjectPermission{Allow: reads}, Publish: &server.SubjectPermission{Allow: page.Asks}}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, NoFastProducerStall: true, NoAuthUser: "robot", JetStream: true, StoreDir: t.TempDir(),
		Users:     []*server.User{{Username: "robot", Password: "r"}, {Username: "viewer", Password: "w", Permissions: viewer}},
		Websocket: server.WebsocketOpts{Host: "127.0.0.1", Port: port, NoTLS: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server does not start")
	}
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s
}

func (s *site) connect() {
	s.t.Helper()
	nc, err := nats.Connect("", nats.InProcessServer(s.server), nats.Name("robots"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(nc.Close)
	s.nc = nc
}

// A robot is what is published of one vehicle: K channels, a prediction of T points.
type robot struct {
	name       string
	state      wire.State
	prediction wire.Prediction
	status     wire.Status
}

func newRobot(name string, channels, times int) *robot {
	r := &robot{name: name}
	p := &r.prediction
	*p = wire.Prediction{Vehicle: name, Model: "0123456789abcdef", Instance: "one", Inputs: "plan", Tube: []float64{2, 3, 3.5}, OOD: 0.25}
	for k := range channels {
		p.Channels, p.Units = append(p.Channels, "q"+strconv.Itoa(k)), append(p.Units, "rad/s")
	}
	if channels > 2 {
		p.Channels[0], p.Channels[1], p.Units[0], p.Units[1] = "x", "y", "m", "m"
	}
	for i := range times {
		p.Horizon = append(p.Horizon, float64(i+1)/float64(times))
	}
	n := channels * times
	p.Mean, p.Std, p.ObsStd, p.Factor = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	r.state.X = make([]float64, channels)
	r.status = wire.Status{
		Vehicle: name, Model: p.Model, Instance: "one", Input: wire.InputLive, StateRate: 100, PredictRate: 100, LatencyP50: 0.0002, LatencyP99: 0.0015,
		Buckets: []float64{0.2, 1}, Channels: p.Channels, Adapt: wire.AdaptOn, AdaptShare: 0.75,
		Amounts: []wire.Amount{{Name: "gain m1", Unit: "%", Value: -20, Std: 3}},
		Reasons: []wire.ReasonCount{{Reason: "order", Count: 7, Text: "came late", Last: "seq 3 after 4"}}, Received: 1007, Published: 1000,
	}
	for range 2 * channels {
		r.status.Coverage, r.status.Factor = append(r.status.Coverage, 0.94), append(r.status.Factor, 1.1)
	}
	return r
}

// fly moves the robot to a time, s.
func (r *robot) fly(t float64, seq uint64) {
	at := func(k int, t float64) float64 { return math.Sin(t*(1+0.1*float64(k)) + float64(k)) }
	p := &r.prediction
	K := len(p.Channels)
	for i, h := range p.Horizon {
		for k := range K {
			j := i*K + k
			p.Mean[j], p.Std[j], p.ObsStd[j], p.Factor[j] = at(k, t+h), 0.05*(0.2+h), 0.05*(0.3+h), 1.2
		}
	}
	for k := range K {
		r.state.X[k] = at(k, t)
	}
	r.state.Seq, r.state.T = seq, int64(t*1e9)
	p.Seq, p.T, p.ValidUntil = seq, r.state.T, r.state.T+1e9
	r.status.T = r.state.T
}

func (s *site) publish(subject string, message []byte) {
	s.t.Helper()
	if err := s.nc.Publish(subject, message); err != nil {
		s.t.Error(err)
	}
}

// send publishes what the robot has; the status only where it is asked for.
func (s *site) send(r *robot, status bool) {
	s.publish(wire.StateSubject(r.name), r.state.Append(nil))
	s.publish(wire.PredictSubject(r.name), r.prediction.Append(nil))
	if status {
		s.publish(wire.StatusSubject(r.name), r.status.Append(nil))
	}
}

// flight lets robots fly at a rate, Hz, until the test ends or land.
func (s *site) flight(rate int, robots ...*robot) (land func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	var flying sync.WaitGroup
	land = func() { cancel(); flying.Wait() }
	s.t.Cleanup(land)
	flying.Go(func() {
		tick := time.NewTicker(time.Second / time.Duration(rate))
		defer tick.Stop()
		for n := uint64(0); ctx.Err() == nil; n++ {
			for _, r := range robots {
				r.fly(float64(n)/float64(rate), n)
				s.send(r, n%uint64(rate) == 0)
			}
			<-tick.C
		}
	})
	return land
}

// operatorKey signs what is decided; the page has its public half.
var operatorKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// decide adds a decision, signed by a key, to the log of a fleet.
func (s *site) decide(st model.Statement, value any, key ed25519.PrivateKey) {
	s.t.Helper()
	was, err := fleet.ReadDecisions(s.t.Context(), s.nc, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if st.Content, err = json.Marshal(value); err != nil {
		s.t.Fatal(err)
	}
	if st.Decision, err = hex.DecodeString(was.Head); err != nil {
		s.t.Fatal(err)
	}
	st.Number = uint64(len(was.Decisions) + 1)
	subject := "dgm.decision." + string(st.Purpose) + "." + cmp.Or(st.Vehicle, st.Fleet)
	if _, err := s.nc.Request(subject, model.SignDecision(st, key), 5*time.Second); err != nil {
		s.t.Fatal(err)
	}
	if now, err := fleet.ReadDecisions(s.t.Context(), s.nc, operatorKey.Public().(ed25519.PublicKey)); err != nil || (len(now.Faults) == 0) != key.Equal(operatorKey) {
		s.t.Fatal(now, err)
	}
}

// keep writes a value into a key-value store, which is made where it is missing.
func (s *site) keep(bucket, key string, value any) {
	s.t.Helper()
	js, err := jetstream.New(s.nc)
	if err != nil {
		s.t.Fatal(err)
	}
	kv, err := js.KeyValue(s.t.Context(), bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = js.CreateKeyValue(s.t.Context(), jetstream.KeyValueConfig{Bucket: bucket})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	content, err := json.Marshal(value)
	if err == nil {
		_, err = kv.Put(s.t.Context(), key, content)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}
