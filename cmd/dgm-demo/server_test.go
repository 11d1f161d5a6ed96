package main

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// The page may read what is published, and publish nothing.
func TestViewerOnlyReads(t *testing.T) {
	s, err := serve(options{keep: true}, "http://127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	defer stop(s)
	robot, err := connect(s, "robot")
	if err != nil {
		t.Fatal(err)
	}
	defer robot.Close()
	refused := make(chan error, 10)
	viewer, err := nats.Connect(s.WebsocketURL(), nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer viewer.Close()
	subject := wire.StateSubject("one")
	seen, err := viewer.SubscribeSync(subject)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(viewer.Publish(subject, []byte("viewer")), viewer.Flush(), robot.Publish(subject, []byte("robot")), robot.Flush()); err != nil {
		t.Fatal(err)
	}
	if err := <-refused; !errors.Is(err, nats.ErrPermissionViolation) {
		t.Error(err)
	}
	if m, err := seen.NextMsg(5 * time.Second); err != nil || string(m.Data) != "robot" {
		t.Errorf("%v, %v", m, err)
	}
}
