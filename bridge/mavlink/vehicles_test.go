package mavlink_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mavlink"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// fleet is a log of a copter, system 3, and another vehicle, system 1, which is heard first and
// armed later; equal: the other one is a copter that sends the same.
func fleet(t *testing.T, equal bool) []byte {
	var s station
	boat := common.MAV_TYPE_SURFACE_BOAT
	if equal {
		boat = common.MAV_TYPE_QUADROTOR
	}
	s.packet(t, 0, 2, 1, 1, &common.MessageStatustext{Text: "ArduRover V4.5"})
	s.packet(t, 1, 2, 1, 1, &common.MessageParamValue{ParamId: "SERVO1_FUNCTION", ParamValue: 73})
	for i := range 200 {
		ms := uint32(9000 + 20*i)
		if i%20 == 0 {
			armed := common.MAV_MODE_FLAG(0)
			if i >= 100 {
				armed = common.MAV_MODE_FLAG_SAFETY_ARMED
			}
			s.packet(t, 20*i+2, 2, 1, 1, &common.MessageHeartbeat{Type: boat, BaseMode: armed})
			s.packet(t, 20*i+3, 2, 3, 1, &common.MessageHeartbeat{Type: common.MAV_TYPE_QUADROTOR, BaseMode: common.MAV_MODE_FLAG_SAFETY_ARMED})
		}
		s.packet(t, 20*i+4, 2, 1, 1, &common.MessageAttitude{TimeBootMs: ms + 77, Roll: -1 + 0.001*float32(i)})
		s.packet(t, 20*i+4, 2, 3, 1, &common.MessageAttitude{TimeBootMs: ms, Roll: 0.001 * float32(i)})
		for system := range byte(4) {
			if system == 3 || system == 1 && equal {
				s.packet(t, 20*i+5, 2, system, 1, &common.MessageLocalPositionNed{TimeBootMs: ms, X: float32(i) + 1000*float32(system)})
				s.packet(t, 20*i+5, 2, system, 1, &common.MessageServoOutputRaw{TimeUsec: ms * 1000, Servo1Raw: 1500 + uint16(i), Servo2Raw: 1500, Servo3Raw: 1500, Servo4Raw: 1400 + uint16(i)})
			}
		}
	}
	return s.Bytes()
}

// Of a log of several vehicles the one is read that the map fits, all of it: the settings, texts,
// kind and phases of others do not count. Where several fit the user selects.
func TestVehicles(t *testing.T) {
	for _, c := range []struct {
		equal  bool
		system string // selected
		x      float64
		says   string // in a remark or the error
	}{
		{false, "", 3000, "system=3 is read, system=1 left out"},
		{false, "3", 3000, ""},
		{true, "", 0, "messages of several vehicles: system=1 (600 messages), system=3 (600 messages)"},
		{true, "3", 3000, ""},
		{false, "1", 0, "type of HEARTBEAT is 11"},
		{false, "9", 0, "a.tlog has no messages of system=9"},
	} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, "a.tlog"), filepath.Join(dir, "out")
		if err := os.WriteFile(in, fleet(t, c.equal), 0o666); err != nil {
			t.Fatal(err)
		}
		m, err := importer.Preset("ardupilot-copter")
		if err != nil {
			t.Fatal(err)
		}
		if c.system != "" {
			m.Where = importer.Where{"system": c.system}
		}
		s, err := importer.Import(context.Background(), importer.Job{Format: "mavlink", Map: m, Inputs: []string{in}, Out: out, Open: telemetry.Opens(mavlink.Open)})
		if c.x == 0 {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		log, err := flightlog.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if said := strings.Join(s.Texts(), "\n"); !strings.Contains(said, c.says) || strings.Contains(said, "several vehicles") != (c.says != "") || s.Rows != 200 {
			t.Errorf("%+v: %d rows\n%s", c, s.Rows, said)
		}
		k := len(log.Segments[0].X) / len(log.Segments[0].T)
		for i := range log.Segments[0].T {
			if x := log.Segments[0].X[k*i]; x != c.x+float64(i) {
				t.Fatalf("%+v: row %d: %v", c, i, x)
			}
		}
	}
}
