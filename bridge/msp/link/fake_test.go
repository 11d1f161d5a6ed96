package link_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dgm-robotics/dgm/bridge/msp"
)

// controller answers requests as Betaflight does.
type controller struct {
	variant string
	single  bool            // it does not know requests for several messages
	without map[uint16]bool // messages that its firmware was built without
	slow    time.Duration   // that it takes for a reply
	board   int             // bytes of the reply to what its board is

	// damage, if not nil, gets each reply to a poll, by its number, and returns what is sent in its place.
	damage func(n int, reply []byte) []byte

	jitter bool // replies take another time each, before and after what is measured

	armed    atomic.Bool
	ahead    atomic.Int64 // ns, of its clock; 0 = it was not set
	polls    atomic.Int64
	hasty    atomic.Int64 // requests that came before the one ahead was answered
	asked    atomic.Int64
	mu       sync.Mutex
	open     []net.Conn
	listener net.Listener
	times    []int64 // ns, of the polls: when the answers were measured
}

func newController() *controller {
	c := &controller{variant: "BTFL", board: 40}
	c.armed.Store(true)
	return c
}

// start listens until the end of the test, or until it is stopped.
func (c *controller) start(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("tcp4", address)
	if err != nil {
		t.Fatal(err)
	}
	c.listener = l
	t.Cleanup(c.stop)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.mu.Lock()
			c.open = append(c.open, conn)
			c.mu.Unlock()
			go c.serve(conn)
		}
	}()
}

func (c *controller) stop() {
	_ = c.listener.Close() // of a test that stopped it
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, conn := range c.open {
		_ = conn.Close()
	}
	c.open = nil
}

// serve answers what comes over a line.
func (c *controller) serve(line io.ReadWriter) {
	var r msp.Reader
	var waiting atomic.Int64
	requests := make(chan msp.Frame, 100)
	go func() {
		defer close(requests)
		b := make([]byte, 1000)
		for {
			n, err := line.Read(b)
			if err != nil {
				return
			}
			r.Add(b[:n])
			for f, ok := r.Next(); ok; f, ok = r.Next() {
				if waiting.Add(1) > 1 {
					c.hasty.Add(1)
				}
				f.Payload = bytes.Clone(f.Payload)
				requests <- f
			}
		}
	}()
	for f := range requests {
		c.asked.Add(1)
		time.Sleep(c.slow + c.delay())
		reply := c.reply(f).Append(nil)
		if f.Command == 230 || f.Command > 100 && f.Command < 111 {
			c.mu.Lock()
			c.times = append(c.times, time.Now().UnixNano())
			c.mu.Unlock()
			if n := c.polls.Add(1); c.damage != nil {
				reply = c.damage(int(n), reply)
			}
		}
		time.Sleep(c.delay())
		waiting.Add(-1)
		if _, err := line.Write(reply); err != nil {
			return
		}
	}
}

func shorts(all ...int) (b []byte) {
	for _, v := range all {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	return b
}

// delay is one that a reply may have.
func (c *controller) delay() time.Duration {
	if !c.jitter {
		return 0
	}
	return time.Duration(rand.Int64N(12e6))
}

// clock returns the time that a controller has, as the protocol writes it.
func (c *controller) clock() []byte {
	if c.ahead.Load() == 0 || c.variant != "BTFL" {
		return nil
	}
	t := time.Unix(0, time.Now().UnixNano()+c.ahead.Load()).UTC()
	b := binary.LittleEndian.AppendUint16(nil, uint16(t.Year()))
	b = append(b, byte(t.Month()), byte(t.Day()), byte(t.Hour()), byte(t.Minute()), byte(t.Second()))
	return binary.LittleEndian.AppendUint16(b, uint16(t.Nanosecond()/1e6))
}

func (c *controller) reply(f msp.Frame) *msp.Frame {
	p, ok := c.message(f.Command)
	if f.Command == 246 && c.variant == "BTFL" {
		given := int64(binary.LittleEndian.Uint32(f.Payload))*1e9 + int64(binary.LittleEndian.Uint16(f.Payload[4:]))*1e6
		c.ahead.Store(given - time.Now().UnixNano() - 3e9) // it is no good clock
		ok = true
	}
	if f.Command == 230 && !c.single {
		for ok = true; len(f.Payload) > 0; f.Payload = f.Payload[1:] {
			one, _ := c.message(uint16(f.Payload[0]))
			p = append(append(p, byte(len(one))), one...)
		}
	}
	if !ok {
		return &msp.Frame{Command: f.Command, Kind: msp.Unknown}
	}
	return &msp.Frame{Command: f.Command, Kind: msp.Reply, Payload: p}
}

// message returns the payload of a message.
func (c *controller) message(command uint16) (p []byte, ok bool) {
	if c.without[command] {
		return nil, false
	}
	flags := byte(0)
	if c.armed.Load() {
		flags = 1
	}
	n := int(c.polls.Load())
	p, ok = map[uint16][]byte{
		1: {0, 1, 47}, 2: []byte(c.variant), 3: {4, 6, 0}, 4: append([]byte("TEST"), make([]byte, c.board)...),
		90: {1, 1, 0, 1, 0, 0, 0, 0}, 131: shorts(0, 2000, 1000),
		114: shorts(1500, 0, 2000, 1000), 0x1003: {0, 0, 0, 0},
		101: {0, 0, 0, 0, 0, 0, flags, 0, 0, 0, 0},
		102: shorts(n, 0, 2048, n%2, 0, 0, 0, 0, 0),
		103: shorts(1500, 1500, 1500, 1500, 1500, 1500, 1500, 1500),
		104: shorts(1250, 1500, 1750, 2000, 0, 0, 0, 0),
		247: c.clock(), 108: shorts(100, 200, 300), 110: {123, 0, 0, 0, 0, 0, 0, 0xd2, 4},
	}[command]
	return p, ok
}
