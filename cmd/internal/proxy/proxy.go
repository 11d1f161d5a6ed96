// Package proxy stands between a client and a server of a study, and delays or cuts the line between them.
package proxy

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Proxy connects a client with the server and can delay or cut the line without
// notifying either side.
type Proxy struct {
	l  net.Listener
	to string

	delay atomic.Int64 // of everything, ns
	cut   atomic.Bool
	wg    sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

// New returns a proxy to an address, on a port of the loopback.
func New(to string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{l: l, to: to}
	p.wg.Go(p.accept)
	return p, nil
}

// Address returns the address of the proxy, HOST:PORT.
func (p *Proxy) Address() string { return p.l.Addr().String() }

func (p *Proxy) accept() {
	for {
		a, err := p.l.Accept()
		if err != nil {
			return
		}
		b, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = a.Close()
			continue
		}
		p.mu.Lock()
		p.conns = append(p.conns, a, b)
		p.mu.Unlock()
		p.wg.Go(func() { p.copy(a, b) })
		p.wg.Go(func() { p.copy(b, a) })
	}
}

// parcel is what was read at once, and when.
type parcel struct {
	b  []byte
	at time.Time
}

// copy carries bytes from one side to the other. While the line is cut it reads
// nothing more, so that the sender's buffers fill as they would.
func (p *Proxy) copy(from, to net.Conn) {
	queue := make(chan parcel, 1024)
	p.wg.Go(func() {
		for q := range queue {
			time.Sleep(time.Until(q.at.Add(time.Duration(p.delay.Load()))))
			p.awaitLine()
			if _, err := to.Write(q.b); err != nil {
				break
			}
		}
		_ = to.Close()
		for range queue { // so that the reader ends
		}
	})
	defer close(queue)
	defer func() { _ = from.Close() }()
	for {
		b := make([]byte, 16<<10)
		n, err := from.Read(b)
		if n > 0 {
			queue <- parcel{b[:n], time.Now()}
		}
		if err != nil {
			return
		}
		p.awaitLine()
	}
}

func (p *Proxy) awaitLine() {
	for p.cut.Load() {
		time.Sleep(5 * time.Millisecond)
	}
}

// Set delays everything from now on, and cuts the line or mends it.
func (p *Proxy) Set(delay time.Duration, cut bool) {
	p.delay.Store(int64(delay))
	p.cut.Store(cut)
}

// Drop closes the connections that there are.
func (p *Proxy) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

// Close ends the proxy.
func (p *Proxy) Close() error {
	p.Set(0, false)
	err := p.l.Close()
	p.Drop()
	p.wg.Wait()
	return err
}
