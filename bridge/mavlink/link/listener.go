package link

import (
	"net"
	"slices"
	"sync"

	"github.com/bluenviron/gomavlib/v3"
	"github.com/pion/transport/v2/udp"
)

// mostSenders is how many senders a port is listened to at a time. Each costs memory and two
// goroutines, and whoever reaches the port can pretend to be any number of them.
const mostSenders = 16

// senders are those of a port. Where there are too many the one that came first is closed, but not the
// autopilot that is listened to.
type senders struct {
	label string // before the address, in the name of a channel

	mu   sync.Mutex
	open []*sender
	peer string // name of the channel that is listened to
}

// sender is a connection of a port.
type sender struct {
	net.Conn
	of *senders
}

func (s *sender) Close() error {
	s.of.mu.Lock()
	s.of.open = slices.DeleteFunc(s.of.open, func(o *sender) bool { return o == s })
	s.of.mu.Unlock()
	return s.Conn.Close()
}

// listen returns an endpoint that listens at an address with a bound on its senders.
func (s *senders) listen(listen func() (net.Listener, error), datagrams bool) gomavlib.EndpointConf {
	return gomavlib.EndpointCustomServer{Label: s.label, IsDatagram: datagrams, Listen: func() (net.Listener, error) {
		l, err := listen()
		return &listener{l, s}, err
	}}
}

// bounded returns an endpoint like end, with a bound on its senders where it listens.
func bounded(end gomavlib.EndpointConf) (gomavlib.EndpointConf, *senders) {
	switch e := end.(type) {
	case gomavlib.EndpointUDPServer:
		s := &senders{label: "udp"}
		return s.listen(func() (net.Listener, error) {
			address, err := net.ResolveUDPAddr("udp4", e.Address)
			if err != nil {
				return nil, err
			}
			return udp.Listen("udp4", address)
		}, true), s
	case gomavlib.EndpointTCPServer:
		s := &senders{label: "tcp"}
		return s.listen(func() (net.Listener, error) { return net.Listen("tcp4", e.Address) }, false), s
	}
	return end, &senders{}
}

// keep notes the name of the channel that is listened to, which is not closed for others.
func (s *senders) keep(channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peer = channel
}

// add adds a connection, and returns another one that must be closed for it, or nil.
func (s *senders) add(c net.Conn) (added, tooMany *sender) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= mostSenders {
		i := slices.IndexFunc(s.open, func(o *sender) bool { return s.label+":"+o.RemoteAddr().String() != s.peer })
		tooMany = s.open[i]
	}
	added = &sender{c, s}
	s.open = append(s.open, added)
	return added, tooMany
}

// listener accepts connections with a bound on them.
type listener struct {
	net.Listener
	senders *senders
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	added, tooMany := l.senders.add(c)
	if tooMany != nil {
		_ = tooMany.Close() // its reader ends with an error of its own
	}
	return added, nil
}
