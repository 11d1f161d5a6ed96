package ulog_test

import (
	"bytes"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/bridge/ulog"
)

// The settings of the robot are handed on, whole numbers and others.
func TestSettings(t *testing.T) {
	key := func(text string, value []byte) []byte {
		return append(append([]byte{byte(len(text))}, text...), value...)
	}
	log := newLog().record('P', key("int32_t CA_ROTOR_COUNT", []byte{6, 0, 0, 0})).record('P', key("float MPC_THR_HOVER", le32f(0.5))).record('P', key("int32_t SHORT", []byte{1}))
	got := map[string]float64{}
	r := ulog.NewReader("a.ulg", bytes.NewReader(log.Bytes()), telemetry.Wants{Parameter: func(name string, v float64) { got[name] = v }})
	for {
		if _, err := r.Next(); err != nil {
			break
		}
	}
	if len(got) != 2 || got["CA_ROTOR_COUNT"] != 6 || got["MPC_THR_HOVER"] != 0.5 {
		t.Error(got, r.Problems().All())
	}
}
