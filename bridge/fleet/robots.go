package fleet

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/nats-io/nats.go"
)

// Robots keeps the newest status of every vehicle that it receives.
type Robots struct {
	mu  sync.Mutex
	all map[string]*heard
	sub *nats.Subscription
}

// heard is what has come of a vehicle. It is read when somebody asks for it: one vehicle can send more than could be read, and others' would
// be dropped.
type heard struct {
	Robot
	newest []byte // nil = it was read
	came   time.Time
}

// read returns the newest status that is one of the vehicle.
func (h *heard) read(vehicle string) Robot {
	var s wire.Status
	if h.newest != nil && s.Decode(h.newest) == nil && s.Vehicle == vehicle {
		h.Robot = Robot{s, h.came}
	}
	h.newest = nil
	return h.Robot
}

// Robot is the newest status of a vehicle.
type Robot struct {
	Status wire.Status
	Came   time.Time
}

// silentAfter is the age of a status on which nothing is decided.
const silentAfter = 10 * time.Second

// mostRobots is how many vehicles are kept: of more, those that are live.
const mostRobots = 20000

// Live reports whether the status is of now.
func (r *Robot) Live() bool { return !r.Came.IsZero() && time.Since(r.Came) < silentAfter }

// subscribeLimit bounds how long a server may take to acknowledge a subscription.
const subscribeLimit = 20 * time.Second

// Listen receives the statuses of all vehicles until Close: those that are sent after it has returned.
func Listen(nc *nats.Conn) (*Robots, error) {
	r := &Robots{all: map[string]*heard{}}
	var err error
	r.sub, err = nc.Subscribe(wire.AllStatuses, func(m *nats.Msg) {
		vehicle := strings.TrimPrefix(m.Subject, wire.StatusSubject(""))
		r.mu.Lock()
		defer r.mu.Unlock()
		h := r.all[vehicle]
		if h == nil {
			if wire.CheckVehicle(vehicle) != nil || !r.room() {
				return // foreign, or too many
			}
			h = &heard{}
			r.all[vehicle] = h
		}
		h.newest, h.came = m.Data, time.Now()
	})
	if err != nil {
		return nil, fmt.Errorf("subscribing to %s: %w", wire.AllStatuses, err)
	}
	if err := nc.FlushTimeout(subscribeLimit); err != nil {
		r.Close()
		return nil, fmt.Errorf("subscribing to %s: no answer of the server in %v: %w", wire.AllStatuses, subscribeLimit, err)
	}
	return r, nil
}

// Close ends receiving.
func (r *Robots) Close() { _ = r.sub.Unsubscribe() }

// room reports whether another vehicle can be kept, without those that are silent.
func (r *Robots) room() bool {
	if len(r.all) >= mostRobots {
		maps.DeleteFunc(r.all, func(_ string, h *heard) bool { return time.Since(h.came) >= silentAfter })
	}
	return len(r.all) < mostRobots
}

// Of returns the newest status of a vehicle, the zero value where none has come.
func (r *Robots) Of(vehicle string) Robot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.all[vehicle]; h != nil {
		return h.read(vehicle)
	}
	return Robot{}
}

// Vehicles lists those that were heard of.
func (r *Robots) Vehicles() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for v, h := range r.all {
		if r := h.read(v); !r.Came.IsZero() {
			all = append(all, v)
		}
	}
	return all
}
