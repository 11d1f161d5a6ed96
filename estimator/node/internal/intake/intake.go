// Package intake decides which states are predicted from: it decodes a message,
// checks that its state is plausible and in time and order, measures its delay, and
// puts it into a mailbox. It runs on the goroutine of the NATS subscription and takes
// microseconds, so that a bad message cannot displace a good one that waits, and a
// flood costs decoding but no predictions.
package intake

import (
	"fmt"
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
	k, p     int       // states and inputs
	places   []int     // of the states that are measured among all; nil = all are
	measured []float64 // memory of spread
	limits   wire.PlausibilityLimits
	begin    sender // what all begin as
	sender          // the one without a name
	sensors  map[string]*sender
	first    *sender // that was heard first
	seed     maphash.Seed
}

// sender is what is known of one sender of the vehicle: its sequence and its clock.
type sender struct {
	order  order
	offset offset
}

// mostSensors is how many sensors with a name one vehicle may have.
const mostSensors = 8

// from returns the sender of a state: a new one is known once a state of it is accepted.
func (in *Intake) from(s *wire.State) (*sender, error) {
	if s.Sensor == "" {
		return &in.sender, nil
	}
	if known := in.sensors[s.Sensor]; known != nil {
		return known, nil
	}
	switch {
	case in.places == nil:
		return nil, &wire.Error{Reason: wire.Malformed, Field: "sensor", Text: fmt.Sprintf("%q: the model has no filter that puts sensors together: send whole states, without it", s.Sensor)}
	case wire.CheckSensor(s.Sensor) != nil:
		return nil, &wire.Error{Reason: wire.Malformed, Field: "sensor", Text: wire.CheckSensor(s.Sensor).Error()}
	case len(in.sensors) == mostSensors:
		return nil, &wire.Error{Reason: wire.Malformed, Field: "sensor", Text: fmt.Sprintf("%q is one more than the %d sensors that a vehicle may have", s.Sensor, mostSensors)}
	}
	out := in.begin
	return &out, nil
}

// know keeps the sender of a state that is accepted.
func (in *Intake) know(s *wire.State, of *sender) {
	if s.Sensor == "" || in.sensors[s.Sensor] != nil {
		return
	}
	if in.sensors == nil {
		in.sensors = map[string]*sender{}
	}
	in.sensors[s.Sensor] = of
}

// otherClock is how far the clocks of two senders are apart, ns, beyond which they are two.
const otherClock = int64(500e6)

// align moves the time of a state of a sensor whose clock is another one to that of the sender that was heard first, by the
// least delays of both.
func (in *Intake) align(s *wire.State, of *sender) {
	if in.first == nil {
		in.first = of
	}
	if apart := of.offset.least() - in.first.offset.least(); !of.order.shared && of != in.first && (apart > otherClock || apart < -otherClock) {
		s.T += apart
	}
}

// absurdStd is the standard deviation of a state, in its scales in the model, beyond
// which P0 means that a filter has diverged.
const absurdStd = 1000

// New returns an intake for the states of a model.
func New(cfg Config, m *model.Model, c *reporting.Counters) *Intake {
	in := &Intake{
		Mailbox: NewMailbox(cfg.Hold), cfg: cfg, counters: c, k: m.K, p: m.P,
		limits: Limits(m),
		begin: sender{
			order:  order{shared: !cfg.RobotClock, future: cfg.MaxFuture, age: cfg.MaxAge, pace: pace{resync: cfg.Resync}},
			offset: offset{window: offsetWindow, resync: cfg.Resync},
		},
		seed: maphash.MakeSeed(),
	}
	in.sender = in.begin
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
	of := &in.sender
	err := in.decode(s, data)
	if err == nil {
		of, err = in.from(s)
	}
	if of == nil {
		in.counters.RefuseFor(err)
		return
	}
	if err == nil {
		if s.Unknown > 0 {
			in.counters.Unknown(s.Unknown, s.FirstUnknown)
		}
		err = in.limits.Check(s)
	}
	if err == nil {
		came = moment{seq: s.Seq, t: s.T, at: steady, sum: maphash.Bytes(in.seed, data)}
		err = of.order.check(came, unix)
	}
	if err != nil {
		if s.Seq > 0 {
			of.order.noteRefused(moment{seq: s.Seq, t: s.T, at: steady})
		}
		in.counters.RefuseFor(err)
		return
	}
	if in.places != nil {
		s.P0 = s.P0[:0] // the filter has a covariance of its own
	}
	in.know(s, of)
	of.order.accept(came, unix)
	if of.order.restart {
		of.offset.known = false // with another clock, perhaps
	}
	a.Age = of.offset.update(s.T, unix, steady)
	if of.order.shared {
		a.Age = max(unix-s.T, 0)
	}
	if a.Age > in.cfg.Oldest {
		in.counters.RefuseFor(refuse(wire.TooOld, "%v old on arrival, at most %v", time.Duration(a.Age), time.Duration(in.cfg.Oldest)))
		return
	}
	in.align(s, of)
	a.At, a.Epoch, a.Period = steady, epoch, int64(of.order.period)
	_, now := in.cfg.Clock()
	in.counters.Accept(reporting.Accepted{At: steady, Missed: in.missed(), Delay: a.Age, Offset: of.offset.seconds()}, now-steady)
	for range in.Mailbox.Put() {
		in.counters.Refuse(wire.Replaced, nil)
	}
}

// missed returns how many states of all senders were lost.
func (in *Intake) missed() uint64 {
	n := in.order.missed
	for _, s := range in.sensors {
		n += s.order.missed
	}
	return n
}
