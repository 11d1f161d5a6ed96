package main

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// proxy connects a client with the server and can delay or cut the line without
// notifying either side.
type proxy struct {
	l  net.Listener
	to string

	delay atomic.Int64 // of everything, ns
	cut   atomic.Bool
	wg    sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
}

func newProxy(to string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{l: l, to: to}
	p.wg.Go(p.accept)
	return p, nil
}

func (p *proxy) url() string { return fmt.Sprintf("nats://%s", p.l.Addr()) }

func (p *proxy) accept() {
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
func (p *proxy) copy(from, to net.Conn) {
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

func (p *proxy) awaitLine() {
	for p.cut.Load() {
		time.Sleep(5 * time.Millisecond)
	}
}

func (p *proxy) set(delay time.Duration, cut bool) {
	p.delay.Store(int64(delay))
	p.cut.Store(cut)
}

func (p *proxy) close() error {
	p.set(0, false)
	err := p.l.Close()
	p.mu.Lock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.wg.Wait()
	return err
}
