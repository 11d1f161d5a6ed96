package mcap_test

import (
	"context"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mcap"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// fly imports a drive by a preset.
func fly(t *testing.T, preset string) (*flightlog.Log, *importer.Summary) {
	t.Helper()
	return imported(t, preset, drive(t, 500, ways["zstd"], "ros2msg"))
}

// imported is what a preset makes of a recording.
func imported(t *testing.T, preset string, recording []byte) (*flightlog.Log, *importer.Summary) {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "a.mcap"), filepath.Join(dir, "f.msgpack")
	if err := os.WriteFile(in, recording, 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := importer.Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	s, err := importer.Import(context.Background(), importer.Job{Format: "mcap", Map: m, Inputs: []string{in}, Out: out,
		Open: func(path string, w telemetry.Wants) (telemetry.Source, error) { return mcap.Open(path, w) }})
	if err != nil {
		t.Fatal(err)
	}
	log, err := flightlog.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return log, s
}

func TestOdometryPreset(t *testing.T) {
	log, s := fly(t, "ros2-odometry")
	if names := strings.Join(channel.Names(log.Channels), " "); names != "x y yaw r cmd_vx cmd_r" {
		t.Fatalf("channels %s; z, roll and what else does not vary should be left out", names)
	}
	seg := log.Segments[0]
	if len(seg.T) != 500 || log.Channels[2].Period != 2*math.Pi || log.Channels[0].Frame != "enu" || !log.Channels[0].Invariant {
		t.Errorf("%d rows, %+v", len(seg.T), log.Channels)
	}
	for i, at := range seg.T {
		x := seg.X[4*i : 4*i+4]
		if d := math.Remainder(x[2]-yaw(i), 2*math.Pi); at != 1.7e18+int64(i)*20e6 || math.Abs(d) > 1e-9 || math.Abs(x[1]-4*(1-math.Cos(yaw(i)))) > 1e-9 {
			t.Fatalf("row %d at %d: %v", i, at, x)
		}
		// Recorded 5 ms after the stamp of the odometry, and without one of its own.
		if want := 2 + float64((i-1)/10*10%3); i > 0 && seg.U[2*i] != want {
			t.Fatalf("row %d: command %v, want %v", i, seg.U[2*i:2*i+2], want)
		}
	}
	remarks := strings.Join(s.Texts(), "\n")
	for _, want := range []string{"one value throughout", "clock /odom is the recorder's, shortest delay 0.005 s", "rows have the timestamps of /odom, 50 Hz"} {
		if !strings.Contains(remarks, want) {
			t.Errorf("no %q in\n%s", want, remarks)
		}
	}
}

// A robot that moves in all directions moves by its velocities and rates. One that
// gives its velocity in axes of the world, against the convention, loses that relation,
// which is reported, and keeps the other.
func TestOdometryPresetDeclaresKinematics(t *testing.T) {
	log, s := imported(t, "ros2-odometry", record(t, 1000, ways["zstd"], "ros2msg", func(i int) []byte { return helix(i, true) }))
	if k := log.Kinematics; len(k.Position) != 3 || !k.InBody || k.Velocity[0] != "vx" || len(k.Rates) != 3 {
		t.Errorf("%s\n%s", k.String(), strings.Join(s.Texts(), "\n"))
	}
	log, s = imported(t, "ros2-odometry", record(t, 1000, ways["zstd"], "ros2msg", func(i int) []byte { return helix(i, false) }))
	remarks := strings.Join(s.Texts(), "\n")
	if k := log.Kinematics; k.Position != nil || k.InBody || len(k.Attitude) != 3 || !strings.Contains(remarks, "kinematics only of roll, pitch, yaw by p, q, r: the data contradict it") {
		t.Errorf("in axes of the world: %s\n%s", k.String(), remarks)
	}
}

// A covariance of −1 says that a publisher does not know the values: what it writes there is
// no measurement.
func TestUnknownCovariance(t *testing.T) {
	const pose, twist = 288 + 48 + 288, 288 // from the end of the message
	unknown := func(from, to, back int) []byte {
		return record(t, 1000, ways["zstd"], "ros2msg", func(i int) []byte {
			b := helix(i, true)
			if i >= from && i < to {
				binary.LittleEndian.PutUint64(b[len(b)-back:], math.Float64bits(-1))
			}
			return b
		})
	}
	log, s := imported(t, "ros2-odometry", unknown(300, 600, pose))
	at := channel.Index(log.Channels, "x")
	for i := range log.Segments[0].T {
		if x := log.Segments[0].X[12*i:][:12]; math.IsNaN(x[at]) != (i >= 300 && i < 600) || math.IsNaN(x[channel.Index(log.Channels, "vx")]) {
			t.Fatalf("row %d: %v", i, x)
		}
	}
	if remarks := strings.Join(s.Texts(), "\n"); !strings.Contains(remarks, "x, y, z not measured in 300 of 1000 messages of /odom: pose.covariance[0] of /odom is not above -0.5") {
		t.Error(remarks)
	}
	log, s = imported(t, "ros2-odometry", unknown(0, 1000, twist))
	if names := strings.Join(channel.Names(channel.Select(log.Channels, channel.State)), " "); names != "x y z roll pitch yaw" {
		t.Errorf("%s\n%s", names, strings.Join(s.Texts(), "\n"))
	}
}

func TestJointStatesPreset(t *testing.T) {
	log, s := fly(t, "joint-states")
	if names := strings.Join(channel.Names(log.Channels), " "); names != "shoulder elbow shoulder_velocity elbow_velocity" {
		t.Fatalf("channels %s", names)
	}
	if log.Channels[0].Derivative != "shoulder_velocity" || log.Channels[1].Derivative != "elbow_velocity" || len(s.Found) != 2 {
		t.Errorf("%+v, found %+v", log.Channels, s.Found)
	}
	if x := log.Segments[0].X[4*100:][:4]; math.Abs(x[1]-math.Cos(4)) > 1e-6 {
		t.Error(x)
	}
}
