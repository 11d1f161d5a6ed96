package ardupilot_test

import (
	"testing"

	"github.com/dgm-robotics/dgm/bridge/ardupilot"
	"github.com/dgm-robotics/dgm/bridge/internal/changes"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

const changedMap = `vehicle = "v"
[time]
base = "POS"
[[channel]]
name = "x"
topic = "POS"
field = "V"
role = "state"
[[channel]]
name = "a"
topic = "TRN"
instance = 0
field = "V"
role = "state"
[[channel]]
name = "u"
topic = "CMD"
field = "V"
role = "input"
`

// defined describes the records, at a time in µs.
func defined(us int64) *builder {
	b := &builder{}
	b.format(128, 89, "FMT", "BBnNZ", "Type,Length,Name,Format,Columns")
	b.format(10, 3+8+1+64, "UNIT", "QbZ", "TimeUS,Id,Label").format(12, 3+8+1+16+16, "FMTU", "QBNN", "TimeUS,FmtType,UnitIds,MultIds")
	b.format(30, 15, "POS", "Qf", "TimeUS,V").format(31, 16, "TRN", "QBf", "TimeUS,C,V").format(32, 15, "CMD", "Qf", "TimeUS,V")
	b.format(33, 31, "PARM", "QNf", "TimeUS,Name,Value")
	b.record(10, uint64(us), byte('#'), chars("instance", 64)).record(12, uint64(us), byte(31), chars("s#-", 16), chars("F--", 16))
	return b
}

// noted writes a note as ArduPilot does.
func noted(n changes.Note) []byte {
	b := &builder{}
	us, v := uint64(n.Stamp), float32(n.I)
	switch n.What {
	case changes.State:
		b.record(30, us, v)
	case changes.Turn:
		b.record(31, us, byte(0), 2*v)
	case changes.Command:
		b.record(32, us, v)
	case changes.Other:
		b.record(31, us+3, byte(1), float32(-1))
	case changes.Unknown:
		b.format(50, 12, "NEW", "Qy", "TimeUS,V").record(50, us, byte(9)) // a kind of field of a later version
	case changes.Setting:
		b.record(33, us, chars("LATE", 16), v)
	case changes.Define:
		b = defined(n.Stamp)
	}
	return b.Bytes()
}

// What happens to ArduPilot's logs, two at a time.
func TestChangedLogs(t *testing.T) {
	late := changes.Change{Name: "begun in flight", Apply: func(n []changes.Note) []changes.Note {
		first := n[0]
		first.What = changes.Define
		return append([]changes.Note{first}, n...)
	}}
	changes.Pairs(t, &changes.Format{
		Name: "ardupilot", Map: changedMap, Open: telemetry.Opens(ardupilot.Open), Write: noted,
		Head: func(n changes.Note) []byte { return defined(n.Stamp).Bytes() },
	}, append(changes.Common(), late), nil)
}
