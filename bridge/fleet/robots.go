package fleet

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/nats-io/nats.go"
)

// Robots keeps the newest status of every vehicle that it receives.
type Robots struct {
	mu  sync.Mutex
	all map[string]Robot
	sub *nats.Subscription
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
	r := &Robots{all: map[string]Robot{}}
	var err error
	r.sub, err = nc.Subscribe(wire.AllStatuses, func(m *nats.Msg) {
		var s wire.Status
		if s.Decode(m.Data) != nil || m.Subject != wire.StatusSubject(s.Vehicle) || wire.CheckVehicle(s.Vehicle) != nil {
			return // foreign
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if _, known := r.all[s.Vehicle]; !known && len(r.all) >= mostRobots {
			maps.DeleteFunc(r.all, func(_ string, old Robot) bool { return !old.Live() })
			if len(r.all) >= mostRobots {
				return
			}
		}
		r.all[s.Vehicle] = Robot{s, time.Now()}
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

// Of returns the newest status of a vehicle, the zero value where none has come.
func (r *Robots) Of(vehicle string) Robot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[vehicle]
}

// Vehicles lists those that were heard of.
func (r *Robots) Vehicles() (all []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for v := range r.all {
		all = append(all, v)
	}
	return all
}
