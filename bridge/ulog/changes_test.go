package ulog_test

import (
	"testing"

	"github.com/dgm-robotics/dgm/bridge/internal/changes"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/ulog"
)

const changedMap = `vehicle = "v"
[time]
base = "pos"
[[channel]]
name = "x"
topic = "pos"
field = "v"
role = "state"
[[channel]]
name = "a"
topic = "turn"
instance = 0
field = "v[1]"
role = "state"
[[channel]]
name = "u"
topic = "cmd"
field = "v"
role = "input"
`

// noted writes a note as PX4 does.
func noted(n changes.Note) []byte {
	b := &builder{}
	us := le64(uint64(n.Stamp))
	switch n.What {
	case changes.State:
		b.data(0, us, le32f(float32(n.I)))
	case changes.Turn:
		b.data(1, us, le32f(7), le32f(2*float32(n.I)))
	case changes.Command:
		b.data(2, us, le32f(float32(n.I)))
	case changes.Other:
		b.data(3, le64(uint64(n.Stamp)+3), le32f(7), le32f(-1))
	case changes.Unknown:
		b.record('Z', []byte("of a later version"))
	case changes.Setting:
		b.record('P', append([]byte{12}, "int32_t LATE"...), []byte{1, 0, 0, 0})
		b.record('L', []byte{'6'}, us, []byte("[commander] Takeoff detected"))
	case changes.Define:
		b.format("later:uint64_t timestamp;float v;").subscribe(9, 0, "later").data(9, us, le32f(1))
		b.subscribe(0, 0, "pos").record('O', []byte{5, 0})
	}
	return b.Bytes()
}

// What happens to PX4's logs, two at a time.
func TestChangedLogs(t *testing.T) {
	changes.Pairs(t, &changes.Format{
		Name: "ulog", Map: changedMap, Open: telemetry.Opens(ulog.Open), Write: noted,
		Head: func(changes.Note) []byte {
			b := newLog().format("pos:uint64_t timestamp;float v;").format("turn:uint64_t timestamp;float[2] v;").format("cmd:uint64_t timestamp;float v;")
			return b.subscribe(0, 0, "pos").subscribe(1, 0, "turn").subscribe(2, 0, "cmd").subscribe(3, 1, "turn").Bytes()
		},
	}, changes.Common(), nil)
}
