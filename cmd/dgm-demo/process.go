package main

import (
	"context"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node"
	"github.com/dgm-robotics/dgm/estimator/wire"
	"github.com/dgm-robotics/dgm/firmware-sim/live"
)

// process is a part of this program that runs as a process of its own on a robot. It
// has its own connection.
type process struct {
	cancel context.CancelFunc
	done   chan struct{} // closed at the end
	err    error         // why it ended; valid after done
}

// start runs a process until stop, or until it ends by itself.
func start(ctx context.Context, s *server.Server, name string, run func(ctx context.Context, nc *nats.Conn) error) (*process, error) {
	nc, err := connect(s, name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &process{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = run(ctx, nc)
		_ = nc.FlushTimeout(patience) // what it has published last
		nc.Close()
	}()
	return p, nil
}

// stop ends the process and returns why it ended before, if that was an error.
func (p *process) stop() error {
	p.cancel()
	<-p.done
	return p.err
}

// startEstimator serves a model file until stop; then it answers the states that have
// arrived. It returns the times, s, that are predicted at.
func startEstimator(s *server.Server, sc *scene, path string) (p *process, times []float64, err error) {
	m, err := model.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	cfg := node.Config{Vehicle: sc.vehicle}
	if _, changes := sc.flown.Onset(); changes {
		cfg.Adapt = wire.AdaptOn
	}
	n, err := node.New(cfg, m)
	if err != nil {
		return nil, nil, err
	}
	p, err = start(context.Background(), s, "estimator", n.Run)
	return p, n.Times(), err
}

// flightSeed makes the live flight another than the recorded ones.
const flightSeed = 1_000_000

// startRobot starts the simulated robot. It ends after duration, unless that is 0.
func startRobot(ctx context.Context, s *server.Server, sc *scene, seed uint64, duration time.Duration) (*process, error) {
	cfg := live.Config{Robot: sc.flown, Vehicle: sc.vehicle, Duration: duration}
	cfg.Robot.Seed = seed + flightSeed
	return start(ctx, s, "robot", func(ctx context.Context, nc *nats.Conn) error {
		_, err := live.Run(ctx, nc, cfg)
		return err
	})
}
