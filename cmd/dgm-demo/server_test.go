package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/cmd/dgm-view/page"

	"github.com/dgm-robotics/dgm/estimator/wire"
)

// The page may read what is published, and publish nothing.
func TestViewerOnlyReads(t *testing.T) {
	s, err := serve(options{keep: true}, []string{"http://127.0.0.1:1", "http://localhost:1"})
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
	select {
	case err := <-refused:
		if !errors.Is(err, nats.ErrPermissionViolation) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the viewer may publish")
	}
	if m, err := seen.NextMsg(time.Minute); err != nil || string(m.Data) != "robot" {
		t.Errorf("%v, %v", m, err)
	}
}

// The page may be opened by either name of the loopback, and no other page may read.
func TestOriginsOfThePage(t *testing.T) {
	origins := page.Origins(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1})
	s, err := serve(options{keep: true}, origins)
	if err != nil {
		t.Fatal(err)
	}
	defer stop(s)
	for _, c := range []struct {
		origin string
		allows bool
	}{{"http://127.0.0.1:1", true}, {"http://localhost:1", true}, {"http://localhost:2", false}, {"https://localhost:1", false}, {"http://page.example:1", false}} {
		socket, _, err := websocket.Dial(context.Background(), s.WebsocketURL(), &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {c.origin}}})
		if (err == nil) != c.allows {
			t.Errorf("%s: %v", c.origin, err)
		}
		if err == nil {
			_ = socket.CloseNow()
		}
	}
}
