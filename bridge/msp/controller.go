package msp

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"
)

// Commands that are asked for. Polls ask for those of [Assembler.Commands], for Status now and then, and for Time where the controller has one.
const (
	apiVersion    = 1
	fcVariant     = 2
	fcVersion     = 3
	boardInfo     = 4
	advanced      = 90
	Status        = 101 // whether it is armed
	rawIMU        = 102
	servos        = 103
	motors        = 104
	attitude      = 108
	altitude      = 109
	analog        = 110
	misc          = 114
	motorConfig   = 131
	multiple      = 230
	setTime       = 246 // of Betaflight; INAV counts these two the other way round
	Time          = 247
	commonSetting = 0x1003
)

// Controller is what a flight controller says of itself.
type Controller struct {
	API     string // version of the protocol
	Variant string // BTFL, INAV
	Version string
	Board   string
	Step    float64 // of the rates in MSP_RAW_IMU, deg/s

	idle      float64 // %, in place of the controller's; negative = its own
	low, high float64 // pulses of MSP_MOTOR, µs: idle and full
	stands    bool    // low is that of motors that stand
}

// usualStep is that of the gyroscope's numbers, which Betaflight sends as they are: ± 2,000 deg/s in 16 bits.
const usualStep = 2000. / (1 << 15)

// NewController returns a Controller that has said nothing yet. step is that of its rates, deg/s; 0 = the usual one of its firmware. idle
// is that of its motors, % of their range; negative = it says so itself.
func NewController(step, idle float64) *Controller { return &Controller{Step: step, idle: idle} }

// String names the controller for people.
func (c *Controller) String() string {
	name := map[string]string{"BTFL": "Betaflight", "INAV": "INAV"}[c.Variant]
	return fmt.Sprintf("%s %s on %s, MSP %s", name, c.Version, c.Board, c.API)
}

// Question is a request for what a controller says of itself.
type Question struct {
	Frame
	read func(c *Controller, p []byte) error
}

// Read takes the reply.
func (q *Question) Read(c *Controller, reply *Frame) error {
	if reply.Kind == Unknown {
		return fmt.Errorf("the controller does not know request %d", q.Command)
	}
	if err := q.read(c, reply.Payload); err != nil {
		return fmt.Errorf("request %d: %w", q.Command, err)
	}
	return nil
}

// Identity are the requests for what a controller is. Every controller answers the first.
var Identity = []Question{
	{Frame{Command: apiVersion, Kind: Request}, func(c *Controller, p []byte) error {
		if len(p) < 3 {
			return tooShort(p)
		}
		c.API = fmt.Sprintf("%d.%d", p[1], p[2])
		return nil
	}},
	{Frame{Command: fcVariant, Kind: Request}, func(c *Controller, p []byte) error {
		c.Variant = string(p)
		switch step := map[string]float64{"BTFL": usualStep, "INAV": 1}[c.Variant]; {
		case step > 0 && c.Step == 0:
			c.Step = step
		case step == 0:
			return fmt.Errorf("firmware %q is not known: units of its messages may differ from those of Betaflight (BTFL) and INAV", c.Variant)
		}
		return nil
	}},
	{Frame{Command: fcVersion, Kind: Request}, func(c *Controller, p []byte) error {
		if len(p) < 3 {
			return tooShort(p)
		}
		c.Version = fmt.Sprintf("%d.%d.%d", p[0], p[1], p[2])
		return nil
	}},
	{Frame{Command: boardInfo, Kind: Request}, func(c *Controller, p []byte) error {
		if len(p) < 4 {
			return tooShort(p)
		}
		c.Board = strings.TrimRight(string(p[:4]), "\x00 ")
		return nil
	}},
}

func tooShort(p []byte) error { return fmt.Errorf("a reply of %d bytes is too short", len(p)) }

// Motors returns the requests for the range of the motors, of a controller whose variant is known.
func (c *Controller) Motors() []Question {
	if c.Variant == "INAV" {
		return []Question{
			{Frame{Command: misc, Kind: Request}, (*Controller).readMisc},
			{Frame{Command: commonSetting, Kind: Request, Payload: []byte("throttle_idle\x00")}, (*Controller).readIdle},
		}
	}
	return []Question{
		{Frame{Command: motorConfig, Kind: Request}, (*Controller).readMotors},
		{Frame{Command: advanced, Kind: Request}, (*Controller).readAdvanced},
	}
}

// readMisc takes INAV's ends of pulses.
func (c *Controller) readMisc(p []byte) error {
	if len(p) < 8 {
		return tooShort(p)
	}
	return c.setRange(uint16At(p, 6), uint16At(p, 4))
}

// readIdle takes INAV's setting throttle_idle, %.
func (c *Controller) readIdle(p []byte) error {
	if len(p) < 4 {
		return tooShort(p)
	}
	return c.raise((c.high-c.low)/100, float64(math.Float32frombits(binary.LittleEndian.Uint32(p))))
}

// readMotors takes Betaflight's ends of pulses: until 4.5 the lowest is that of idle.
func (c *Controller) readMotors(p []byte) error {
	if len(p) < 6 {
		return tooShort(p)
	}
	low := uint16At(p, 0)
	if c.stands = low == 0 || c.idle >= 0; c.stands {
		low = uint16At(p, 4)
	}
	return c.setRange(low, uint16At(p, 2))
}

// firstDigital is the number of the first of Betaflight's digital protocols for motors.
const firstDigital = 5

// readAdvanced takes Betaflight's idle, which counts in 0.01 %: of digital protocols always, of others since 4.6.
func (c *Controller) readAdvanced(p []byte) error {
	if len(p) < 8 {
		return tooShort(p)
	}
	idle := uint16At(p, 6) / 100
	switch {
	case p[3] >= firstDigital:
		c.low, c.high = 1001, 2000 // what the firmware maps their range to
		return c.raise(9.99, idle)
	case c.stands:
		return c.raise(10, idle)
	}
	return nil
}

// setRange sets the ends of pulses, µs.
func (c *Controller) setRange(low, high float64) error {
	if !(low >= 500 && high <= 2500 && high > low) {
		return fmt.Errorf("motors from %v to %v µs are no range", low, high)
	}
	c.low, c.high = low, high
	return nil
}

// raise puts the lower end of pulses from that of motors that stand to idle, %, of step µs each.
func (c *Controller) raise(step, idle float64) error {
	if c.idle >= 0 {
		idle = c.idle
	}
	if !(idle >= 0 && idle < 90) {
		return fmt.Errorf("an idle of %v %% is none", idle)
	}
	c.low += step * idle
	return nil
}

func uint16At(p []byte, at int) float64 { return float64(binary.LittleEndian.Uint16(p[at:])) }
func int16At(p []byte, at int) float64  { return float64(int16(binary.LittleEndian.Uint16(p[at:]))) }

// Timed reports whether messages have the time of the controller: Betaflight's, if it answers several messages in one.
func (c *Controller) Timed() bool { return c.Variant == "BTFL" }

// SetTime is a request to set the controller's clock to a time, ns since 1970.
func SetTime(t int64) *Frame {
	p := binary.LittleEndian.AppendUint32(nil, uint32(t/1e9))
	return &Frame{Command: setTime, Kind: Request, Payload: binary.LittleEndian.AppendUint16(p, uint16(t%1e9/1e6))}
}

// ReadTime returns the time in a reply, ns since 1970 on the controller's clock, which counts milliseconds; ok is false where it is not set.
func ReadTime(p []byte) (t int64, ok bool) {
	if len(p) < 9 {
		return 0, false
	}
	day := time.Date(int(binary.LittleEndian.Uint16(p)), time.Month(p[2]), int(p[3]), int(p[4]), int(p[5]), int(p[6]), 0, time.UTC)
	const half = 5e5 // of a millisecond, which is cut off
	return day.UnixNano() + int64(binary.LittleEndian.Uint16(p[7:]))*1e6 + half, true
}

// Multiple is a request for several messages in one.
func Multiple(commands []uint16) *Frame {
	f := &Frame{Command: multiple, Kind: Request}
	for _, c := range commands {
		f.Payload = append(f.Payload, byte(c))
	}
	return f
}

// Split returns the messages in the reply to a request for several.
func Split(p []byte) (all [][]byte) {
	for len(p) > 0 && len(p) > int(p[0]) {
		end := 1 + int(p[0])
		all, p = append(all, p[1:end]), p[end:]
	}
	return all
}
