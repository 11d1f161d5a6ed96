package main

import (
	"context"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/firmware-sim/live"
)

// simulator is the robot in flight, with a connection of its own.
type simulator struct {
	cancel context.CancelFunc
	nc     *nats.Conn
	done   chan struct{} // closed when it has landed
	err    error         // why, once done
}

// flightSeed makes the live flight another than the recorded ones.
const flightSeed = 1_000_000

// takeOff starts the robot. It lands by itself after duration, unless that is 0.
func takeOff(ctx context.Context, s *server.Server, sc *scene, seed uint64, duration time.Duration) (*simulator, error) {
	nc, err := node.Link{InProcess: s, Name: "dgm-demo robot"}.Connect()
	if err != nil {
		return nil, err
	}
	cfg := live.Config{Robot: sc.robot, Vehicle: sc.vehicle, Duration: duration}
	cfg.Robot.Seed = seed + flightSeed
	ctx, cancel := context.WithCancel(ctx)
	sim := &simulator{cancel: cancel, nc: nc, done: make(chan struct{})}
	go func() {
		defer close(sim.done)
		_, sim.err = live.Run(ctx, nc, cfg)
	}()
	return sim, nil
}

// land ends the flight. It returns why it ended before, if that was an error.
func (s *simulator) land() error {
	s.cancel()
	<-s.done
	s.nc.Close()
	return s.err
}
