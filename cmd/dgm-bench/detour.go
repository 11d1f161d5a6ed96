package main

import (
	"slices"
	"sync"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// detour keeps the states of a vehicle, and counts how often each is answered.
type detour struct {
	vehicle string
	nc      *nats.Conn

	mu      sync.Mutex
	states  [][]byte
	answers map[uint64]int
	read    wire.Prediction
}

func (s *rig) detour(nc *nats.Conn, vehicle string) *detour {
	d := &detour{vehicle: vehicle, nc: nc, answers: map[uint64]int{}}
	_, err := nc.Subscribe(wire.StateSubject(vehicle), func(m *nats.Msg) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.states = append(d.states, m.Data)
	})
	s.must(err)
	_, err = nc.Subscribe(wire.PredictSubject(vehicle), func(m *nats.Msg) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.read.Decode(m.Data) == nil {
			d.answers[d.read.Seq]++
		}
	})
	s.must(err)
	s.must(nc.Flush()) // what is sent from now on is received
	return d
}

// again sends the last n states again. The link of a rig loses none.
func (d *detour) again(n int) {
	d.mu.Lock()
	last := slices.Clone(d.states[max(len(d.states)-n, 0):])
	d.mu.Unlock()
	for _, b := range last {
		_ = d.nc.Publish(wire.StateSubject(d.vehicle), b)
	}
}

// count returns how many states were answered, and how many answers were one too many.
func (d *detour) count() (answered, twice int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.answers {
		answered++
		twice += n - 1
	}
	return answered, twice
}
