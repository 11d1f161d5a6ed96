package autopilot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
	"github.com/bluenviron/gomavlib/v3/pkg/message"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/timebase"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// Assembler makes states of messages. Its own axes are ned and frd.
type Assembler struct {
	MaxAge int64 // ns, how old what is not the attitude may be

	Clock timebase.ClockSync

	states, inputs []source
	world, body    frames.Frame
	needs          [groups]bool

	position, velocity [3]float64
	rates              [3]float64
	attitude           frames.Quaternion
	motors             [32]float64
	at                 [groups]int64 // ns since the autopilot's start; of each group
	has                [groups]bool
	odometry           int64 // ns, stamp of the last ODOMETRY
	quaternion         int64 // ns, stamp of the last attitude that was one
	missing            [groups]int
}

// group is the content of one message.
type group int

const (
	position group = iota
	attitude
	rates
	motors
	groups
)

var groupNames = [groups]string{"position (LOCAL_POSITION_NED or ODOMETRY)", "attitude (ATTITUDE_QUATERNION, ATTITUDE or ODOMETRY)",
	"rates (ATTITUDE_QUATERNION or HIGHRES_IMU)", "motors (ACTUATOR_OUTPUT_STATUS or SERVO_OUTPUT_RAW)"}

// source is where a channel's value is.
type source struct {
	group group
	part  int // position: 0-2 x, y, z; 3-5 vx, vy, vz
}

var sources = map[string]source{
	"x": {position, 0}, "y": {position, 1}, "z": {position, 2}, "vx": {position, 3}, "vy": {position, 4}, "vz": {position, 5},
	"roll": {attitude, 0}, "pitch": {attitude, 1}, "yaw": {attitude, 2}, "p": {rates, 0}, "q": {rates, 1}, "r": {rates, 2},
}

// DefaultChannels are those of the presets for quadrotors.
func DefaultChannels() []channel.Channel {
	var all []channel.Channel
	for _, c := range []struct{ names, unit, frame string }{{"x y z", "m", "ned"}, {"vx vy vz", "m/s", "ned"}, {"roll pitch yaw", "rad", "ned-frd"}, {"p q r", "rad/s", "frd"}} {
		for name := range strings.FieldsSeq(c.names) {
			ch := channel.Channel{Name: name, Unit: c.unit, Role: channel.State, Frame: c.frame}
			if c.frame == "ned-frd" {
				ch.Period = channel.Angle
			}
			all = append(all, ch)
		}
	}
	for i := range 4 {
		all = append(all, channel.Channel{Name: fmt.Sprintf("m%d", i+1), Role: channel.Input})
	}
	return all
}

// New returns an Assembler for the states and inputs among channels, by their
// names.
func New(channels []channel.Channel) (*Assembler, error) {
	a := &Assembler{MaxAge: 250e6, world: frames.NED, body: frames.FRD}
	for _, c := range channels {
		if c.Role == channel.Aux {
			continue
		}
		s, ok := sources[c.Name]
		if n, err := strconv.Atoi(strings.TrimPrefix(c.Name, "m")); err == nil && strings.HasPrefix(c.Name, "m") && n >= 1 && n <= len(a.motors) {
			s, ok = source{motors, n - 1}, true
		}
		if !ok {
			return nil, fmt.Errorf("channel %q is not in MAVLink's messages: name the channels of the vehicle x y z vx vy vz roll pitch yaw p q r m1 m2 … in the map of its log, and train with them", c.Name)
		}
		if strings.Contains(c.Frame, "enu") || c.Frame == "flu" {
			a.world, a.body = frames.ENU, frames.FLU
		}
		a.needs[s.group] = true
		if c.Role == channel.State {
			a.states = append(a.states, s)
		} else {
			a.inputs = append(a.inputs, s)
		}
	}
	return a, nil
}

// Add adds a message that was received at time now (ns). It returns true where a state
// can be read by State.
func (a *Assembler) Add(m message.Message, now int64) (ready bool) {
	switch m := m.(type) {
	case *common.MessageOdometry:
		t := a.stamp(int64(m.TimeUsec)*1e3, now)
		if m.FrameId != common.MAV_FRAME_LOCAL_NED && m.FrameId != common.MAV_FRAME_LOCAL_FRD {
			return false
		}
		a.odometry = t
		a.setAttitude(t, m.Q[0], m.Q[1], m.Q[2], m.Q[3])
		a.setRates(t, m.Rollspeed, m.Pitchspeed, m.Yawspeed)
		v := vector(m.Vx, m.Vy, m.Vz)
		if m.ChildFrameId != common.MAV_FRAME_LOCAL_NED {
			v = a.attitude.Rotate(v)
		}
		a.position, a.velocity = vector(m.X, m.Y, m.Z), v
		a.set(position, t)
		return a.complete(t)
	case *common.MessageAttitudeQuaternion:
		t := a.stamp(int64(m.TimeBootMs)*1e6, now)
		if a.has[position] && a.odometry > 0 && t-a.odometry < 1e9 {
			return false // ODOMETRY holds the same and more
		}
		a.setAttitude(t, m.Q1, m.Q2, m.Q3, m.Q4)
		a.setRates(t, m.Rollspeed, m.Pitchspeed, m.Yawspeed)
		return a.complete(t)
	case *common.MessageAttitude:
		t := a.stamp(int64(m.TimeBootMs)*1e6, now)
		if a.quaternion > 0 && t-a.quaternion < a.MaxAge {
			return false // a quaternion holds the same, without a singularity
		}
		a.attitude = frames.FromEuler(vector(m.Roll, m.Pitch, m.Yaw))
		a.set(attitude, t)
		a.setRates(t, m.Rollspeed, m.Pitchspeed, m.Yawspeed)
		return a.complete(t)
	case *common.MessageLocalPositionNed:
		t := a.stamp(int64(m.TimeBootMs)*1e6, now)
		if a.odometry == 0 || t-a.odometry > 1e9 {
			a.position, a.velocity = vector(m.X, m.Y, m.Z), vector(m.Vx, m.Vy, m.Vz)
			a.set(position, t)
		}
	case *common.MessageHighresImu:
		if m.Id == 0 && m.TimeUsec < 1e15 {
			t := a.stamp(int64(m.TimeUsec)*1e3, now)
			a.setRates(t, m.Xgyro, m.Ygyro, m.Zgyro)
		}
	case *common.MessageActuatorOutputStatus:
		t := a.stamp(int64(m.TimeUsec)*1e3, now)
		for i, v := range m.Actuator {
			a.motors[i] = float64(v)
		}
		a.set(motors, t)
	case *common.MessageServoOutputRaw:
		if m.Port == 0 {
			t := a.stamp(int64(m.TimeUsec)*1e3, now)
			for i, v := range [...]uint16{m.Servo1Raw, m.Servo2Raw, m.Servo3Raw, m.Servo4Raw, m.Servo5Raw, m.Servo6Raw, m.Servo7Raw, m.Servo8Raw} {
				a.motors[i] = float64(v)
			}
			a.set(motors, t)
		}
	}
	return false
}

// stamp adds the timestamp of a message. Of a restarted autopilot nothing is known.
func (a *Assembler) stamp(t, now int64) int64 {
	if !a.Clock.Stamp(t, now) {
		a.has, a.odometry, a.quaternion = [groups]bool{}, 0, 0
	}
	return t
}

func (a *Assembler) set(g group, t int64) { a.at[g], a.has[g] = t, true }

func (a *Assembler) setAttitude(t int64, w, x, y, z float32) {
	q, ok := frames.Quaternion{float64(w), float64(x), float64(y), float64(z)}.Unit()
	if !ok {
		a.has[attitude] = false
		return
	}
	a.attitude, a.quaternion = q, t
	a.set(attitude, t)
}

func (a *Assembler) setRates(t int64, p, q, r float32) {
	a.rates = vector(p, q, r)
	a.set(rates, t)
}

func vector(x, y, z float32) [3]float64 { return [3]float64{float64(x), float64(y), float64(z)} }

// complete reports whether all that is needed is there and recent enough at time t,
// and counts what is not.
func (a *Assembler) complete(t int64) bool {
	all := true
	for g := range groups {
		limit := a.MaxAge
		if g == motors {
			limit = max(limit, 1e9) // commands are held for longer
		}
		if a.needs[g] && (!a.has[g] || t-a.at[g] > limit) {
			a.missing[g]++
			all = false
		}
	}
	return all
}

// State writes the state and the inputs, and returns their time on this computer's
// clock (ns).
func (a *Assembler) State(x, u []float64) (t int64) {
	at := a.at[attitude]
	offset, _ := a.Clock.Offset()
	dt := 1e-9 * float64(at-a.at[position])
	pos := a.position
	for i := range pos {
		pos[i] += dt * a.velocity[i]
	}
	pos = frames.Vector(pos, frames.NED, a.world)
	vel := frames.Vector(a.velocity, frames.NED, a.world)
	euler := frames.Attitude(a.attitude, frames.NED, frames.FRD, a.world, a.body).Euler()
	turn := frames.Vector(a.rates, frames.FRD, a.body)
	values := [groups][]float64{position: slices.Concat(pos[:], vel[:]), attitude: euler[:], rates: turn[:], motors: a.motors[:]}
	for i, s := range a.states {
		x[i] = values[s.group][s.part]
	}
	for i, s := range a.inputs {
		u[i] = values[s.group][s.part]
	}
	return at + offset
}

// Dims returns the numbers of states and inputs.
func (a *Assembler) Dims() (K, P int) { return len(a.states), len(a.inputs) }

// Missing returns what states lacked, and how often.
func (a *Assembler) Missing() (out []string) {
	for g, n := range a.missing {
		if n > 0 {
			plural := map[bool]string{true: "s"}[n > 1]
			out = append(out, fmt.Sprintf("%d state%s without %s", n, plural, groupNames[g]))
		}
	}
	return out
}
