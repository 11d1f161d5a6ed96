package main

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// startEcho returns every state of a vehicle at once, on a connection of its own. Its
// delay is that of the computer and the server alone: the reference for the
// estimator's.
func startEcho(s *server.Server, vehicle string) (*nats.Conn, error) {
	nc, err := connect(s, "dgm-demo echo")
	if err != nil {
		return nil, err
	}
	_, err = nc.Subscribe(wire.StateSubject(vehicle), func(m *nats.Msg) { _ = nc.Publish(echoSubject(vehicle), m.Data) })
	if err == nil {
		err = nc.FlushTimeout(patience)
	}
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("the echo cannot subscribe: %w", err)
	}
	return nc, nil
}

// echoSubject is where the states come back.
func echoSubject(vehicle string) string { return "demo.echo." + vehicle }
