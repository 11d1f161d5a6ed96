package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/fleet"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/firmware-sim/live"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
)

// simulated are robots that run in this process, each with its estimator, which has connections of its own.
type simulated struct {
	server nats.InProcessConnProvider
	key    ed25519.PublicKey
	log    func(string)

	running sync.WaitGroup
	mu      sync.Mutex
	failed  error
}

// demoDeadline of predictions: without one it is the time between two states, which a busy computer can miss so often that it refuses the
// model and that the shadow gets no window.
const demoDeadline = time.Second

// fly runs a robot and its estimator, which begins with a model, until the context ends.
func (s *simulated) fly(ctx context.Context, vehicle string, r robot.Config, m *model.Model) error {
	log := func(line string) { s.log(vehicle + ": " + line) }
	n, err := node.New(node.Config{Vehicle: vehicle, Accept: model.Acceptance{Key: s.key}, SwapPermission: true, NoQueries: true, Deadline: demoDeadline, Log: log}, m)
	if err != nil {
		return fmt.Errorf("%s: %w", vehicle, err)
	}
	for name, run := range map[string]func(nc *nats.Conn) error{
		"estimator": func(nc *nats.Conn) error { return n.Run(ctx, nc) },
		"models": func(nc *nats.Conn) error {
			n.Watch(ctx, nc, fleet.FlownObjects, fleet.FlownObject(vehicle))
			return nil
		},
		"robot": func(nc *nats.Conn) error {
			_, err := live.Run(ctx, nc, live.Config{Robot: r, Vehicle: vehicle})
			return err
		},
		"permission": func(nc *nats.Conn) error { return permit(ctx, nc, vehicle) },
	} {
		nc, err := node.Link{Name: vehicle + " " + name, InProcess: s.server}.Connect()
		if err != nil {
			return err
		}
		s.running.Go(func() {
			defer nc.Close()
			if err := run(nc); err != nil && ctx.Err() == nil {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.failed = errors.Join(s.failed, fmt.Errorf("%s, %s: %w", vehicle, name, err))
			}
		})
	}
	return nil
}

// wait waits for the end of all, after that of their context, and returns why one ended before.
func (s *simulated) wait() error {
	s.running.Wait()
	return s.failed
}

// permit lets the vehicle permit swaps at all times: a pendulum is as safe with one model as with another.
func permit(ctx context.Context, nc *nats.Conn, vehicle string) error {
	p := wire.SwapPermission{Permitted: true}
	for ; ctx.Err() == nil; cli.Wait(ctx, time.Second) {
		_ = nc.Publish(wire.SwapSubject(vehicle), p.Append(nil)) // the next one follows
	}
	return nil
}

// installed returns the model that a vehicle reads.
func installed(ctx context.Context, c client, in *fleet.Installer, vehicle string) (*model.Model, error) {
	i, err := in.Get(ctx, vehicle)
	if err != nil {
		return nil, err
	}
	m, ok, err := c.models.Of(ctx, &fleet.Job{Vehicle: i.Flown.Vehicle, ID: i.Flown.Job})
	if err != nil || !ok {
		return nil, fmt.Errorf("%s: its model is not in the registry: %w", vehicle, err)
	}
	file, err := c.models.Fetch(ctx, m)
	if err != nil {
		return nil, err
	}
	return model.Decode(file)
}
