// Package queries answers questions about a vehicle as a NATS micro service: what if
// the state or the plan were these? It has goroutines, predictors and a connection of its
// own, and takes a bounded share of the processors between two questions of a query, so
// that a flood of them delays no prediction for longer than one question takes.
package queries

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/dgm-robotics/dgm/estimator/adapt"
	"github.com/dgm-robotics/dgm/estimator/history"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/reporting"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Config names what is asked about.
type Config struct {
	Vehicle, Instance string
	Plain             bool  // predictors in double precision throughout
	MaxMemory         int64 // bytes that the predictors of a worker may take

	Clock func() (unix, steady int64)              // ns
	Model func() (m *model.Model, times []float64) // the one in use, and the times, s, that it predicts at

	// History copies the samples of the stream to dst; false if that takes longer than
	// within.
	History func(dst *history.Buffer, within time.Duration) bool

	// Adaptation copies to dst what predictions of the model with an ID are corrected by;
	// false if they are not.
	Adaptation func(dst *adapt.State, model string) bool
}

// Service answers the queries about one vehicle.
type Service struct {
	cfg     Config
	nc      *nats.Conn
	service micro.Service
	offered *model.Model // whose information the service has
	work    chan request
	quit    chan struct{} // closed at the end; work is not, because what drains may still put into it
	workers sync.WaitGroup
}

// request is a query that waits.
type request struct {
	micro.Request
	at int64 // ns, steady, when it came
}

const (
	mostWaiting = 8 // requests; more are refused at once
	timeout     = int64(time.Second)
	mostTimeout = 60 * int64(time.Second)
	closeFor    = 2 * time.Second
	serviceName = "dgm-estimator"
	version     = "1.0.0"
)

// Serve offers the service until Close. The connection is its own: large queries and answers
// would hold up what else goes over it.
func Serve(nc *nats.Conn, cfg Config) (*Service, error) {
	s := &Service{cfg: cfg, nc: nc, work: make(chan request, mostWaiting), quit: make(chan struct{})}
	workers, share := workersOf(runtime.GOMAXPROCS(0))
	for range workers {
		b := newBudget(share, cfg.Clock)
		b.sleep = s.pause
		s.workers.Go(func() { s.run(b) })
	}
	if err := s.offer(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// Refresh offers the service anew where another model is in use since it was offered: its
// information names the model's horizon. It is for the goroutine of Serve and Close.
func (s *Service) Refresh() error {
	m, _ := s.cfg.Model()
	if m == s.offered {
		return nil
	}
	s.offered = m // once, also where it fails
	return s.offer()
}

// offer adds the service with the information of the model in use, and ends the one before.
func (s *Service) offer() error {
	m, times := s.cfg.Model()
	info := s.cfg.describe(m, times, s.nc.MaxPayload())
	service, err := micro.AddService(s.nc, micro.Config{
		Name: serviceName, Version: version, Description: "distributions of the states to come of a robot",
		Metadata: map[string]string{
			"vehicle": info.Vehicle, "instance": info.Instance, "model": info.Model, "layout": info.Layout,
			"model_horizon": fmt.Sprintf("%g", info.ModelHorizon), "points": strconv.Itoa(info.Points),
			"channels": withUnits(info.Channels, info.Units), "input_channels": withUnits(info.InputChannels, info.InputUnits),
		},
	})
	if err != nil {
		return fmt.Errorf("offering queries: %w", err)
	}
	// Instances would share the queries of all vehicles if the queue group, too, did
	// not name the vehicle.
	err = service.AddEndpoint("query", micro.HandlerFunc(s.receive),
		micro.WithEndpointSubject(wire.QuerySubject(s.cfg.Vehicle)), micro.WithEndpointQueueGroup(s.cfg.Vehicle))
	if err != nil {
		_ = service.Stop() // it has no endpoint
		return fmt.Errorf("offering queries at %s: %w", wire.QuerySubject(s.cfg.Vehicle), err)
	}
	if s.nc.IsConnected() { // a status over another connection comes after the offer
		_ = s.nc.FlushTimeout(time.Duration(timeout))
	}
	before := s.service
	s.service, s.offered = service, m
	if before != nil {
		_ = before.Stop() // the connection may be gone
	}
	return nil
}

// withUnits returns "theta rad, omega rad/s".
func withUnits(names, units []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = strings.TrimSpace(name + " " + units[i])
	}
	return strings.Join(all, ", ")
}

// pause sleeps, until the service ends.
func (s *Service) pause(d time.Duration) {
	select {
	case <-s.quit:
	case <-time.After(d):
	}
}

// Close ends the service after what was accepted is answered, or refused where it takes
// longer than a second. A worker in the midst of a longer question is not waited for.
func (s *Service) Close() {
	if s.service != nil {
		_ = s.service.Stop() // the connection may be gone
	}
	close(s.quit)
	done := make(chan struct{})
	go func() {
		s.workers.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(closeFor):
	}
}

// refusalPause is the time between two requests that are refused because too many wait: a
// flood of them costs little.
const refusalPause = time.Millisecond

// receive accepts or refuses a request, on the goroutine of the subscription.
func (s *Service) receive(r micro.Request) {
	_, now := s.cfg.Clock()
	select {
	case s.work <- request{r, now}:
	default:
		s.respond(r, nil, &refusal{codeBusy, "", fmt.Sprintf("%d requests are waiting already; ask again, or fewer at a time", mostWaiting)})
		time.Sleep(refusalPause)
	}
}

// keyHeader names the key of the query for which it is refused.
const keyHeader = "Dgm-Key"

// respond answers a request with data or with an error, over the connection itself:
// what a micro.Request notes of its answer is read when receive returns, which is
// before most are answered.
func (s *Service) respond(r micro.Request, data []byte, err error) {
	m := &nats.Msg{Subject: r.Reply(), Data: data}
	if err != nil {
		f := refusalOf(err)
		m.Header = nats.Header{micro.ErrorHeader: {reporting.Shorten(f.Error())}, micro.ErrorCodeHeader: {strconv.Itoa(f.code)}}
		if f.key != "" {
			m.Header.Set(keyHeader, f.key)
		}
	}
	_ = s.nc.PublishMsg(m) // who asked may be gone
}

// run answers requests until there are no more, within a budget.
func (s *Service) run(b *budget) {
	a := answerer{cfg: &s.cfg, budget: b, quit: s.quit}
	var buf []byte
	for {
		select {
		case r := <-s.work:
			buf = s.reply(&a, r, buf)
			continue
		default:
		}
		select {
		case r := <-s.work:
			buf = s.reply(&a, r, buf)
		case <-s.quit:
			return // and nothing waits
		}
	}
}

// reply answers one request and returns its buffer for the next.
func (s *Service) reply(a *answerer, r request, buf []byte) []byte {
	a.budget.begin()
	err := a.answer(r.Data(), r.at, s.nc.MaxPayload(), func(m message) {
		buf = m.Append(buf[:0])
		s.respond(r, buf, nil)
	})
	if err != nil {
		s.respond(r, nil, err)
	}
	a.budget.rest()
	return buf
}
