package main

import (
	"errors"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// startServer starts a NATS server on a port of the loopback.
func startServer(port int, change ...func(o *server.Options)) (*server.Server, error) {
	o := &server.Options{
		Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true,
		NoFastProducerStall: true, // one slow subscriber must not slow the others
	}
	for _, f := range change {
		f(o)
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, err
	}
	// The port of one that was just stopped may need a moment.
	for end := time.Now().Add(patience); ; {
		s.Start()
		if s.ReadyForConnections(time.Second) {
			return s, nil
		}
		stopServer(s)
		if time.Now().After(end) {
			return nil, errors.New("the NATS server does not start on the loopback")
		}
		if s, err = server.NewServer(o); err != nil {
			return nil, err
		}
	}
}

func stopServer(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}
