package csv_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

const attitudeMap = `
vehicle = "quad1"
[time]
column = "t"
unit = "s"
[[attitude]]
columns = ["qx", "qy", "qz", "qw"]
order = "xyzw"
`

// spin writes a table of quaternions of a body that turns about its vertical axis,
// each with the sign of sign(i); row bad(i), unless "", in place of a row's cells.
func spin(n int, sign func(i int) float64, bad func(i int) string) string {
	var b strings.Builder
	b.WriteString("t,qw,qx,qy,qz\n")
	for i := range n {
		q := frames.FromEuler([3]float64{0.3, -0.5, 0.1 * float64(i)})
		s := sign(i)
		if text := bad(i); text != "" {
			fmt.Fprintf(&b, "%g,%s\n", 0.01*float64(i), text)
			continue
		}
		fmt.Fprintf(&b, "%g,%v,%v,%v,%v\n", 0.01*float64(i), 1.02*s*q[0], 1.02*s*q[1], 1.02*s*q[2], 1.02*s*q[3])
	}
	return b.String()
}

func TestAttitude(t *testing.T) {
	in, out := files(t, spin(200, func(i int) float64 { return float64(1 - 2*(i/7%2)) }, func(i int) string {
		switch i {
		case 50:
			return "0,0,0,0"
		case 51, 52:
			return "0.7,0.7,0.7,0.7"
		case 60:
			return ",0,0,1"
		}
		return ""
	}))
	s, err := importTables(context.Background(), parse(t, attitudeMap), in, out, nil)
	if err != nil {
		t.Fatal(err)
	}
	log, err := flightlog.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if c := log.Channels[2]; c.Name != "yaw" || c.Period != channel.Angle || c.Unit != "rad" || c.Role != channel.State {
		t.Errorf("%+v", c)
	}
	for i := range 200 {
		x := log.Segments[0].X[3*i : 3*i+3]
		if i >= 50 && i <= 52 || i == 60 {
			if !math.IsNaN(x[0]) || !math.IsNaN(x[1]) || !math.IsNaN(x[2]) {
				t.Errorf("row %d holds %v where there is no attitude", i, x)
			}
			continue
		}
		// three turns, unwrapped, whatever the signs
		if math.Abs(x[0]-0.3)+math.Abs(x[1]+0.5)+math.Abs(x[2]-0.1*float64(i)) > 1e-9 {
			t.Fatalf("row %d: %v", i, x)
		}
	}
	if all := strings.Join(s.Texts(), "\n"); !strings.Contains(all, `"roll, pitch, yaw" was not of length 1 in 3 of 200 rows`) || !strings.Contains(all, `"roll, pitch, yaw" was not measured in 1 of 200`) {
		t.Errorf("%q", s.Remarks)
	}
}

func TestAttitudeInOtherAxesAndUnits(t *testing.T) {
	in, out := files(t, spin(3, func(int) float64 { return 1 }, func(int) string { return "" }))
	m := parse(t, attitudeMap+"axes = \"ned-frd\"\nframes = \"enu-flu\"\nunit = \"deg\"\nnames = [\"a\", \"b\", \"c\"]\n")
	if _, err := importTables(context.Background(), m, in, out, nil); err != nil {
		t.Fatal(err)
	}
	log, err := flightlog.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	// Rolling is the same, nose down is positive, and yaw counts from the east, the other way.
	want := []float64{0.3, 0.5, math.Pi/2 - 0.2}
	for k, c := range log.Channels {
		if got := log.Segments[0].X[6+k]; math.Abs(got-want[k]*180/math.Pi) > 1e-9 || math.Abs(c.Period-360) > 1e-9 || c.Frame != "enu-flu" {
			t.Errorf("%s: %v, expected %v; %+v", c.Name, got, want[k]*180/math.Pi, c)
		}
	}
}

func TestAttitudeIsRefused(t *testing.T) {
	for _, c := range [][2]string{
		{`order = "zyx"`, `order "zyx" is not known`},
		{`order = "wxyz"` + "\n" + `columns = ["qw"]`, "1 columns, not four"},
		{`order = "matrix"`, "4 columns of a matrix, not nine"},
		{`order = "wxyz"` + "\n" + `names = ["a"]`, "1 names, not three"},
		{`order = "wxyz"` + "\n" + `axes = "ned"`, "ned-frd or enu-flu"},
		{`order = "wxyz"` + "\n" + `frames = "enu-flu"`, "without axes"},
		{`order = "wxyz"` + "\n" + `unit = "m"`, "not an angle's"},
		{`order = "wxyz"` + "\n" + `role = "pilot"`, `role "pilot"`},
	} {
		text := strings.Replace(attitudeMap, `order = "xyzw"`, c[0], 1)
		if strings.Contains(c[0], "columns") {
			text = strings.Replace(text, `columns = ["qx", "qy", "qz", "qw"]`+"\n", "", 1)
		}
		_, err := importer.ParseMap("map.toml", []byte(text))
		var e *mapfile.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v", c[0], err)
		}
	}
}

// TestKinematicsOfARecording: a Crazyflie's pitch has the sign of another body frame
// than its gyroscope; its quaternion has not.
func TestKinematicsOfARecording(t *testing.T) {
	input := filepath.Join("..", "..", "..", "shared", "data", "nanobench", "dev", "B3_figure8_fast_rep2.csv")
	if _, err := os.Stat(input); err != nil {
		t.Skip("the shared recording is not here: nanobench")
	}
	text, err := os.ReadFile(filepath.Join("testdata", "nanobench.toml"))
	if err != nil {
		t.Fatal(err)
	}
	logOf := func(text string) (*flightlog.Log, error) {
		out := filepath.Join(t.TempDir(), "flight.msgpack")
		if _, err := importTables(context.Background(), parse(t, text), []string{input}, out, nil); err != nil {
			return nil, err
		}
		return flightlog.ReadFile(out)
	}
	euler, err := logOf(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if k := euler.Kinematics; k.Relation != channel.Quadrotor || k.Attitude[1] != "-pitch" || k.Velocity[0] != "vx" {
		t.Errorf("%+v", k)
	}
	usual := strings.Replace(string(text), `"-pitch"`, `"pitch"`, 1)
	var e *mapfile.Error
	if _, err := logOf(usual); !errors.As(err, &e) || e.Field != "kinematics" || !strings.Contains(e.Reason, "pitch moves at -1.0") || !strings.Contains(e.Remedy, `"-pitch"`) {
		t.Errorf("%v", err)
	}
	// The quaternion in place of the three angles.
	parts := strings.Split(usual, "[[channel]]")
	var kept []string
	for _, p := range parts {
		if !strings.Contains(p, "att_stateEstimate") {
			kept = append(kept, p)
		}
	}
	quaternion, err := logOf(strings.Join(kept, "[[channel]]") + `
[[attitude]]
columns = ["att_stateEstimate_qw", "att_stateEstimate_qx", "att_stateEstimate_qy", "att_stateEstimate_qz"]
order = "wxyz"
axes = "enu-flu"
`)
	if err != nil {
		t.Fatal(err)
	}
	at := func(l *flightlog.Log, name string, i int) float64 {
		states := channel.Select(l.Channels, channel.State)
		return l.Segments[0].X[i*len(states)+channel.Index(states, name)]
	}
	for i := 0; i < len(euler.Segments[0].T); i += 10 {
		for _, name := range []string{"roll", "pitch", "yaw"} {
			sign := 1.0
			if name == "pitch" {
				sign = -1
			}
			if a, b := at(euler, name, i), sign*at(quaternion, name, i); math.Abs(a-b) > 2e-3 {
				t.Fatalf("row %d, %s: %v as an angle, %v by the quaternion", i, name, a, b)
			}
		}
	}
}

// A quaternion whose robot turns about y shows that y is up: position and attitude are read with z up. One that turns about z does not.
func TestYIsUp(t *testing.T) {
	for _, up := range []string{"y", "z"} {
		table := "time,pos_x,pos_y,pos_z,qw,qx,qy,qz,cmd\n"
		for i := range 600 {
			at := 0.02 * float64(i)
			yaw := 0.8*math.Sin(at) + 0.5*at
			p, q := [3]float64{math.Cos(at), math.Sin(1.3 * at), 0.2 * math.Sin(2*at)}, frames.FromEuler([3]float64{0, 0, yaw})
			if up == "y" {
				p, q = frames.Vector(p, frames.ENU, frames.EUS), frames.Quaternion{q[0], 0, q[3], 0}
			}
			table += fmt.Sprintf("%.2f,%.6f,%.6f,%.6f,%.8f,%.8f,%.8f,%.8f,%.2f\n", at, p[0], p[1], p[2], q[0], q[1], q[2], q[3], math.Cos(at))
		}
		log, _, text := suggested(t, "", table)
		if got := strings.Contains(text, `axes = "eus-fur"`) && strings.Contains(text, `axes = "eus"`); got != (up == "y") {
			t.Errorf("%s is up:\n%s", up, text)
		}
		names := channel.Names(channel.Select(log.Channels, channel.State))
		want := map[string]float64{"pos_x": math.Cos(8), "pos_y": math.Sin(1.3 * 8), "pos_z": 0.2 * math.Sin(16), "yaw": 0.8*math.Sin(8) + 4}
		for i, name := range names {
			if w, ok := want[name]; ok && math.Abs(log.Segments[0].X[400*len(names)+i]-w) > 1e-5 {
				t.Errorf("%s is up: %s is %g, want %g", up, name, log.Segments[0].X[400*len(names)+i], w)
			}
			delete(want, name)
		}
		if len(want) > 0 {
			t.Errorf("%s is up: no %v in %v", up, want, names)
		}
	}
}

// The nine columns of a rotation matrix are proposed as roll, pitch and yaw, whatever they are called, and imported as these.
func TestRotationMatrix(t *testing.T) {
	for _, names := range []string{"R11,R12,R13,R21,R22,R23,R31,R32,R33", "r00,r01,r02,r10,r11,r12,r20,r21,r22", "rot_0_0,rot_0_1,rot_0_2,rot_1_0,rot_1_1,rot_1_2,rot_2_0,rot_2_1,rot_2_2", "R[0],R[1],R[2],R[3],R[4],R[5],R[6],R[7],R[8]"} {
		text := "t [s]," + names + ",thrust\n"
		want := func(i int) [3]float64 { return [3]float64{0.3 * math.Sin(0.02*float64(i)), -0.5, 0.1 * float64(i)} }
		for i := range 200 {
			text += fmt.Sprintf("%g", 0.01*float64(i))
			q := frames.FromEuler(want(i))
			x, y, z := q.Rotate([3]float64{1, 0, 0}), q.Rotate([3]float64{0, 1, 0}), q.Rotate([3]float64{0, 0, 1})
			for k := range 3 {
				scale := 1.0
				if i == 55 && k == 1 {
					scale = 2 // no rotation
				}
				text += fmt.Sprintf(",%.6f,%.6f,%.6f", scale*x[k], scale*y[k], scale*z[k])
			}
			text += fmt.Sprintf(",%g\n", math.Sin(0.7*float64(i)))
		}
		in, out := files(t, text)
		var m strings.Builder
		if err := importer.SuggestTable(&m, in[0], nil); err != nil {
			t.Fatal(err)
		}
		if _, err := importTables(context.Background(), parse(t, m.String()), in, out, nil); err != nil {
			t.Fatalf("%v\n%s", err, m.String())
		}
		log, err := flightlog.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if c := log.Channels; len(c) != 4 || c[1].Name != "roll" || c[3].Period != channel.Angle || c[3].Unit != "rad" {
			t.Fatalf("%s: %+v", names, c)
		}
		for i := range 200 {
			x := log.Segments[0].X[3*i : 3*i+3]
			for k, w := range want(i) {
				if i == 55 != math.IsNaN(x[k]) || math.Abs(x[k]-w) > 1e-5 {
					t.Fatalf("%s, row %d: %v, want %v", names, i, x, want(i))
				}
			}
		}
	}
}

// Nine columns that are called like a rotation matrix and are none are columns like others.
func TestNoRotationMatrix(t *testing.T) {
	text := "t [s],R11,R12,R13,R21,R22,R23,R31,R32,R33\n"
	for i := range 200 {
		text += fmt.Sprintf("%g", 0.01*float64(i))
		for k := range 9 {
			text += fmt.Sprintf(",%.4f", math.Sin(0.1*float64(i)+float64(k)))
		}
		text += "\n"
	}
	in, _ := files(t, text)
	var m strings.Builder
	if err := importer.SuggestTable(&m, in[0], nil); err != nil || strings.Contains(m.String(), "[[attitude]]") {
		t.Errorf("%v\n%s", err, m.String())
	}
}
