package msp

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// topic has the fields in the blackbox of a controller.
const topic = "main"

// Places of the fields of the messages among all fields.
const (
	atRates    = 0
	atAttitude = 3 // quaternion w, x, y, z, then the three angles
	atAltitude = 10
	atMotors   = 12
	atServos   = 20
	atBattery  = 28
	fieldCount = 29
)

// outputs is how many motors and servos a message has.
const outputs = 8

// fields are those of the blackbox that messages have, in the order of their places.
func fields() (all []telemetry.Field) {
	add := func(unit, format string, n int) {
		for i := range n {
			path := format
			if strings.Contains(format, "%") {
				path = fmt.Sprintf(format, i)
			}
			all = append(all, telemetry.Field{Path: path, Unit: unit})
		}
	}
	add("deg/s", "gyroADC[%d]", 3)
	add("", "imuQuaternion[w]", 1)
	add("", "imuQuaternion[%d]", 3)
	add("deg", "attitude[%d]", 3)
	add("m", "navPos[2]", 1)
	add("m/s", "navVel[2]", 1)
	add("", "motor[%d]", outputs)
	add("", "servo[%d]", outputs)
	add("V", "vbatLatest", 1)
	return all
}

// message is a message that is polled, by the places of its fields.
type message struct {
	command  uint16
	name     string
	from, to int
}

var messages = []message{
	{attitude, "MSP_ATTITUDE", atAttitude, atAltitude},
	{altitude, "MSP_ALTITUDE", atAltitude, atMotors},
	{motors, "MSP_MOTOR", atMotors, atServos},
	{servos, "MSP_SERVO", atServos, atBattery},
	{analog, "MSP_ANALOG", atBattery, fieldCount},
	{rawIMU, "MSP_RAW_IMU", atRates, atAttitude}, // the last: a state has its time
}

// maxAge is how old the newest value of a message may be in a state, ns.
const maxAge = 250e6

// received is the last reply to a message that had something new.
type received struct {
	payload []byte
	t       int64 // ns, when it was measured; 0 = never
	fresh   bool  // since the last state
}

// Assembler makes states of messages: one for each reply with rates, at its time.
type Assembler struct {
	Controller *Controller
	Armed      bool

	binding *importer.Binding
	states  int
	partial bool // some states are estimated: others may be missing
	wanted  []message
	heard   map[uint16]*received
	raw     [fieldCount]float64 // of all fields
	places  []int               // in raw: what the binding reads
	row     []float64
	turns   turns
	fine    fine
}

// NewAssembler returns an Assembler for the states and inputs among channels, which a map makes of the blackbox of the
// controller; nil = all that it makes.
func NewAssembler(m *importer.Map, channels []channel.Channel) (*Assembler, []channel.Channel, error) {
	all := fields()
	b, err := importer.Bind(m, topic, all, channels)
	if err != nil {
		return nil, nil, err
	}
	channels = b.Channels()
	a := &Assembler{binding: b, heard: map[uint16]*received{}, states: len(channel.Select(channels, channel.State))}
	a.partial = slices.ContainsFunc(channels, func(c channel.Channel) bool { return c.Estimated })
	for _, path := range b.Paths() {
		a.places = append(a.places, slices.IndexFunc(all, func(f telemetry.Field) bool { return f.Path == path }))
	}
	for _, m := range messages {
		if m.command == rawIMU || slices.ContainsFunc(a.places, func(at int) bool { return at >= m.from && at < m.to }) {
			a.wanted = append(a.wanted, m)
		}
	}
	a.row = make([]float64, len(a.places))
	return a, channels, nil
}

// Begin begins with a controller that has answered: what another one said is forgotten.
func (a *Assembler) Begin(c *Controller) {
	a.Controller, a.Armed, a.turns, a.fine = c, false, turns{}, fine{}
	clear(a.heard)
	for i := range a.raw {
		a.raw[i] = math.NaN()
	}
}

// Dims returns the numbers of states and inputs.
func (a *Assembler) Dims() (K, P int) { return a.states, len(a.binding.Channels()) - a.states }

// Partial reports whether states may lack what is not measured: the receiver has a filter.
func (a *Assembler) Partial() bool { return a.partial }

// Commands returns the messages that states are made of, in the order in which they are to be asked for, and whether
// the range of the motors is needed.
func (a *Assembler) Commands() (all []uint16, ranged bool) {
	for _, m := range a.wanted {
		all = append(all, m.command)
	}
	return all, slices.Contains(all, motors)
}

// Name returns that of a message.
func Name(command uint16) string {
	for _, m := range messages {
		if m.command == command {
			return m.name
		}
	}
	return fmt.Sprintf("message %d", command)
}

// Add takes the reply to a message that was measured at time t (ns). It returns an error where the reply is too short, which
// then is not used.
func (a *Assembler) Add(command uint16, p []byte, t int64) error {
	if command == Status {
		if len(p) < 10 {
			return tooShort(p)
		}
		a.Armed = p[6]&1 != 0 // the first of the modes
		return nil
	}
	h := a.heard[command]
	if h == nil {
		h = &received{}
		a.heard[command] = h
	}
	again := h.t > 0 && bytes.Equal(p, h.payload)
	if again && a.held(command, t-h.t) {
		return nil
	}
	if !again {
		if err := a.decode(command, p); err != nil {
			return fmt.Errorf("%s: %w", Name(command), err)
		}
		h.payload = append(h.payload[:0], p...)
	}
	h.t, h.fresh = t, true
	return nil
}

// Turns, in degrees, beyond which an attitude cannot be the one before: two steps of it and a half.
const (
	turnedAngle   = 0.25
	turnedHeading = 2.5
)

// held reports whether a reply that repeats one of dt ns ago is that value and no measurement. Acceleration and rates are never the same
// twice in noise; an attitude is where rates do not contradict it; what is commanded stays.
func (a *Assembler) held(command uint16, dt int64) bool {
	switch s := 1e-9 * float64(dt); command {
	case rawIMU, altitude:
		return true
	case attitude:
		p, q, r := math.Abs(a.raw[atRates]), math.Abs(a.raw[atRates+1]), math.Abs(a.raw[atRates+2])
		return math.Max(p, q)*s > turnedAngle || r*s > turnedHeading
	}
	return false
}

// decode puts the values of a reply into their places.
func (a *Assembler) decode(command uint16, p []byte) error {
	least := map[uint16]int{rawIMU: 12, attitude: 6, altitude: 6, motors: 2 * outputs, servos: 2 * outputs, analog: 7}[command]
	if len(p) < least {
		return tooShort(p)
	}
	switch command {
	case rawIMU:
		for i := range 3 {
			a.raw[atRates+i] = a.Controller.Step * int16At(p, 6+2*i)
		}
	case attitude:
		a.setAttitude([3]float64{int16At(p, 0) / 10, int16At(p, 2) / 10, int16At(p, 4) + headingCut})
	case altitude:
		a.raw[atAltitude] = float64(int32(uint32(uint16At(p, 0))|uint32(uint16At(p, 2))<<16)) / 100
		a.raw[atAltitude+1] = int16At(p, 4) / 100
	case motors:
		for i := range outputs {
			a.raw[atMotors+i] = (uint16At(p, 2*i) - a.Controller.low) / (a.Controller.high - a.Controller.low)
		}
	case servos:
		for i := range outputs {
			a.raw[atServos+i] = (uint16At(p, 2*i) - 1500) / 500
		}
	case analog:
		if a.raw[atBattery] = float64(p[0]) / 10; len(p) >= 9 {
			a.raw[atBattery] = uint16At(p, 7) / 100
		}
	}
	return nil
}

// headingCut is what the heading lacks in the mean, degrees: tenths are cut off.
const headingCut = 0.45

// setAttitude takes roll, pitch and heading, degrees, as the controller has them: those of axes forward, left and up, but the heading turns
// to the right.
func (a *Assembler) setAttitude(angles [3]float64) {
	copy(a.raw[atAttitude+4:], angles[:])
	const degree = math.Pi / 180
	q := frames.FromEuler([3]float64{degree * angles[0], degree * angles[1], -degree * angles[2]})
	copy(a.raw[atAttitude:], q[:])
}

// State makes a state where there are new rates, and returns when they were measured. What is not measured is NaN in a partial state; no
// other is made of it. x and u are valid until the next call.
func (a *Assembler) State() (x, u []float64, t int64, ok bool) {
	imu := a.heard[rawIMU]
	if imu == nil || !imu.fresh {
		return nil, nil, 0, false
	}
	now := a.raw
	for _, m := range a.wanted {
		h := a.heard[m.command]
		known := h != nil && h.t > 0 && imu.t-h.t <= maxAge
		switch measured := m.command == attitude || m.command == altitude; {
		case !known, a.partial && measured && !h.fresh:
			for i := m.from; i < m.to; i++ {
				now[i] = math.NaN()
			}
		case m.command == attitude:
			w := rates(&now)
			q := frames.Mul(frames.Quaternion(now[atAttitude:atAttitude+4]), turn(w, 1e-9*float64(imu.t-h.t)))
			a.turns.add(q, w, imu.t)
			q = a.fine.add(q, w, imu.t, h.fresh)
			copy(now[atAttitude:], q[:])
		}
	}
	for _, h := range a.heard {
		h.fresh = false
	}
	for i, at := range a.places {
		a.row[i] = now[at]
	}
	all := a.binding.Convert(a.row)
	return all[:a.states], all[a.states:], imu.t, true
}

// rates are those of a state, rad/s.
func rates(now *[fieldCount]float64) (w [3]float64) {
	for i := range w {
		w[i] = now[atRates+i] * math.Pi / 180
	}
	return w
}

// Doubt returns what speaks against the unit of the rates, "" = nothing.
func (a *Assembler) Doubt() string {
	r, ok := a.turns.ratio()
	if !ok || math.Abs(r-1) < doubtful {
		return ""
	}
	return fmt.Sprintf("the attitude turns %.2f times as far as the rates: their step is not %.3g deg/s, but about %.2g (--gyro-step)", r, a.Controller.Step, r*a.Controller.Step)
}

// Missing returns the messages without a value, or with an old one, at the last rates.
func (a *Assembler) Missing(t int64) (names []string) {
	for _, m := range a.wanted {
		if h := a.heard[m.command]; h == nil || t-h.t > maxAge {
			names = append(names, m.name)
		}
	}
	return names
}
