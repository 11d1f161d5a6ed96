package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/ulog"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// px4Start is what PX4's clock shows when the log begins, µs.
const px4Start = 200_000_000

// px4Log is the log that PX4 would write of a flight: topics of release 1.14 in
// different rates and phases, each stamped when it was measured and, 3 ms later, when
// it was published.
func px4Log(flight []moment) []byte {
	return px4LogOf(flight, func(int) (valid, resets uint8) { return 1, 0 })
}

// px4LogOf is px4Log of an estimator that says whether it knows the horizontal position, and
// how often it has set it anew, at a time in ms.
func px4LogOf(flight []moment, says func(ms int) (valid, resets uint8)) []byte {
	var b bytes.Buffer
	record := func(kind byte, parts ...any) { writeULog(&b, kind, parts...) }
	f32 := func(v ...float64) []float32 {
		out := make([]float32, len(v))
		for i := range v {
			out[i] = float32(v[i])
		}
		return out
	}
	b.Write(ulog.Magic)
	b.WriteByte(1)
	b.Write(binary.LittleEndian.AppendUint64(nil, px4Start))
	record('B', make([]byte, 40))
	record('I', uint8(len("char[3] sys_name")), "char[3] sys_name", "PX4")
	const when = "uint64_t timestamp;uint64_t timestamp_sample;"
	topics := []struct{ name, fields string }{
		{"vehicle_local_position", when + "uint64_t ref_timestamp;double ref_lat;double ref_lon;float x;float y;float z;float vx;float vy;float vz;float heading;bool xy_valid;bool z_valid;uint8_t xy_reset_counter;uint8_t[1] _padding0;"},
		{"vehicle_attitude", when + "float[4] q;float[4] delta_q_reset;uint8_t quat_reset_counter;uint8_t[7] _padding0;"},
		{"vehicle_angular_velocity", when + "float[3] xyz;float[3] xyz_derivative;"},
		{"actuator_motors", when + "float[12] control;uint16_t reversible_flags;uint8_t[6] _padding0;"},
		{"vehicle_status", "uint64_t timestamp;uint64_t armed_time;uint8_t arming_state;uint8_t nav_state;"},
		{"vehicle_land_detected", "uint64_t timestamp;bool freefall;bool ground_contact;bool maybe_landed;bool landed;"},
		{"battery_status", "uint64_t timestamp;float voltage_v;float current_a;uint8_t cell_count;"},
	}
	for _, topic := range topics {
		record('F', topic.name+":"+topic.fields)
	}
	record('P', uint8(len("int32_t SYS_AUTOSTART")), "int32_t SYS_AUTOSTART", int32(4001))
	for id, topic := range topics {
		record('A', uint8(0), uint16(id), topic.name)
	}
	for ms := range len(flight) + 2000*ground {
		m, air := at(flight, ms), flying(flight, ms)
		sample := uint64(px4Start + 1000*ms)
		if ms%20 == 0 { // 50 Hz
			valid, resets := says(ms)
			record('D', uint16(0), sample+3000, sample, uint64(0), 47.39, 8.54, f32(m.x[0], m.x[1], m.x[2], m.v[0], m.v[1], m.v[2], m.e[2]), valid, uint8(1), resets)
		}
		if ms%5 == 2 { // 200 Hz
			q := frames.FromEuler(m.e)
			record('D', uint16(1), sample+3000, sample, f32(q[:]...), make([]byte, 16+1))
		}
		if ms%4 == 3 { // 250 Hz
			record('D', uint16(2), sample+3000, sample, f32(m.w[:]...), make([]byte, 12))
		}
		if ms%4 == 1 {
			control := f32(m.command[0], m.command[1], m.command[2], m.command[3], 0, 0, 0, 0, 0, 0, 0, 0)
			for i := 4; i < 12; i++ {
				control[i] = float32(math.NaN())
			}
			record('D', uint16(3), sample, uint64(0), control, uint16(0))
		}
		if ms%500 == 0 || ms == 1000*ground-500 || ms == 1000*ground+len(flight) {
			// Armed half a second before it takes off.
			armed := uint8(1)
			if air || ms >= 1000*ground-500 && ms < 1000*ground {
				armed = 2
			}
			record('D', uint16(4), sample, uint64(0), armed, uint8(3))
		}
		if ms%1000 == 0 || ms == 1000*ground || ms == 1000*ground+len(flight) {
			landed := uint8(1)
			if air {
				landed = 0
			}
			record('D', uint16(5), sample, uint8(0), landed, landed, landed)
		}
		if ms%1000 == 7 {
			record('D', uint16(6), sample, f32(11.8-1e-6*float64(ms), 3), uint8(3))
		}
		if ms == 1500 {
			record('L', "6", sample, "[commander] Armed by internal command")
		}
	}
	return b.Bytes()
}

// A flight as PX4 logs it comes back by the preset as it was flown: at the times of
// measurement, in PX4's axes and in ROS's, without what was on the ground.
func TestFlownPX4(t *testing.T) {
	keepFlown(t, ".ulg", px4Log)
	flight := fly(t, flownSeconds, 7, false)
	log := write(t, filepath.Join(t.TempDir(), "a.ulg"), px4Log(flight))
	for _, axes := range []string{"ned-frd", "enu-flu"} {
		out, report := importFlown(t, "ulog", "px4-quadrotor", log, "--frames", axes)
		for _, want := range []string{
			"rows have the timestamps of vehicle_local_position, 50 Hz", "roll, pitch, yaw: from vehicle_attitude, 200 Hz, interpolated in",
			"p, q, r: from vehicle_angular_velocity, 250 Hz, interpolated in", "m1, m2, m3, m4: from actuator_motors, 250 Hz, held in", "300 rows on the ground or disarmed left out",
		} {
			if !strings.Contains(report, want) {
				t.Errorf("%s: no %q in\n%s", axes, want, report)
			}
		}
		e, rows := compareFlown(t, out, flight, px4Start*1000, axes == "enu-flu", func(ms int, u []float64) {
			// What was sent last: at 1, 5, 9 … ms.
			for k, v := range at(flight, ms-(ms+3)%4).command {
				if u[k] != float64(float32(v)) {
					t.Fatalf("%d ms: motor %d is commanded %v, was commanded %v", ms, k+1, u[k], v)
				}
			}
		})
		t.Logf("%s: %d rows, %+v", axes, rows, e)
		if rows != 50*flownSeconds {
			t.Errorf("%s: %d rows of %d s at 50 Hz", axes, rows, flownSeconds)
		}
		// Positions and velocities lose only what does not fit into 32 bits; the others
		// are interpolated over 4 and 5 ms, in which they hardly bend.
		if e.x > 1e-6 || e.v > 1e-6 || e.angle > 1e-4 || e.w > 2e-3 {
			t.Errorf("%s: %+v", axes, e)
		}
	}
}

// Positions that PX4 declares invalid are not taken for measured, and a position that it
// sets anew begins a segment; indoors the log has no position, and the suggestion says so.
func TestPX4Validity(t *testing.T) {
	flight := fly(t, 10, 7, false)
	dir := t.TempDir()
	outdoors := write(t, filepath.Join(dir, "a.ulg"), px4LogOf(flight, func(ms int) (valid, resets uint8) {
		if ms >= 8000 {
			resets = 1
		}
		if ms < 5000 {
			return 0, resets
		}
		return 1, resets
	}))
	out, report := importFlown(t, "ulog", "px4-quadrotor", outdoors)
	for _, want := range []string{
		"x, y not measured in 250 of 800 messages of vehicle_local_position: xy_valid of vehicle_local_position is not 1",
		"the robot's estimator reset its state 1 time; a segment begins at each",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in\n%s", want, report)
		}
	}
	log, err := flightlog.ReadFile(out)
	if err != nil || len(log.Segments) != 2 || len(channel.Select(log.Channels, channel.State)) != 12 {
		t.Fatalf("%v, %d segments, %v", err, len(log.Segments), channel.Names(log.Channels))
	}
	for i := range log.Segments[0].T {
		ms := (log.Segments[0].T[i] - px4Start*1000) / 1e6
		if x := log.Segments[0].X[12*i]; math.IsNaN(x) != (ms < 5000) {
			t.Fatalf("%d ms: x is %v", ms, x)
		}
	}

	indoors := write(t, filepath.Join(dir, "b.ulg"), px4LogOf(flight, func(int) (valid, resets uint8) { return 0, 0 }))
	out, report = importFlown(t, "ulog", "px4-quadrotor", indoors)
	if log, err = flightlog.ReadFile(out); err != nil || channel.Index(log.Channels, "x") >= 0 || channel.Index(log.Channels, "z") < 0 ||
		!strings.Contains(report, "x, y left out, never valid in the rows that are kept: xy_valid of vehicle_local_position is not 1 (x, y)") {
		t.Errorf("%v, %v\n%s", err, channel.Names(log.Channels), report)
	}
	if code, text, errs := run("topics", indoors, "--suggest"); code != cli.Done || !strings.Contains(text, "# The preset px4-quadrotor fits this log but for x, y, which are never valid") {
		t.Errorf("exit %d, %s, %s", code, errs, text[:min(len(text), 300)])
	}
}
