package foxglove

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/net/netutil"
)

// Channel is one topic.
type Channel struct {
	Topic          string
	Encoding       string // of the messages: "json" or "cdr"
	SchemaName     string
	SchemaEncoding string // "jsonschema" or "ros2msg"
	Schema         string
}

// Server serves channels to some clients.
type Server struct {
	name     string
	origins  []string
	patience time.Duration // after which a client without subscriptions makes room for another
	listener net.Listener
	http     http.Server

	mu       sync.Mutex
	channels []Channel // by number
	clients  map[*client]struct{}
	closed   bool
	handlers sync.WaitGroup
}

// Limits of a client.
const (
	queue        = 256 // messages that wait for a client
	maxClients   = 32
	maxOpen      = 128     // connections, of which not all have asked yet
	maxMessage   = 1 << 20 // bytes of a request: a list of subscriptions
	writeTimeout = 5 * time.Second
	pingEvery    = 10 * time.Second
	silence      = 30 * time.Second // after which a client that answers no ping is gone
)

// Origins are those of Foxglove's own pages. Its desktop program has the origin of a file.
var Origins = []string{"https://app.foxglove.dev", "https://studio.foxglove.dev", "file://"}

// Listen listens at an address such as 127.0.0.1:8765. Serve serves the
// clients: programs, which send no origin, and pages of this computer and of the given origins,
// scheme://host:port. A browser takes any page that it shows to any address: what
// another page may see is not to be had.
func Listen(address, name string, origins []string) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen at %s: %w", address, err)
	}
	s := &Server{name: name, origins: origins, patience: 10 * time.Second, listener: netutil.LimitListener(l, maxOpen), clients: map[*client]struct{}{}}
	s.http = http.Server{Handler: http.HandlerFunc(s.handle), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 1 << 16}
	s.http.SetKeepAlivesEnabled(false) // one request a connection
	return s, nil
}

// Address returns the address at which it listens.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Serve serves until the context ends, which is no error.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, s.close)
	defer stop()
	err := s.http.Serve(s.listener)
	s.close()
	s.handlers.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (s *Server) close() {
	// The error of a listener that is closed is of no use.
	_ = s.http.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.clients {
		c.end()
	}
}

// Add adds a channel, advertises it to all clients, and returns its number.
func (s *Server) Add(c Channel) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels = append(s.channels, c)
	n := len(s.channels) - 1
	for cl := range s.clients {
		cl.put(websocket.MessageText, s.advertise(n, n+1))
	}
	return n
}

// Clients returns how many are connected.
func (s *Server) Clients() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.clients)
}

// Send sends a message of a channel, about time t (ns), to all who subscribed.
func (s *Server) Send(channel int, t int64, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		for id, ch := range c.subscribed {
			if ch != channel {
				continue
			}
			b := append(make([]byte, 0, 13+len(data)), 1) // message data
			b = binary.LittleEndian.AppendUint32(b, id)
			b = binary.LittleEndian.AppendUint64(b, uint64(t))
			c.put(websocket.MessageBinary, append(b, data...))
		}
	}
}

// advertise describes channels from one number to another.
func (s *Server) advertise(from, to int) []byte {
	type described struct {
		ID             int    `json:"id"`
		Topic          string `json:"topic"`
		Encoding       string `json:"encoding"`
		SchemaName     string `json:"schemaName"`
		Schema         string `json:"schema"`
		SchemaEncoding string `json:"schemaEncoding"`
	}
	list := []described{}
	for i := from; i < to; i++ {
		c := s.channels[i]
		list = append(list, described{i, c.Topic, c.Encoding, c.SchemaName, c.Schema, c.SchemaEncoding})
	}
	return document(map[string]any{"op": "advertise", "channels": list})
}

func document(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("foxglove: a document that is no JSON")
	}
	return b
}

// protocols are those of Foxglove that are served, by their names in the handshake.
var protocols = []string{"foxglove.websocket.v1", "foxglove.sdk.v1"}

// has reports whether a header of a request holds a token.
func has(r *http.Request, name, token string) bool {
	for _, v := range r.Header.Values(name) {
		for part := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}

// refuse answers requests that are not served, and reports whether it did.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request) bool {
	switch {
	case !has(r, "Upgrade", "websocket"):
		http.Error(w, "this is a WebSocket for Foxglove: open a connection to it there", http.StatusBadRequest)
	case !slices.ContainsFunc(protocols, func(p string) bool { return has(r, "Sec-WebSocket-Protocol", p) }):
		http.Error(w, fmt.Sprintf("only %s is served", strings.Join(protocols, ", ")), http.StatusBadRequest)
	case !s.trusts(r.Header.Get("Origin")):
		http.Error(w, "pages of "+r.Header.Get("Origin")+" are not served: name that origin when starting the server", http.StatusForbidden)
	case s.Clients() >= maxClients && !s.makeRoom():
		http.Error(w, fmt.Sprintf("%d clients are connected, and no more are served; close one", maxClients), http.StatusServiceUnavailable)
	default:
		return false
	}
	return true
}

// trusts reports whether a page of an origin may read what is served. The request's own
// host is no reason to: a page that is not from here may have given this computer its name.
func (s *Server) trusts(origin string) bool {
	if origin == "" || slices.Contains(s.origins, origin) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
}

// makeRoom ends the client that has been there longest without a subscription, and reports
// whether there was one.
func (s *Server) makeRoom() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var idle *client
	for c := range s.clients {
		if len(c.subscribed) == 0 && time.Since(c.since) > s.patience && (idle == nil || c.since.Before(idle.since)) {
			idle = c
		}
	}
	if idle == nil {
		return false
	}
	delete(s.clients, idle)
	idle.end()
	return true
}

// handle serves one connection.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	if s.refuse(w, r) {
		return
	}
	// The origin has been checked above.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: protocols, InsecureSkipVerify: true})
	if err != nil {
		return // the answer has been sent
	}
	conn.SetReadLimit(maxMessage)
	ctx, cancel := context.WithCancel(context.Background())
	c := &client{conn: conn, since: time.Now(), cancel: cancel, out: make(chan frame, queue), subscribed: map[uint32]int{}}
	defer c.end()
	c.put(websocket.MessageText, document(map[string]any{"op": "serverInfo", "name": s.name, "capabilities": []string{}, "metadata": map[string]string{}, "sessionId": ""}))
	s.mu.Lock()
	if s.closed || len(s.clients) >= maxClients {
		s.mu.Unlock()
		return // others were faster, or the server ends
	}
	c.put(websocket.MessageText, s.advertise(0, len(s.channels)))
	s.clients[c] = struct{}{}
	s.handlers.Add(1)
	s.mu.Unlock()
	defer s.handlers.Done()
	var others sync.WaitGroup
	others.Go(func() { c.write(ctx) })
	others.Go(func() { c.ping(ctx) })
	c.read(ctx, s)
	s.mu.Lock()
	delete(s.clients, c)
	s.mu.Unlock()
	c.end()
	others.Wait()
}

// client is one connection.
type client struct {
	conn   *websocket.Conn
	cancel context.CancelFunc
	out    chan frame
	since  time.Time // of the connection

	subscribed map[uint32]int // channels by subscription; guarded by the server's mutex
}

// frame is a message that waits to be written.
type frame struct {
	kind websocket.MessageType
	data []byte
}

func (c *client) end() {
	c.cancel()
	// The other end may be gone already.
	_ = c.conn.CloseNow()
}

// put queues a message; where too many wait, the oldest is dropped.
func (c *client) put(kind websocket.MessageType, data []byte) {
	for {
		select {
		case c.out <- frame{kind, data}:
			return
		default:
		}
		select {
		case <-c.out:
		default:
		}
	}
}

func (c *client) write(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case f := <-c.out:
			limited, cancel := context.WithTimeout(ctx, writeTimeout)
			err := c.conn.Write(limited, f.kind, f.data)
			cancel()
			if err != nil {
				c.end()
				return
			}
		}
	}
}

// ping ends the connection of a client that answers no ping.
func (c *client) ping(ctx context.Context) {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			limited, cancel := context.WithTimeout(ctx, silence)
			err := c.conn.Ping(limited)
			cancel()
			if err != nil {
				c.end()
				return
			}
		}
	}
}

// read reads the requests of a client, until it is gone.
func (c *client) read(ctx context.Context, s *Server) {
	for {
		_, data, err := c.conn.Read(ctx)
		if err != nil {
			return
		}
		s.request(c, data)
	}
}

// request handles a request of a client.
func (s *Server) request(c *client, message []byte) {
	var m struct {
		Op            string
		Subscriptions []struct {
			ID        uint32
			ChannelID int
		}
		SubscriptionIDs []uint32
	}
	if json.Unmarshal(message, &m) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m.Op {
	case "subscribe":
		for _, sub := range m.Subscriptions {
			if sub.ChannelID >= 0 && sub.ChannelID < len(s.channels) {
				// A channel is sent to a client once, under the number that it gave last.
				maps.DeleteFunc(c.subscribed, func(_ uint32, channel int) bool { return channel == sub.ChannelID })
				c.subscribed[sub.ID] = sub.ChannelID
			}
		}
	case "unsubscribe":
		for _, id := range m.SubscriptionIDs {
			delete(c.subscribed, id)
		}
	}
}
