package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/cmd/dgm-view/page"
	"github.com/dgm-robotics/dgm/estimator/node"
)

// patience is how long is waited for what starts in this process.
const patience = time.Minute

// serve starts a NATS server in this process. Nothing listens on a port unless
// the demo keeps running for others; then it is one of the loopback, and a page of one of
// the origins may read by WebSocket.
func serve(o options, origins []string) (*server.Server, error) {
	options := &server.Options{
		ServerName: "dgm-demo", Host: "127.0.0.1", Port: cmp.Or(o.port, server.RANDOM_PORT), DontListen: !o.keep,
		NoLog: true, NoSigs: true,
		NoFastProducerStall: true, // one slow subscriber must not slow the others
	}
	if o.keep {
		viewer := &server.Permissions{Subscribe: &server.SubjectPermission{Allow: page.Reads}, Publish: &server.SubjectPermission{Allow: []string{page.Queries}}}
		options.Users = []*server.User{{Username: "all"}, {Username: "viewer", Permissions: viewer}}
		options.NoAuthUser = "all"
		options.Websocket = server.WebsocketOpts{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoTLS: true, NoAuthUser: "viewer", AllowedOrigins: origins}
	}
	s, err := server.NewServer(options)
	if err != nil {
		return nil, fmt.Errorf("the NATS server: %w", err)
	}
	if o.port != 0 {
		if err := free(o.port); err != nil {
			return nil, err
		}
	}
	s.Start()
	if !s.ReadyForConnections(patience) {
		stop(s)
		return nil, errors.New("the NATS server does not start")
	}
	return s, nil
}

// free returns nil if a port of the loopback can be listened on: the server would
// only say so by not becoming ready.
func free(port int) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("port %d is not available: %w; choose another --port, or none", port, err)
	}
	return l.Close()
}

func stop(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

// connect returns a connection through memory.
func connect(s *server.Server, name string) (*nats.Conn, error) {
	return node.Link{InProcess: s, Name: "dgm-demo " + name}.Connect()
}
