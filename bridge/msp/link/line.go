package link

import (
	"errors"
	"io"
	"time"

	"github.com/dgm-robotics/dgm/bridge/msp"
)

// line asks a controller, one request at a time: a slow line is never sent more than it takes.
type line struct {
	rw     io.ReadWriter
	n      *Counts
	in     chan chunk
	done   chan struct{} // closed when nobody asks any more
	reader msp.Reader
	began  []byte // the first bytes that were received, until a frame is
	framed bool   // a frame was received
	behind bool   // the reply to a request may still come
	buf    []byte

	usual    time.Duration          // that a reply takes; 0 = not known
	shortest map[kind]time.Duration // of all replies
}

// kind distinguishes requests whose replies take different times.
type kind struct {
	command uint16
	length  int
}

// chunk is bytes and when they were received.
type chunk struct {
	b  []byte
	at time.Time
}

var (
	errNoReply = errors.New("it does not answer")
	errClosed  = errors.New("the line was closed")
)

// mostBegan is how many bytes are shown of what is no MSP.
const mostBegan = 64

// Bounds of the time that is waited for a reply: four times the usual and then some.
const (
	firstWait = time.Second
	leastWait = 100 * time.Millisecond
)

func newLine(rw io.ReadWriter, n *Counts) *line {
	l := &line{rw: rw, n: n, in: make(chan chunk, 64), done: make(chan struct{}), shortest: map[kind]time.Duration{}}
	go l.receive()
	return l
}

// receive passes on what is received until the line ends.
func (l *line) receive() {
	defer close(l.in)
	for {
		b := make([]byte, 1024)
		n, err := l.rw.Read(b)
		if n > 0 {
			select {
			case l.in <- chunk{b[:n], time.Now()}:
			case <-l.done:
				return
			}
		}
		if err != nil || n == 0 {
			return
		}
	}
}

// wait returns how long a reply is waited for.
func (l *line) wait() time.Duration {
	if l.usual == 0 {
		return firstWait
	}
	return leastWait + 4*l.usual
}

// trip is when a request was sent and its reply was received.
type trip struct{ sent, at time.Time }

// ask sends a request and returns the reply. After one without a reply it first asks what every controller answers: replies come in the
// order of requests, so that what is late has come when that is answered.
func (l *line) ask(f *msp.Frame) (reply msp.Frame, way trip, err error) {
	if l.behind {
		if _, _, err := l.exchange(&msp.Identity[0].Frame); err != nil {
			return reply, way, err
		}
		l.behind = false
	}
	if reply, way, err = l.exchange(f); err == nil {
		l.took(f, way.at.Sub(way.sent))
	}
	return reply, way, err
}

// exchange sends a request and waits for the reply.
func (l *line) exchange(f *msp.Frame) (reply msp.Frame, way trip, err error) {
	if err := l.drain(); err != nil {
		return reply, way, err
	}
	l.buf = f.Append(l.buf[:0])
	way.sent = time.Now()
	if _, err := l.rw.Write(l.buf); err != nil {
		return reply, way, err
	}
	deadline := time.NewTimer(l.wait())
	defer deadline.Stop()
	for {
		select {
		case c, ok := <-l.in:
			if !ok {
				return reply, way, errClosed
			}
			if reply, ok = l.find(c, f.Command); ok {
				way.at = c.at
				return reply, way, nil
			}
		case <-deadline.C:
			l.n.Lost.Add(1)
			l.behind = true
			l.reader.Resync()
			return reply, way, errNoReply
		}
	}
}

// drain takes what was received unasked.
func (l *line) drain() error {
	for {
		select {
		case c, ok := <-l.in:
			if !ok {
				return errClosed
			}
			l.find(c, 0)
		default:
			return nil
		}
	}
}

// find returns the last reply to a command among what was received.
func (l *line) find(c chunk, command uint16) (reply msp.Frame, ok bool) {
	if !l.framed {
		l.began = append(l.began, c.b[:min(len(c.b), mostBegan-len(l.began))]...)
	}
	l.reader.Add(c.b)
	damaged := l.reader.Damaged
	for {
		f, more := l.reader.Next()
		if !more {
			l.n.Damaged.Add(int64(l.reader.Damaged - damaged))
			return reply, ok
		}
		l.framed = true
		if f.Kind != msp.Request && f.Command == command {
			reply, ok = f, true
		}
	}
}

// took notes how long a reply took.
func (l *line) took(f *msp.Frame, d time.Duration) {
	k := kind{f.Command, len(f.Payload)}
	if s, ok := l.shortest[k]; !ok || d < s {
		l.shortest[k] = d
	}
	if l.usual == 0 {
		l.usual = d
	}
	l.usual += (d - l.usual) / 16
}

// measured returns when the values of a reply were: half of the shortest way there and back before it was received. What a reply takes longer
// is ahead of that: a request waits until the controller's serial task looks for it, and is answered at once.
func (l *line) measured(f *msp.Frame, way trip) int64 {
	return way.at.Add(-l.shortest[kind{f.Command, len(f.Payload)}] / 2).UnixNano()
}
