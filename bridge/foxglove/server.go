package foxglove

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Channel is one topic.
type Channel struct {
	Topic          string
	Encoding       string // of the messages: "json" or "cdr"
	SchemaName     string
	SchemaEncoding string // "jsonschema" or "ros2msg"
	Schema         string
}

// Server serves channels to any number of clients.
type Server struct {
	name     string
	listener net.Listener
	http     http.Server

	mu       sync.Mutex
	channels []Channel // their number is their place
	clients  map[*client]struct{}
	closed   bool
	handlers sync.WaitGroup
}

// What a client may take.
const (
	queue        = 256 // frames that wait for a client
	maxClients   = 32
	maxSubscribe = 4096 // subscriptions of a client
	writeTimeout = 5 * time.Second
	pingEvery    = 10 * time.Second
	silence      = 30 * time.Second // after which a client that answers no ping is gone
)

// Listen begins to listen, at an address such as 127.0.0.1:8765. Serve does the
// rest.
func Listen(address, name string) (*Server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen at %s: %w", address, err)
	}
	s := &Server{name: name, listener: l, clients: map[*client]struct{}{}}
	s.http = http.Server{Handler: http.HandlerFunc(s.handle), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 1 << 16}
	return s, nil
}

// Address returns where it listens.
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

// close ends all connections.
func (s *Server) close() {
	// What a listener says when it is closed helps nobody.
	_ = s.http.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.clients {
		c.hangUp()
	}
}

// Add adds a channel, tells it to all clients, and returns its number.
func (s *Server) Add(c Channel) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels = append(s.channels, c)
	n := len(s.channels) - 1
	for cl := range s.clients {
		cl.put(appendFrame(nil, opText, s.advertise(n, n+1)))
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
			var head [13]byte
			head[0] = 1 // message data
			binary.LittleEndian.PutUint32(head[1:], id)
			binary.LittleEndian.PutUint64(head[5:], uint64(t))
			c.put(appendFrame(nil, opBinary, head[:], data))
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

// handle takes one connection.
func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	key, protocol, err := handshake(r)
	if err != nil {
		w.Header().Set("Sec-WebSocket-Version", "13")
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if s.Clients() >= maxClients {
		http.Error(w, fmt.Sprintf("%d clients are connected, and no more are served; close one", maxClients), http.StatusServiceUnavailable)
		return
	}
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		http.Error(w, "the connection cannot be taken over", http.StatusInternalServerError)
		return
	}
	conn, rw, err := hijacker.Hijack()
	if err != nil {
		return
	}
	c := &client{conn: conn, r: rw.Reader, out: make(chan []byte, queue), gone: make(chan struct{}), subscribed: map[uint32]int{}}
	c.put([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + accept(key) + "\r\nSec-WebSocket-Protocol: " + protocol + "\r\n\r\n"))
	c.put(appendFrame(nil, opText, document(map[string]any{"op": "serverInfo", "name": s.name, "capabilities": []string{}, "metadata": map[string]string{}, "sessionId": ""})))
	s.mu.Lock()
	if s.closed || len(s.clients) >= maxClients {
		s.mu.Unlock()
		// Others were faster, or it ends: too late to say why.
		_ = conn.Close()
		return
	}
	c.put(appendFrame(nil, opText, s.advertise(0, len(s.channels))))
	s.clients[c] = struct{}{}
	s.handlers.Add(1)
	s.mu.Unlock()
	defer s.handlers.Done()
	var writer sync.WaitGroup
	writer.Go(c.write)
	c.read(s)
	s.mu.Lock()
	delete(s.clients, c)
	s.mu.Unlock()
	c.hangUp()
	writer.Wait()
}

// client is one connection.
type client struct {
	conn net.Conn
	r    *bufio.Reader
	out  chan []byte
	gone chan struct{}
	once sync.Once

	subscribed map[uint32]int // channels by subscription; guarded by the server's mutex
}

// hangUp ends the connection.
func (c *client) hangUp() {
	c.once.Do(func() {
		close(c.gone)
		// The other end may be gone already.
		_ = c.conn.Close()
	})
}

// put lets a frame wait to be written; where too many wait, the oldest goes.
func (c *client) put(frame []byte) {
	for {
		select {
		case c.out <- frame:
			return
		default:
		}
		select {
		case <-c.out:
		default:
		}
	}
}

// write writes what waits, and a ping where nothing does.
func (c *client) write() {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		var frame []byte
		select {
		case <-c.gone:
			return
		case frame = <-c.out:
		case <-ping.C:
			frame = appendFrame(nil, opPing)
		}
		if c.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) != nil {
			c.hangUp()
			return
		}
		if _, err := c.conn.Write(frame); err != nil {
			c.hangUp()
			return
		}
	}
}

// read reads what the client wants, until it is gone.
func (c *client) read(s *Server) {
	var buf, whole []byte
	for {
		if c.conn.SetReadDeadline(time.Now().Add(silence)) != nil {
			return
		}
		op, last, payload, err := readFrame(c.r, buf)
		if err != nil {
			return
		}
		buf = payload
		switch op {
		case opPing:
			c.put(appendFrame(nil, opPong, payload))
		case opPong:
		case opClose:
			c.put(appendFrame(nil, opClose, payload[:min(2, len(payload))]))
			time.Sleep(10 * time.Millisecond) // for the answer to leave
			return
		case opText, opBinary, opContinue:
			if len(whole)+len(payload) > maxMessage {
				return
			}
			whole = append(whole, payload...)
			if last {
				s.asked(c, whole)
				whole = whole[:0]
			}
		default:
			return
		}
	}
}

// asked takes a message of a client.
func (s *Server) asked(c *client, message []byte) {
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
			if sub.ChannelID >= 0 && sub.ChannelID < len(s.channels) && len(c.subscribed) < maxSubscribe {
				c.subscribed[sub.ID] = sub.ChannelID
			}
		}
	case "unsubscribe":
		for _, id := range m.SubscriptionIDs {
			delete(c.subscribed, id)
		}
	}
}
