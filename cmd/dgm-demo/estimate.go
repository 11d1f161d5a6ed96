package main

import (
	"context"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node"
)

// estimator is the process that flies, here a part of this one, with a
// connection of its own.
type estimator struct {
	times  []float64 // s, that it predicts at
	cancel context.CancelFunc
	done   chan error
}

// startEstimator serves a model file until stop.
func startEstimator(s *server.Server, sc *scene, path string) (*estimator, error) {
	m, err := model.ReadFile(path)
	if err != nil {
		return nil, err
	}
	n, err := node.New(node.Config{Vehicle: sc.vehicle}, m)
	if err != nil {
		return nil, err
	}
	nc, err := node.Link{InProcess: s, Name: "dgm-demo estimator"}.Connect()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	e := &estimator{times: n.Times(), cancel: cancel, done: make(chan error, 1)}
	go func() {
		err := n.Run(ctx, nc)
		nc.Close()
		e.done <- err
	}()
	return e, nil
}

// stop ends it after it has answered what came.
func (e *estimator) stop() error {
	e.cancel()
	return <-e.done
}
