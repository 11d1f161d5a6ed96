package link

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/bridge/msp"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Config describes which controller is joined to which vehicle.
type Config struct {
	Link     Endpoint
	Vehicle  string            // one token of the subjects
	Map      *importer.Map     // that the controller's blackbox is imported with
	Channels []channel.Channel // (optional) states and inputs; defaults to those of the map
	Rate     float64           // states a second that are asked for
	Step     float64           // of the rates, deg/s; 0 = the usual one
	Idle     float64           // of the motors, % of their range; negative = as the controller says
	All      bool              // states are sent while the controller is disarmed, too
	Log      func(text string) // (optional) for what an operator should read
}

// Counts counts what happened so far. It may be read while Run runs.
type Counts struct {
	Replies    atomic.Int64 // to requests for what is measured
	States     atomic.Int64 // published
	Unsent     atomic.Int64 // states that the link to NATS refused
	Held       atomic.Int64 // replies that repeat what was measured before
	Incomplete atomic.Int64 // states that lack something
	Disarmed   atomic.Int64 // states that are not sent, for the controller is disarmed
	Lost       atomic.Int64 // requests without a reply
	Damaged    atomic.Int64 // frames with a wrong checksum
	Restarts   atomic.Int64 // times that the line or the controller came back
}

const (
	againAfter  = time.Second            // from the end of a connection to the next
	goneAfter   = 3 * time.Second        // without a reply: the line is opened anew, and the controller asked what it is
	statusEvery = 200 * time.Millisecond // between questions whether the controller is armed
	checkEvery  = 5 * time.Second        // between checks that states are made
	greetings   = 3                      // requests without a reply, after which a line is given up
)

// notMSP reports what another program on the line sent.
type notMSP struct{ heard []byte }

func (e *notMSP) Error() string {
	return fmt.Sprintf("no MSP is spoken there: it sent %q; is this the port of the flight controller, at its rate, with MSP switched on, and not in its command line?", e.heard)
}

// Check returns what is wrong with a Config.
func (c *Config) Check() error {
	if err := wire.CheckVehicle(c.Vehicle); err != nil {
		return err
	}
	if !(c.Rate > 0) {
		return fmt.Errorf("a rate of %v is none", c.Rate)
	}
	_, _, err := msp.NewAssembler(c.Map, c.Channels)
	return err
}

// Run joins a controller to a vehicle until the context ends, which is no error. It fails where the other end speaks something else, or cannot
// give what is wanted.
func Run(ctx context.Context, nc *nats.Conn, c Config, n *Counts) error {
	if err := c.Check(); err != nil {
		return err
	}
	if c.Log == nil {
		c.Log = func(string) {}
	}
	a, channels, err := msp.NewAssembler(c.Map, c.Channels)
	if err != nil {
		return err
	}
	r := &runner{c: c, n: n, a: a, nc: nc, subject: wire.StateSubject(c.Vehicle)}
	r.state.Layout = wire.Layout(channels)
	if a.Partial() {
		r.state.Sensor = "msp"
	}
	said := ""
	for {
		began := n.Replies.Load()
		err := r.connection(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if wrong, ok := errors.AsType[*refused](err); ok {
			return wrong
		}
		if wrong, ok := errors.AsType[*notMSP](err); ok && r.sessions == 0 {
			return wrong
		}
		if n.Replies.Load() > began {
			said = ""
		}
		if text := fmt.Sprintf("%v: %v; it is tried again", &c.Link, err); text != said {
			said = text
			c.Log(text)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(againAfter):
		}
	}
}

// refused is what a controller cannot give, so that nothing is gained by asking again.
type refused struct{ error }

func (e *refused) Unwrap() error { return e.error }

// runner is one link at work.
type runner struct {
	c        Config
	n        *Counts
	a        *msp.Assembler
	nc       *nats.Conn
	subject  string
	sessions int
	single   bool // the controller does not answer several requests in one
	clock    clock
	state    wire.State
	buf      []byte

	checked time.Time // when it was last checked that states are made
	replies int64     // then
	made    int64     // states, then
	rate    float64   // that was last reported
	doubted bool      // the unit of the rates was
	still   bool      // it was reported that no states are made
}

// connection opens the line, asks the controller what it is, and polls it until something fails.
func (r *runner) connection(ctx context.Context) error {
	rw, err := r.c.Link.open(ctx)
	if err != nil {
		return err
	}
	defer rw.Close()
	defer context.AfterFunc(ctx, func() { rw.Close() })()
	l := newLine(rw, r.n)
	defer close(l.done)
	if err := r.identify(l); err != nil {
		return err
	}
	if r.sessions++; r.sessions > 1 {
		r.n.Restarts.Add(1)
	}
	r.checked = time.Now()
	return r.poll(ctx, l)
}

// identify asks the controller what it is.
func (r *runner) identify(l *line) error {
	c := msp.NewController(r.c.Step, r.c.Idle)
	for i := range msp.Identity {
		if err := r.question(l, c, &msp.Identity[i]); err != nil {
			return err
		}
	}
	r.a.Begin(c)
	if _, ranged := r.a.Commands(); ranged {
		for _, q := range c.Motors() {
			if err := r.question(l, c, &q); err != nil {
				if _, wrong := errors.AsType[*refused](err); wrong {
					return &refused{fmt.Errorf("the range of the motors: %w; give their idle (--idle)", err)}
				}
				return err
			}
		}
	}
	r.single, r.clock = false, clock{timed: c.Timed()}
	r.c.Log(fmt.Sprintf("%v: %v", &r.c.Link, c))
	return nil
}

// question asks one question, again where there is no reply.
func (r *runner) question(l *line, c *msp.Controller, q *msp.Question) (err error) {
	for range greetings {
		var reply msp.Frame
		if reply, _, err = l.ask(&q.Frame); err == nil {
			if wrong := q.Read(c, &reply); wrong != nil {
				return &refused{wrong}
			}
			return nil
		}
		if !errors.Is(err, errNoReply) {
			break
		}
	}
	if !l.framed && len(l.began) > 0 {
		return &notMSP{l.began}
	}
	return err
}

// poll asks for what states are made of, at the rate that is wanted or as fast as replies come, until there is none.
func (r *runner) poll(ctx context.Context, l *line) error {
	period := time.Duration(float64(time.Second) / r.c.Rate)
	due, asked := time.Now(), time.Time{}
	heard := due
	for {
		if wait := time.Until(due); wait > 0 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(wait):
			}
		}
		now := time.Now()
		if due = due.Add(period); due.Before(now) {
			due = now // what was missed is not made up for
		}
		withStatus := now.Sub(asked) >= statusEvery
		switch err := r.cycle(l, withStatus); {
		case err == nil:
			heard = now
			if withStatus {
				asked = now
			}
			r.publish()
		case !errors.Is(err, errNoReply) || now.Sub(heard) > goneAfter:
			return err
		}
		if now.Sub(r.checked) >= checkEvery {
			r.check(now)
		}
	}
}

// cycle asks for all messages once, in one request where the controller takes it.
func (r *runner) cycle(l *line, withStatus bool) error {
	commands, _ := r.a.Commands()
	if withStatus {
		commands = append([]uint16{msp.Status}, commands...)
	}
	if !r.single {
		done, err := r.together(l, commands)
		if done || err != nil {
			return err
		}
		r.single = true
	}
	for _, command := range commands {
		f := &msp.Frame{Command: command, Kind: msp.Request}
		reply, way, err := l.ask(f)
		if err != nil {
			return err
		}
		if reply.Kind == msp.Unknown {
			reply.Payload = nil
		}
		if err := r.take([]uint16{command}, [][]byte{reply.Payload}, l.measured(f, way)); err != nil {
			return err
		}
	}
	return nil
}

// together asks for messages in one request. It returns false where the controller does not know such requests.
func (r *runner) together(l *line, commands []uint16) (ok bool, err error) {
	if r.clock.timed {
		commands = append([]uint16{msp.Time}, commands...)
	}
	f := msp.Multiple(commands)
	reply, way, err := l.ask(f)
	if err != nil || reply.Kind != msp.Reply {
		return false, err
	}
	t, replies := l.measured(f, way), msp.Split(reply.Payload)
	known := true
	if r.clock.timed && len(replies) > 0 {
		own := int64(0)
		if own, known = msp.ReadTime(replies[0]); known {
			t = r.clock.ours(own, way)
		}
		commands, replies = commands[1:], replies[1:]
	}
	if err = r.take(commands, replies, t); err == nil && !known {
		err = r.clock.set(l, way) // behind take: the replies are in the memory of the line
	}
	return true, err
}

// take hands on the replies to commands.
func (r *runner) take(commands []uint16, replies [][]byte, t int64) error {
	for i, command := range commands {
		if i >= len(replies) || len(replies[i]) == 0 {
			return &refused{fmt.Errorf("the controller does not give %s: its firmware was built without it, or is too old", msp.Name(command))}
		}
		if err := r.a.Add(command, replies[i], t); err != nil {
			return &refused{err}
		}
	}
	r.n.Replies.Add(1)
	return nil
}

// publish sends the state that the last replies make.
func (r *runner) publish() {
	x, u, t, ok := r.a.State()
	partial := r.a.Partial()
	switch {
	case !ok || t <= r.state.T:
		r.n.Held.Add(1)
		return
	case !r.a.Armed && !r.c.All:
		r.n.Disarmed.Add(1)
		return
	case !number.Finite(u), !partial && !number.Finite(x), partial && !slices.ContainsFunc(x, func(v float64) bool { return !math.IsNaN(v) }):
		r.n.Incomplete.Add(1)
		return
	}
	r.state.T, r.state.X, r.state.U = t, x, u
	r.buf = r.state.Append(r.buf[:0])
	r.state.Seq++
	if !r.nc.IsConnected() || r.nc.Publish(r.subject, r.buf) != nil {
		r.n.Unsent.Add(1)
		return
	}
	r.n.States.Add(1)
}

// check reports the rate that is reached where it has changed, and why no states are made, once for each time that they stop.
func (r *runner) check(now time.Time) {
	made := r.n.States.Load() + r.n.Unsent.Load()
	took := now.Sub(r.checked).Seconds()
	rate := float64(made-r.made) / took
	polled := float64(r.n.Replies.Load()-r.replies) / took
	r.checked, r.replies, r.made = now, r.n.Replies.Load(), made
	if rate == 0 {
		if !r.still {
			r.c.Log("no state was made for a while: " + r.why(now, polled))
		}
		r.still = true
		return
	}
	r.still = false
	if doubt := r.a.Doubt(); doubt != "" && !r.doubted {
		r.doubted = true
		r.c.Log(doubt)
	}
	if math.Abs(rate-r.rate) > 0.2*r.rate {
		r.rate = rate
		r.c.Log(fmt.Sprintf("%.0f states a second, of %.0f that are asked for", rate, r.c.Rate))
	}
}

// why returns why no states are made.
func (r *runner) why(now time.Time, polled float64) string {
	switch missing := r.a.Missing(now.UnixNano()); {
	case polled == 0:
		return "the controller does not answer"
	case !r.a.Armed && !r.c.All:
		return "the controller is disarmed (--all sends them nevertheless)"
	case len(missing) > 0:
		return "no new " + strings.Join(missing, ", ")
	}
	return "what is measured repeats itself"
}
