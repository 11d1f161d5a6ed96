package mavlink_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"

	"github.com/dgm-robotics/dgm/bridge/mavlink"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// A counter of µs in 32 bits wraps each 71.6 minutes: its times go on beside those of the
// counter of ms, after a start of the autopilot as well.
func TestCountersThatWrap(t *testing.T) {
	var s station
	for i := range 200 {
		ms := uint32(3*4294967 - 1000 + 20*i) // the third wrap is near
		if i >= 150 {
			ms = uint32(20 * (i - 149))
		}
		s.packet(t, 20*i, 2, 1, 1, &common.MessageAttitude{TimeBootMs: ms})
		s.packet(t, 20*i+1, 2, 1, 1, &common.MessageServoOutputRaw{TimeUsec: uint32(uint64(ms)*1000 + 500)})
	}
	r := mavlink.NewTlog("a.tlog", bytes.NewReader(s.Bytes()), telemetry.Wants{})
	var attitude int64
	n := 0
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if m.Topic.Name == "ATTITUDE" {
			attitude = m.Time
			continue
		}
		if n++; m.Time != attitude+500_000 || !m.Stamped {
			t.Fatalf("message %d: %d beside %d", n, m.Time, attitude)
		}
	}
	if n != 200 {
		t.Error(n)
	}
}

// The settings of the autopilot are handed on, and not those of others.
func TestSettings(t *testing.T) {
	var s station
	s.packet(t, 0, 2, 1, 1, &common.MessageParamValue{ParamId: "SERVO9_FUNCTION", ParamValue: 33})
	s.packet(t, 1, 2, 1, 100, &common.MessageParamValue{ParamId: "CAM", ParamValue: 1})
	got := map[string]float64{}
	r := mavlink.NewTlog("a.tlog", bytes.NewReader(s.Bytes()), telemetry.Wants{Parameter: func(name string, v float64) { got[name] = v }})
	for {
		if _, err := r.Next(); err != nil {
			break
		}
	}
	if len(got) != 1 || got["SERVO9_FUNCTION"] != 33 {
		t.Error(got)
	}
}
