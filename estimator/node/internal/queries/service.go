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
	cfg       Config
	nc        *nats.Conn
	queries   *nats.Subscription
	discovery *discovery
	offered   *model.Model // whose information the service has
	work      chan request
	quit      chan struct{} // closed at the end; work is not, because what drains may still put into it
	workers   sync.WaitGroup
}

// request is a query that waits.
type request struct {
	*nats.Msg
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

// Refresh describes the model in use, where that is another than before: the information of the service names its horizon.
// It is for the goroutine of Serve and Close.
func (s *Service) Refresh() {
	m, times := s.cfg.Model()
	if m == s.offered {
		return
	}
	s.offered = m
	info := s.cfg.describe(m, times, s.nc.MaxPayload())
	s.discovery.set(map[string]string{
		"vehicle": info.Vehicle, "instance": info.Instance, "model": info.Model, "layout": info.Layout,
		"model_horizon": fmt.Sprintf("%g", info.ModelHorizon), "points": strconv.Itoa(info.Points),
		"channels": withUnits(info.Channels, info.Units), "input_channels": withUnits(info.InputChannels, info.InputUnits),
	})
}

// offer subscribes to the queries, and answers who looks for services.
func (s *Service) offer() (err error) {
	if s.discovery, err = discover(s.nc, s.cfg.Vehicle, s.cfg.Instance); err != nil {
		return err
	}
	s.Refresh()
	// Instances share the queries of a vehicle.
	at := wire.QuerySubject(s.cfg.Vehicle)
	if s.queries, err = s.nc.QueueSubscribe(at, s.cfg.Vehicle, s.receive); err != nil {
		return fmt.Errorf("offering queries at %s: %w", at, err)
	}
	if s.nc.IsConnected() { // a status over another connection comes after the offer
		_ = s.nc.FlushTimeout(time.Duration(timeout))
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
	if s.queries != nil {
		_ = s.queries.Drain() // the connection may be gone
	}
	if s.discovery != nil {
		_ = s.discovery.end()
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

// receive accepts or refuses a request, on the goroutine of the subscription. One that is to be answered elsewhere than at
// an inbox is none: the estimator may publish where who asks may not.
func (s *Service) receive(m *nats.Msg) {
	if !wire.IsInbox(m.Reply) {
		return
	}
	_, now := s.cfg.Clock()
	r := request{m, now}
	select {
	case s.work <- r:
	default:
		s.respond(r, nil, &refusal{codeBusy, "", fmt.Sprintf("%d requests are waiting already; ask again, or fewer at a time", mostWaiting)})
		time.Sleep(refusalPause)
	}
}

// keyHeader names the key of the query for which it is refused.
const keyHeader = "Dgm-Key"

// respond answers a request with data or with an error.
func (s *Service) respond(r request, data []byte, err error) {
	m := &nats.Msg{Subject: r.Reply, Data: data}
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
	err := a.answer(r.Data, r.at, s.nc.MaxPayload(), func(m message) {
		buf = m.Append(buf[:0])
		s.respond(r, buf, nil)
	})
	if err != nil {
		s.respond(r, nil, err)
	}
	_, now := s.cfg.Clock()
	s.discovery.served(time.Duration(now-r.at), err)
	a.budget.rest()
	return buf
}
