package mavlink_test

import (
	"testing"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
	"github.com/bluenviron/gomavlib/v3/pkg/message"

	"github.com/dgm-robotics/dgm/bridge/internal/changes"
	"github.com/dgm-robotics/dgm/bridge/mavlink"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

const changedMap = `vehicle = "v"
[time]
base = "LOCAL_POSITION_NED"
[[channel]]
name = "x"
topic = "LOCAL_POSITION_NED"
field = "x"
role = "state"
[[channel]]
name = "a"
topic = "ATTITUDE"
instance = 0
field = "rollspeed"
role = "state"
[[channel]]
name = "u"
topic = "SERVO_OUTPUT_RAW"
field = "servo1_raw"
role = "input"
`

// noted writes a note as a ground station does.
func noted(t *testing.T, n changes.Note) []byte {
	var s station
	put := func(system, component byte, m message.Message) {
		s.packet(t, int(n.Logged/1000-start.UnixMilli()), 2, system, component, m)
	}
	ms := uint32(n.Stamp / 1000)
	switch n.What {
	case changes.State:
		put(1, 1, &common.MessageLocalPositionNed{TimeBootMs: ms, X: float32(n.I)})
	case changes.Turn:
		put(1, 1, &common.MessageAttitude{TimeBootMs: ms, Rollspeed: 2 * float32(n.I)})
	case changes.Command:
		put(1, 1, &common.MessageServoOutputRaw{TimeUsec: uint32(n.Stamp), Servo1Raw: uint16(n.I)})
	case changes.Other:
		put(7, 1, &common.MessageAttitude{TimeBootMs: 5*ms + 17, Rollspeed: -1})
		put(7, 1, &common.MessageHeartbeat{Type: 10})
	case changes.Unknown:
		put(1, 1, &common.MessageVibration{TimeUsec: uint64(n.Stamp)})
		s.Bytes()[8+7+2*(n.I%2)] ^= 0x40 // no such message, or the wrong checksum
	case changes.Setting:
		put(1, 1, &common.MessageParamValue{ParamId: "SERVO9_FUNCTION", ParamValue: 33})
	case changes.Define:
		put(1, 1, &common.MessageHeartbeat{Type: 2, BaseMode: 209})
	}
	return s.Bytes()
}

// What happens to ground stations' logs, two at a time.
func TestChangedLogs(t *testing.T) {
	first := changes.Change{Name: "another vehicle first", Apply: func(n []changes.Note) []changes.Note {
		other := n[0]
		other.What, other.File = changes.Other, 0
		return append([]changes.Note{other, other, other}, n...)
	}}
	changes.Pairs(t, &changes.Format{
		Name: "mavlink", Map: changedMap, Open: telemetry.Opens(mavlink.Open),
		Head:  func(changes.Note) []byte { return nil },
		Write: func(n changes.Note) []byte { return noted(t, n) },
	}, append(changes.Common(), first), nil)
}
