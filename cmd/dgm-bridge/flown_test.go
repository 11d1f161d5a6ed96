package main

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/cmd/internal/cli"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
	"github.com/dgm-robotics/dgm/firmware-sim/plant"
	"github.com/dgm-robotics/dgm/firmware-sim/robot"
)

// keep is where autopilots' logs of flights with the noise of sensors are left, to be
// trained on: go test ./cmd/dgm-bridge -run Flown -keep logs
var keep = flag.String("keep", "", "folder in which the simulated logs of autopilots are left")

const (
	flownSeconds = 40
	maxForce     = 0.6 // N, of a rotor at full throttle
	ground       = 3   // s on the ground before the flight, and after it
)

// moment is what a simulated quadrotor does in one millisecond, axes ned and frd.
type moment struct {
	x, v    [3]float64 // m, m/s in ned
	e       [3]float64 // roll, pitch, yaw, rad
	w       [3]float64 // rad/s in frd
	command [4]float64 // share of the full throttle, held from then on
}

// fly flies between waypoints, a moment each millisecond.
func fly(t *testing.T, seconds int, seed uint64, noisy bool) []moment {
	t.Helper()
	c := robot.Typical(plant.QuadrotorFlown())
	c.Rate, c.Seed = 1000, seed
	if !noisy {
		c.Noise = nil
	}
	r := robot.New(c)
	r.Start(0, 0)
	out := make([]moment, seconds*1000)
	for i := range out {
		s, ok := r.Sample()
		if !ok {
			t.Fatal("the simulated robot is lost")
		}
		m := &out[i]
		// The plant: u v w, p q r, phi theta psi, x y z, with z up and a body that points down.
		m.w, m.e = [3]float64(s.X[3:]), [3]float64(s.X[6:])
		m.x = [3]float64{s.X[9], s.X[10], -s.X[11]}
		sf, cf := math.Sincos(m.e[0])
		st, ct := math.Sincos(m.e[1])
		sp, cp := math.Sincos(m.e[2])
		u, v, w := s.X[0], s.X[1], s.X[2]
		m.v = [3]float64{
			ct*cp*u + (sf*st*cp-cf*sp)*v + (cf*st*cp+sf*sp)*w,
			ct*sp*u + (sf*st*sp+cf*cp)*v + (cf*st*sp-sf*cp)*w,
			-st*u + sf*ct*v + cf*ct*w,
		}
		for k, f := range s.U {
			m.command[k] = f / maxForce
		}
		if !r.Step() {
			t.Fatal("the simulated robot is lost")
		}
	}
	return out
}

// at returns what the robot does at a time from its start, ms: before and after the
// flight it rests where it began and ended.
func at(flight []moment, ms int) *moment {
	m := flight[min(max(ms-1000*ground, 0), len(flight)-1)]
	if ms < 1000*ground || ms >= 1000*ground+len(flight) {
		m.v, m.w, m.command = [3]float64{}, [3]float64{}, [4]float64{}
	}
	return &m
}

// flying reports whether the robot is in the air.
func flying(flight []moment, ms int) bool {
	return ms >= 1000*ground && ms < 1000*ground+len(flight)
}

// inENU is what a moment is in enu and flu: written out, not taken from what is tested.
func (m *moment) inENU() *moment {
	yaw := math.Remainder(math.Pi/2-m.e[2], 2*math.Pi)
	return &moment{
		x: [3]float64{m.x[1], m.x[0], -m.x[2]}, v: [3]float64{m.v[1], m.v[0], -m.v[2]},
		e: [3]float64{m.e[0], -m.e[1], yaw}, w: [3]float64{m.w[0], -m.w[1], -m.w[2]}, command: m.command,
	}
}

// flownErrors are the largest differences of an imported flight from the simulated one.
type flownErrors struct {
	x, v, w float64 // m, m/s, rad/s
	angle   float64 // rad, of the turn between attitudes
}

// compareFlown compares an imported log with the flight, whose time began at start, ns;
// command checks the inputs of a row.
func compareFlown(t *testing.T, path string, flight []moment, start int64, enu bool, command func(ms int, u []float64)) (e flownErrors, rows int) {
	t.Helper()
	log, err := flightlog.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	states, inputs := channel.Select(log.Channels, channel.State), channel.Select(log.Channels, channel.Input)
	names := make([]string, len(states))
	for i := range states {
		names[i] = states[i].Name
	}
	if got := strings.Join(names, " "); got != "x y z vx vy vz roll pitch yaw p q r" || len(inputs) != 4 || len(log.Segments) != 1 {
		t.Fatalf("states %s, %d inputs, %d segments", got, len(inputs), len(log.Segments))
	}
	for i, want := range []string{"m", "m", "m", "m/s", "m/s", "m/s", "rad", "rad", "rad", "rad/s", "rad/s", "rad/s"} {
		if states[i].Unit != want {
			t.Errorf("%s is in %q, not %s", states[i].Name, states[i].Unit, want)
		}
	}
	if log.Kinematics.Relation != channel.Quadrotor || len(log.Kinematics.Position) != 3 || len(log.Kinematics.Attitude) != 3 {
		t.Errorf("kinematics %+v: the data show both", log.Kinematics)
	}
	s := &log.Segments[0]
	for i, at1 := range s.T {
		ms := int((at1 - start) / 1e6)
		if (at1-start)%1e6 != 0 || !flying(flight, ms) {
			t.Fatalf("row %d at %d ns: not a time of the flight", i, at1-start)
		}
		m := at(flight, ms)
		if enu {
			m = m.inENU()
		}
		x := s.X[12*i : 12*i+12]
		for k := range 3 {
			e.x = max(e.x, math.Abs(x[k]-m.x[k]))
			e.v = max(e.v, math.Abs(x[3+k]-m.v[k]))
			e.w = max(e.w, math.Abs(x[9+k]-m.w[k]))
		}
		turn := frames.Mul(frames.FromEuler([3]float64(x[6:9])).Conj(), frames.FromEuler(m.e))
		e.angle = max(e.angle, 2*math.Hypot(math.Hypot(turn[1], turn[2]), turn[3]))
		command(ms, s.U[4*i:4*i+4])
	}
	return e, len(s.T)
}

// write writes an autopilot's log.
func write(t *testing.T, path string, log []byte) string {
	t.Helper()
	if err := os.WriteFile(path, log, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// importFlown imports a log by a preset.
func importFlown(t *testing.T, format, preset, log string, more ...string) (out, report string) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "flight.msgpack")
	code, report, errs := run(append([]string{"import", format, "--preset", preset, log, "--out", out}, more...)...)
	if code != cli.Done || errs != "" {
		t.Fatalf("exit %d, %s", code, errs)
	}
	return out, report
}

// keepFlown leaves two flights with the noise of sensors in the folder of -keep.
func keepFlown(t *testing.T, ext string, log func([]moment) []byte) {
	for name, seed := range map[string]uint64{"train": 1, "held-out": 2} {
		if *keep != "" {
			write(t, filepath.Join(*keep, name+ext), log(fly(t, 2*flownSeconds, seed, true)))
		}
	}
}
