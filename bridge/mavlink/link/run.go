package link

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bluenviron/gomavlib/v3"
	"github.com/bluenviron/gomavlib/v3/pkg/dialect"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
	"github.com/bluenviron/gomavlib/v3/pkg/frame"
	"github.com/bluenviron/gomavlib/v3/pkg/message"
	"github.com/nats-io/nats.go"

	"github.com/dgm-robotics/dgm/bridge/internal/number"
	"github.com/dgm-robotics/dgm/bridge/mavlink/autopilot"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/wire"
)

// Config describes which link is joined to which vehicle.
type Config struct {
	Link     string            // see Endpoint
	Vehicle  string            // one token of the subjects
	Channels []channel.Channel // (optional) states and inputs; defaults to those of a quadrotor
	System   uint8             // (optional) the autopilot's system; 0 = the first that sends
	Ahead    time.Duration     // (optional) which point of the horizon goes out as ODOMETRY: the nearest to this
	OutRate  float64           // (optional) predictions a second that go to the autopilot; 0 = none
	Key      *frame.V2Key      // (optional) MAVLink 2 signing: what is not signed with it is dropped, what goes out is signed
	Log      func(text string) // (optional) for what an operator should read
}

// Counts counts what happened so far. It may be read while Run runs.
type Counts struct {
	Messages  atomic.Int64 // of the autopilot
	States    atomic.Int64 // published
	Unsent    atomic.Int64 // states that the link to NATS refused
	BadBytes  atomic.Int64 // times that something was no packet, or not signed with the key
	Strangers atomic.Int64 // messages of an autopilot from another sender than the one that is listened to
	Predicted atomic.Int64 // predictions that went to the autopilot
	Restarts  atomic.Int64 // times that the autopilot was restarted
}

// messages are those that are read and written; others are passed.
var messages = []message.Message{
	&common.MessageHeartbeat{}, &common.MessageAttitude{}, &common.MessageAttitudeQuaternion{}, &common.MessageLocalPositionNed{},
	&common.MessageOdometry{}, &common.MessageHighresImu{}, &common.MessageActuatorOutputStatus{}, &common.MessageServoOutputRaw{},
	&common.MessageTimesync{}, &common.MessageTunnel{},
}

// What this program is to others on the link: a computer on board, of the
// autopilot's own system once that is known.
const (
	ownSystem    = 1
	ownComponent = 191 // MAV_COMP_ID_ONBOARD_COMPUTER
	autopilotID  = 1   // MAV_COMP_ID_AUTOPILOT1
)

// goneAfter is the silence after which another sender may take the place of the one that is
// listened to: an autopilot whose link comes back may come from another port.
const goneAfter = 5 * time.Second

// syncEvery is the time between requests for the autopilot's clock.
const syncEvery = 200 * time.Millisecond

// checkEvery is the time between checks that states are made.
const checkEvery = 10 * time.Second

// mostLines is how many lines are logged about senders between two checks.
const mostLines = 10

// Run joins a link to a vehicle until the context ends, which is no error. It fails
// at once where the link cannot be one, or a port that it must listen on is in use.
func Run(ctx context.Context, nc *nats.Conn, c Config, n *Counts) error {
	if err := wire.CheckVehicle(c.Vehicle); err != nil {
		return err
	}
	end, err := Endpoint(c.Link)
	if err != nil {
		return err
	}
	if c.Channels == nil {
		c.Channels = autopilot.DefaultChannels()
	}
	if c.Log == nil {
		c.Log = func(string) {}
	}
	a, err := autopilot.New(c.Channels)
	if err != nil {
		return err
	}
	end, senders := bounded(end)
	node := &gomavlib.Node{Endpoints: []gomavlib.EndpointConf{end}, Dialect: &dialect.Dialect{Version: 3, Messages: messages},
		OutVersion: gomavlib.V2, OutSystemID: ownSystem, OutComponentID: ownComponent, HeartbeatPeriod: time.Second, HeartbeatSystemType: int(common.MAV_TYPE_ONBOARD_CONTROLLER),
		HeartbeatAutopilotType: int(common.MAV_AUTOPILOT_INVALID), InKey: c.Key, OutKey: c.Key}
	if err := node.Initialize(); err != nil {
		return fmt.Errorf("link %s: %w", c.Link, err)
	}
	defer node.Close()
	r := &runner{c: c, n: n, a: a, node: node, senders: senders, nc: nc, system: c.System, subject: wire.StateSubject(c.Vehicle)}
	K, P := a.Dims()
	r.state.X, r.u = make([]float64, K), make([]float64, P)
	r.state.Layout = wire.Layout(c.Channels)
	predictions := make(chan *nats.Msg, 16)
	if c.OutRate > 0 {
		sub, err := nc.ChanSubscribe(wire.PredictSubject(c.Vehicle), predictions)
		if err != nil {
			return err
		}
		defer func() { _ = sub.Unsubscribe() }() // the connection ends with the caller anyway
	}
	sync := time.NewTicker(syncEvery)
	defer sync.Stop()
	check := time.NewTicker(checkEvery)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-node.Events():
			r.event(e)
		case <-sync.C:
			r.requestTime()
		case <-check.C:
			r.checkStates()
		case m := <-predictions:
			r.predicted(m.Data)
		}
	}
}

// runner is one link at work.
type runner struct {
	c        Config
	n        *Counts
	a        *autopilot.Assembler
	node     *gomavlib.Node
	senders  *senders
	nc       *nats.Conn
	system   uint8             // of the autopilot, 0 = not known yet
	peer     *gomavlib.Channel // the sender that is listened to; nil = none yet, or closed
	heard    time.Time         // when it sent last
	signed   uint64            // time in its last signature
	strange  bool              // a stranger was reported since it was chosen
	subject  string
	state    wire.State
	u        []float64
	buf      []byte
	pred     wire.Prediction
	out      time.Time // when the last prediction went out
	last     int64     // ns, time of the last state
	warned   bool
	seen     int64 // states at the last check
	reported bool  // that there are none
	lines    int   // about senders since the last check
	oldClock bool  // it was reported that signatures are too old
	past     bool  // the same of those of a recording
}

func (r *runner) event(e gomavlib.Event) {
	switch e := e.(type) {
	case *gomavlib.EventChannelOpen:
		r.aboutSender("the link %s is open", e.Channel)
	case *gomavlib.EventChannelClose:
		r.aboutSender("the link %s was closed: %v", e.Channel, e.Error)
		if e.Channel == r.peer {
			r.peer = nil
		}
	case *gomavlib.EventParseError:
		r.n.BadBytes.Add(1)
		if !r.oldClock && strings.Contains(e.Error.Error(), "timestamp is too old") {
			r.oldClock = true
			r.c.Log(fmt.Sprintf("signed messages from %s are dropped: their times are older than those before, or within ten seconds of 2015-01-01; set the autopilot's clock, and sign with one clock", e.Channel))
		}
	case *gomavlib.EventFrame:
		r.frame(e)
	}
}

// aboutSender logs a line about a sender; of many at a time the first ones and how many there are.
func (r *runner) aboutSender(format string, args ...any) {
	if r.lines++; r.lines <= mostLines {
		r.c.Log(fmt.Sprintf(format, args...))
	}
}

func (r *runner) frame(e *gomavlib.EventFrame) {
	if e.ComponentID() != autopilotID || r.system != 0 && e.SystemID() != r.system {
		return
	}
	if _, unknown := e.Message().(*message.MessageRaw); unknown {
		return
	}
	if !r.from(e) {
		return
	}
	now := time.Now().UnixNano()
	if r.system == 0 {
		r.system = e.SystemID()
		r.c.Log(fmt.Sprintf("autopilot %d/%d is there, at %s", e.SystemID(), e.ComponentID(), e.Channel))
	}
	r.n.Messages.Add(1)
	if m, ok := e.Message().(*common.MessageTimesync); ok {
		r.timesync(m, now)
		return
	}
	if !r.a.Add(e.Message(), now) {
		return
	}
	r.state.T = r.a.State(r.state.X, r.u)
	if !number.Finite(r.state.X) || r.state.T == r.last {
		return
	}
	if r.state.T < r.last-1e9 {
		r.n.Restarts.Add(1)
	}
	r.last = r.state.T
	r.state.U = r.u
	if !number.Finite(r.u) {
		r.state.U = nil
	}
	r.buf = r.state.Append(r.buf[:0])
	r.state.Seq++
	if !r.nc.IsConnected() || r.nc.Publish(r.subject, r.buf) != nil {
		r.n.Unsent.Add(1)
		return
	}
	r.n.States.Add(1)
}

// from reports whether a frame comes from the sender that is listened to: the first, until
// it is closed or silent. With a key it is the one with the newest signature: what was
// recorded earlier takes no place from it, and loses its own to it.
func (r *runner) from(e *gomavlib.EventFrame) bool {
	now, signed := time.Now(), uint64(0)
	if f, ok := e.Frame.(*frame.V2Frame); ok {
		signed = f.SignatureTimestamp
	}
	if r.c.Key != nil && now.Sub(signedAt(signed)) > oldest {
		r.n.Strangers.Add(1)
		if !r.past {
			r.past = true
			r.c.Log(fmt.Sprintf("messages of system %d from %s are not used: they were signed %v ago, as those of a recording; an autopilot without a clock takes the time from the signed messages that it receives from here, another needs its clock set", e.SystemID(), e.Channel, now.Sub(signedAt(signed)).Round(time.Second)))
		}
		return false
	}
	taken := e.Channel != r.peer && r.peer != nil && now.Sub(r.heard) < goneAfter
	if r.c.Key != nil {
		taken = signed < r.signed || signed == r.signed && e.Channel != r.peer
	}
	if taken {
		r.n.Strangers.Add(1)
		if !r.strange {
			r.strange = true
			r.c.Log(fmt.Sprintf("messages of system %d from %s are not used: another sender is listened to, or they were signed before its last; give two autopilots links of their own, or sign messages with a key", e.SystemID(), e.Channel))
		}
		return false
	}
	if e.Channel != r.peer {
		r.peer, r.strange = e.Channel, false
		r.senders.keep(e.Channel.String())
	}
	r.heard, r.signed = now, max(r.signed, signed)
	return true
}

// oldest is the age of a signature beyond which its message is not used, as MAVLink has it: before this program started another may
// have recorded it.
const oldest = time.Minute

// signedAt returns the time of a signature, which counts in 10 µs from 2015.
func signedAt(signed uint64) time.Time {
	const hundredThousand = 100_000
	return time.Date(2015, 1, 1, 0, 0, int(signed/hundredThousand), 0, time.UTC)
}

// timesync reads the answer to a request of this program, and answers the
// autopilot's.
func (r *runner) timesync(m *common.MessageTimesync, now int64) {
	if m.Tc1 == 0 {
		r.write(&common.MessageTimesync{Tc1: now, Ts1: m.Ts1})
		return
	}
	if m.Ts1 > 0 && m.Ts1 <= now {
		r.a.Clock.Reply(m.Ts1, m.Tc1, now)
	}
}

func (r *runner) requestTime() {
	if r.system != 0 {
		r.write(&common.MessageTimesync{Ts1: time.Now().UnixNano()})
	}
}

// checkStates reports why no states are made, once for each time that they stop.
func (r *runner) checkStates() {
	if r.lines > mostLines {
		r.c.Log(fmt.Sprintf("senders came and went %d times more within %v; who may reach the port should be bounded", r.lines-mostLines, checkEvery))
	}
	r.lines = 0
	made := r.n.States.Load() + r.n.Unsent.Load()
	still := made == r.seen
	r.seen = made
	if still && !r.reported {
		why := "no message of an autopilot was received"
		if missing := r.a.Missing(); r.system != 0 && len(missing) > 0 {
			why = strings.Join(missing, ", ") + "; request these messages from the autopilot, or use a model without them"
		}
		r.c.Log("no state was made for a while: " + why)
	}
	r.reported = still
}

// write sends to the sender that is listened to; while there is none, nothing is kept.
func (r *runner) write(m message.Message) {
	if r.peer == nil {
		return
	}
	if err := r.node.WriteMessageTo(r.peer, m); err != nil && !r.warned {
		r.warned = true
		r.c.Log(fmt.Sprintf("a message could not be sent: %v", err))
	}
}

// predicted sends a prediction to the autopilot, no more often than is wanted.
func (r *runner) predicted(data []byte) {
	if time.Since(r.out).Seconds() < 0.95/r.c.OutRate {
		return
	}
	if r.pred.Decode(data) != nil || len(r.pred.Horizon) == 0 {
		return
	}
	r.out = time.Now()
	nearest := 0
	for i, h := range r.pred.Horizon {
		if math.Abs(h-r.c.Ahead.Seconds()) < math.Abs(r.pred.Horizon[nearest]-r.c.Ahead.Seconds()) {
			nearest = i
		}
	}
	if m, ok := r.a.Odometry(&r.pred, nearest); ok {
		r.write(m)
	}
	if !autopilot.Tunnels(&r.pred, func(m *common.MessageTunnel) {
		m.TargetSystem = r.system
		r.write(m)
	}) && !r.warned {
		r.warned = true
		r.c.Log("the horizon is not sent: a point of it has too many states for a TUNNEL")
	}
	r.n.Predicted.Add(1)
}
