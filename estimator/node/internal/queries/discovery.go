package queries

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// discovery answers who asks for the services of a server, as micro services do (`nats micro ls`, `info`, `stats`), but at
// inboxes alone: the package micro publishes its answers on any subject that a request names.
type discovery struct {
	nc      *nats.Conn
	started time.Time
	subs    []*nats.Subscription

	mu    sync.Mutex
	info  micro.Info
	stats micro.EndpointStats
}

// endpointName is that of the one endpoint, on which queries come.
const endpointName = "query"

// discover answers from now on as the service of an instance, with no metadata yet.
func discover(nc *nats.Conn, vehicle, id string) (*discovery, error) {
	subject := wire.QuerySubject(vehicle)
	d := &discovery{nc: nc, started: time.Now().UTC(), stats: micro.EndpointStats{Name: endpointName, Subject: subject, QueueGroup: vehicle}}
	d.info = micro.Info{
		ServiceIdentity: micro.ServiceIdentity{Name: serviceName, ID: id, Version: version}, Type: micro.InfoResponseType,
		Description: "distributions of the states to come of a robot", Endpoints: []micro.EndpointInfo{{Name: endpointName, Subject: subject, QueueGroup: vehicle}},
	}
	for verb, answer := range map[micro.Verb]func() any{micro.PingVerb: d.ping, micro.InfoVerb: d.describe, micro.StatsVerb: d.count} {
		for _, of := range [][2]string{{}, {serviceName}, {serviceName, d.info.ID}} {
			at, err := micro.ControlSubject(verb, of[0], of[1])
			if err == nil {
				err = d.subscribe(at, answer)
			}
			if err != nil {
				return nil, errors.Join(fmt.Errorf("offering %v: %w", verb, err), d.end())
			}
		}
	}
	return d, nil
}

func (d *discovery) subscribe(subject string, answer func() any) error {
	sub, err := d.nc.Subscribe(subject, func(m *nats.Msg) {
		if !wire.IsInbox(m.Reply) {
			return
		}
		if data, err := json.Marshal(answer()); err == nil {
			_ = m.Respond(data) // who asked may be gone
		}
	})
	if err == nil {
		d.subs = append(d.subs, sub)
	}
	return err
}

// end answers no more.
func (d *discovery) end() (err error) {
	for _, s := range d.subs {
		err = errors.Join(err, s.Unsubscribe())
	}
	return err
}

// set sets the metadata.
func (d *discovery) set(metadata map[string]string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.info.Metadata = metadata
}

// served counts a request and how long it took.
func (d *discovery) served(took time.Duration, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &d.stats
	s.NumRequests++
	s.ProcessingTime += took
	s.AverageProcessingTime = s.ProcessingTime / time.Duration(s.NumRequests)
	if err != nil {
		s.NumErrors++
		s.LastError = err.Error()
	}
}

func (d *discovery) ping() any {
	d.mu.Lock()
	defer d.mu.Unlock()
	return micro.Ping{ServiceIdentity: d.info.ServiceIdentity, Type: micro.PingResponseType}
}

func (d *discovery) describe() any {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.info
}

func (d *discovery) count() any {
	d.mu.Lock()
	defer d.mu.Unlock()
	stats := d.stats
	return micro.Stats{ServiceIdentity: d.info.ServiceIdentity, Type: micro.StatsResponseType, Started: d.started, Endpoints: []*micro.EndpointStats{&stats}}
}
