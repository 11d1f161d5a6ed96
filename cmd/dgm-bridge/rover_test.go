package main

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// withSettings is a DataFlash log with settings of the robot at its end.
func withSettings(log []byte, names []string, values []float32) []byte {
	b := bytes.NewBuffer(slices.Clone(log))
	record := func(parts ...any) {
		for _, p := range parts {
			if err := binary.Write(b, binary.LittleEndian, p); err != nil {
				panic(err)
			}
		}
	}
	text := func(s string, n int) []byte { return append([]byte(s), make([]byte, n)...)[:n] }
	record([]byte{0xA3, 0x95, 128, 27, 3 + 8 + 16 + 4}, text("PARM", 4), text("QNf", 16), text("TimeUS,Name,Value", 64))
	for i, n := range names {
		record([]byte{0xA3, 0x95, 27}, uint64(copterStart), text(n, 16), values[i])
	}
	return b.Bytes()
}

// The servos of rovers, boats and planes have the names of their functions, wherever the settings have them.
func TestServosByTheirFunctions(t *testing.T) {
	flight := fly(t, flownSeconds, 8, false)
	whole := copterLog(flight)
	states := []string{"x", "y", "z", "vx", "vy", "vz", "roll", "pitch", "yaw", "p", "q", "r"}
	for _, c := range []struct {
		preset  string
		names   []string
		values  []float32
		inputs  []string
		outputs []int // of which motor's commands the log has
	}{
		{"ardupilot-rover", []string{"SERVO1_FUNCTION", "SERVO3_FUNCTION", "SERVO4_FUNCTION"}, []float32{26, 70, 1}, []string{"steering", "throttle"}, []int{0, 2}},
		{"ardupilot-rover", []string{"SERVO2_FUNCTION", "SERVO4_FUNCTION"}, []float32{74, 73}, []string{"throttle_left", "throttle_right"}, []int{3, 1}},
		{"ardupilot-plane", []string{"SERVO1_FUNCTION", "SERVO2_FUNCTION", "SERVO3_FUNCTION", "SERVO4_FUNCTION"}, []float32{4, 19, 70, 21}, []string{"aileron", "elevator", "throttle", "rudder"}, []int{0, 1, 2, 3}},
		{"ardupilot-plane", []string{"SERVO2_FUNCTION", "SERVO10_FUNCTION", "SERVO4_FUNCTION", "SERVO3_FUNCTION"}, []float32{4, 4, 19, 70}, []string{"aileron", "elevator", "throttle"}, []int{1, 3, 2}},
		{"ardupilot-plane", nil, nil, []string{"aileron", "elevator", "throttle", "rudder"}, []int{0, 1, 2, 3}},
		{"ardupilot-plane", []string{"SERVO1_FUNCTION", "SERVO2_FUNCTION", "SERVO3_FUNCTION"}, []float32{77, 78, 70}, []string{"throttle", "elevon_left", "elevon_right"}, []int{2, 0, 1}},
		{"ardupilot-plane", []string{"SERVO1_FUNCTION", "SERVO2_FUNCTION", "SERVO3_FUNCTION", "SERVO4_FUNCTION"}, []float32{24, 25, 73, 74}, []string{"flaperon_left", "flaperon_right", "throttle_left", "throttle_right"}, []int{0, 1, 2, 3}},
		{"ardupilot-plane", []string{"SERVO1_FUNCTION", "SERVO2_FUNCTION", "SERVO3_FUNCTION", "SERVO4_FUNCTION"}, []float32{2, 3, 19, 70}, []string{"elevator", "throttle", "flap", "flap_auto"}, []int{2, 3, 0, 1}},
		{"ardupilot-sub", []string{"SERVO1_FUNCTION", "SERVO2_FUNCTION", "SERVO3_FUNCTION", "SERVO4_FUNCTION", "FRAME_CONFIG"}, []float32{36, 35, 34, 33, 5}, []string{"m1", "m2", "m3", "m4"}, []int{3, 2, 1, 0}},
	} {
		path := write(t, filepath.Join(t.TempDir(), "a.BIN"), withSettings(whole, c.names, c.values))
		out, _ := importFlown(t, "ardupilot", c.preset, path, "--frames", "ned-frd")
		log, err := flightlog.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(states, channel.Names(channel.Select(log.Channels, channel.State))); d != "" {
			t.Errorf("%s: %s", c.preset, d)
		}
		inputs := channel.Select(log.Channels, channel.Input)
		if d := cmp.Diff(c.inputs, channel.Names(inputs)); d != "" {
			t.Fatalf("%s: %s", c.preset, d)
		}
		ms := 1000 * ground // the first row behind
		seen := false
		for _, s := range log.Segments {
			for i := range s.T {
				at0 := int((s.T[i] - copterStart*1000) / 1e6)
				if at0 < ms+1000 || seen {
					continue
				}
				seen = true
				for k, motor := range c.outputs {
					if got, want := s.U[i*len(inputs)+k], float64(width(at(flight, at0-(at0+19)%20).command[motor])); got != want {
						t.Errorf("%s: %s is %v, expected %v", c.preset, c.inputs[k], got, want)
					}
				}
			}
		}
		if !seen {
			t.Errorf("%s: no row", c.preset)
		}
	}
}

// A map like a preset has its states, and says its own inputs.
func TestAMapLikeAPreset(t *testing.T) {
	dir := t.TempDir()
	flight := write(t, filepath.Join(dir, "a.BIN"), copterLog(fly(t, flownSeconds, 8, false)))
	good := "like = \"ardupilot-copter\"\nvehicle = \"mine\"\n[[channel]]\nnames = [\"left\", \"right\"]\ntopic = \"RCOU\"\nfields = [\"C1\", \"C2\"]\nunit = \"us\"\nrole = \"input\"\n"
	m := write(t, filepath.Join(dir, "map.toml"), []byte(good))
	out := filepath.Join(dir, "o.msgpack")
	if code, _, errs := run("import", "ardupilot", "--map", m, flight, "--out", out); code != 0 {
		t.Fatal(errs)
	}
	log, err := flightlog.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(channel.Names(log.Channels), " "); !strings.HasPrefix(got, "x y z vx vy vz roll pitch yaw p q r") || !strings.Contains(got, "left right") || strings.Contains(got, "m1") || log.Vehicle != "mine" {
		t.Errorf("%s: %s", log.Vehicle, got)
	}
	write(t, m, []byte(strings.Replace(good, "ardupilot-copter", "ardupilot-bicycle", 1)))
	if code, _, errs := run("import", "ardupilot", "--map", m, flight, "--out", out); code == 0 || !strings.Contains(errs, `there is no preset "ardupilot-bicycle"`) {
		t.Errorf("%d: %s", code, errs)
	}
	write(t, m, []byte(strings.Replace(good, "ardupilot-copter", "ardupilot-rover", 1)))
	if code, _, errs := run("import", "ardupilot", "--map", m, flight, "--out", out); code == 0 || !strings.Contains(errs, "is like another one itself") {
		t.Errorf("%d: %s", code, errs)
	}
}
