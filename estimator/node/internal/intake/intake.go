// Package intake decides which states are predicted from: it decodes a message,
// checks that its state is plausible and in time and order, measures its delay, and
// puts it into a mailbox. It runs on the goroutine of the NATS subscription and takes
// microseconds, so that a bad message cannot displace a good one that waits, and a
// flood costs decoding but no predictions.
package intake

import (
	"hash/maphash"
	"time"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/node/internal/reporting"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Config are the limits of what is accepted. All times are in ns.
type Config struct {
	RobotClock bool  // the robot's clock is another than this computer's
	MaxFuture  int64 // how far ahead of this computer's clock a state may be
	MaxAge     int64 // how long ago
	Oldest     int64 // age beyond which no prediction is made
	Resync     int64 // after so long without a good state any order is accepted
	Hold       int   // states that may wait in the mailbox

	Clock func() (unix, steady int64)
}

// Intake receives the states of one vehicle. Receive is for one goroutine.
type Intake struct {
	Mailbox *Mailbox

	cfg      Config
	counters *reporting.Counters
	k, p     int   // states and inputs
	places   []int // of the states that are measured among all; nil = all are
	measured []float64
	limits   wire.PlausibilityLimits
	order    order
	offset   offset
	seed     maphash.Seed
}

// absurdStd is the standard deviation of a state, in its scales in the model, beyond
// which P0 means that a filter has diverged.
const absurdStd = 1000

// New returns an intake for the states of a model.
func New(cfg Config, m *model.Model, c *reporting.Counters) *Intake {
	in := &Intake{
		Mailbox: NewMailbox(cfg.Hold), cfg: cfg, counters: c, k: m.K, p: m.P,
		limits: Limits(m),
		order:  order{shared: !cfg.RobotClock, future: cfg.MaxFuture, age: cfg.MaxAge, pace: pace{resync: cfg.Resync}},
		offset: offset{window: offsetWindow, resync: cfg.Resync},
		seed:   maphash.MakeSeed(),
	}
	in.filtered(m)
	return in
}

// Limits returns what the states of a model are checked against.
func Limits(m *model.Model) wire.PlausibilityLimits {
	l := wire.PlausibilityLimits{
		Layout: wire.Layout(m.Channels), Spelt: wire.LayoutAsSpelt(m.Channels), Scale: m.Scale, InputMean: m.Inputs.InputMean, InputStd: m.Inputs.InputStd,
	}
	for _, s := range m.Scale {
		l.MaxStd = append(l.MaxStd, absurdStd*s)
	}
	return l
}

// Receive puts a state into the mailbox, or counts why it is refused. epoch is that
// of the link.
func (in *Intake) Receive(data []byte, epoch uint64) {
	unix, steady := in.cfg.Clock()
	in.counters.Receive()
	a := in.Mailbox.Blank()
	s := &a.State
	var came moment
	err := in.decode(s, data)
	if err == nil {
		if s.Unknown > 0 {
			in.counters.Unknown(s.Unknown, s.FirstUnknown)
		}
		err = in.limits.Check(s)
	}
	if err == nil {
		came = moment{seq: s.Seq, t: s.T, at: steady, sum: maphash.Bytes(in.seed, data)}
		err = in.order.check(came, unix)
	}
	if err != nil {
		if s.Seq > 0 {
			in.order.noteRefused(moment{seq: s.Seq, t: s.T, at: steady})
		}
		in.counters.RefuseFor(err)
		return
	}
	in.order.accept(came, unix)
	if in.order.restart {
		in.offset.known = false // with another clock, perhaps
	}
	a.Age = in.offset.update(s.T, unix, steady)
	if in.order.shared {
		a.Age = max(unix-s.T, 0)
	}
	if a.Age > in.cfg.Oldest {
		in.counters.RefuseFor(refuse(wire.TooOld, "%v old on arrival, at most %v", time.Duration(a.Age), time.Duration(in.cfg.Oldest)))
		return
	}
	a.At, a.Epoch, a.Period = steady, epoch, int64(in.order.period)
	_, now := in.cfg.Clock()
	in.counters.Accept(reporting.Accepted{At: steady, Missed: in.order.missed, Delay: a.Age, Offset: in.offset.seconds()}, now-steady)
	for range in.Mailbox.Put() {
		in.counters.Refuse(wire.Replaced, nil)
	}
}
