package importer_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mapfile"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

const moving = `
vehicle = "v"
kinematics = "quadrotor"
[[channel]]
names = ["x", "y", "z"]
topic = "s"
fields = ["x", "y", "z"]
unit = "m"
role = "state"
[[channel]]
names = ["vx", "vy", "vz"]
topic = "s"
fields = ["vx", "vy", "vz"]
unit = "m/s"
role = "state"
`

// circling is a log of a position and its velocity, whose last axis counts by up.
func circling(up float64) *invented {
	s := &invented{fields: map[string][]telemetry.Field{"s": names("x", "y", "z", "vx", "vy", "vz")}}
	for i := range 600 {
		t := 0.01 * float64(i)
		s.msgs = append(s.msgs, msg{"s", int64(10 * i), []float64{
			math.Sin(3 * t), math.Cos(3 * t), math.Sin(2 * t), 3 * math.Cos(3*t), -3 * math.Sin(3*t), up * 2 * math.Cos(2*t)}})
	}
	return s
}

func TestKinematicsAreComparedWithTheData(t *testing.T) {
	log, _ := run(t, circling(1), moving, false)
	if k := log.Kinematics; k.Relation != channel.Quadrotor || len(k.Position) != 3 || k.Velocity[2] != "vz" || k.Attitude != nil {
		t.Errorf("%+v", k)
	}
	_, _, err := try(t, circling(-1), moving, false)
	var e *mapfile.Error
	if !errors.As(err, &e) || e.Field != "kinematics" || !strings.Contains(e.Remedy, `position = ["x", "y", "-z"]`) {
		t.Errorf("%v", err)
	}
	log, sum := run(t, circling(-1), strings.Replace(moving, "kinematics = \"quadrotor\"", "kinematics = \"quadrotor\"\nkinematics_optional = true", 1), false)
	if remarks := strings.Join(sum.Texts(), "\n"); log.Kinematics.Relation != "" || !strings.Contains(remarks, "kinematics left out: the data contradict it: z moves") {
		t.Errorf("%+v\n%s", log.Kinematics, remarks)
	}
	log, _ = run(t, circling(-1), moving+"[body]\nposition = [\"x\", \"y\", \"-z\"]\n", false)
	if k := log.Kinematics; len(k.Position) != 3 || k.Position[2] != "-z" {
		t.Errorf("%+v", k)
	}
	if _, err := importer.ParseMap("map.toml", []byte(moving+"[body]\nrates = [\"p\", \"q\", \"r\"]\n")); !errors.As(err, &e) || e.Field != "kinematics" {
		t.Errorf("%v", err)
	}
	if log, _ = run(t, circling(1), strings.Replace(moving, "kinematics", "# kinematics", 1), false); log.Kinematics.Relation != "" {
		t.Errorf("nobody declared %+v", log.Kinematics)
	}
}

// Of what does not move nothing is declared, which is reported; by a preset, what the
// data contradict is left out, too.
func TestKinematicsOfWhatIsLeft(t *testing.T) {
	s := &invented{fields: map[string][]telemetry.Field{"s": names("x", "y", "z", "vx", "vy", "vz")}}
	for i := range 600 {
		t := 0.01 * float64(i)
		s.msgs = append(s.msgs, msg{"s", int64(10 * i), []float64{math.Sin(3 * t), math.Cos(3 * t), 7, 3 * math.Cos(3*t), -3 * math.Sin(3*t), 0}})
	}
	log, sum := run(t, s, strings.ReplaceAll(moving, "role =", "varies = true\nrole ="), false)
	if remarks := strings.Join(sum.Texts(), "\n"); log.Kinematics.Relation != "" || len(log.Channels) != 4 || !strings.Contains(remarks, "kinematics left out: not all required states are in the log") {
		t.Errorf("%+v, %d channels\n%s", log.Kinematics, len(log.Channels), remarks)
	}
}

// A position has no derivative among velocities in axes of the body, though its rate
// resembles one while the robot hardly turns.
func TestVelocityOfTheBodyIsNoDerivativeOfAPosition(t *testing.T) {
	text := strings.Replace(moving, "kinematics = \"quadrotor\"", "kinematics = \"quadrotor\"\nkinematics_optional = true", 1) + `
[[channel]]
names = ["roll", "pitch", "yaw"]
topic = "s"
fields = ["roll", "pitch", "yaw"]
unit = "rad"
period = 6.283185307179586
role = "state"
[[channel]]
names = ["p", "q", "r"]
topic = "s"
fields = ["p", "q", "r"]
unit = "rad/s"
role = "state"
[body]
velocity = ["vx", "vy", "vz"]
axes = "body"
`
	s := &invented{fields: map[string][]telemetry.Field{"s": names("x", "y", "z", "vx", "vy", "vz", "roll", "pitch", "yaw", "p", "q", "r")}}
	for _, m := range circling(1).msgs {
		a := 0.1 * math.Sin(0.002*float64(m.ms))
		s.msgs = append(s.msgs, msg{"s", m.ms, append(m.values, a, -a, a, 0.2*math.Cos(0.002*float64(m.ms)), 0.1, 0.3)})
	}
	log, _ := run(t, s, text, false)
	for _, c := range log.Channels[:3] {
		if c.Derivative != "" {
			t.Errorf("derivative of %s is %s", c.Name, c.Derivative)
		}
	}
}

// Kinematics that are optional hold of the states that a log has: what the map has besides may be missing.
func TestOptionalKinematicsOfAbsentStates(t *testing.T) {
	const turning = `
[[channel]]
names = ["roll", "pitch", "yaw"]
topic = "a"
euler = ["roll", "pitch", "yaw"]
role = "state"
optional = true
[[channel]]
names = ["p", "q", "r"]
topic = "g"
fields = ["p", "q", "r"]
role = "state"
`
	gyro := func(s *invented) *invented {
		s.fields["g"] = names("p", "q", "r")
		for i := range 600 {
			s.msgs = append(s.msgs, msg{"g", int64(10 * i), []float64{math.Sin(0.03 * float64(i)), 0.1, math.Cos(0.03 * float64(i))}})
		}
		return s
	}
	optional := strings.Replace(moving, "kinematics = \"quadrotor\"", "kinematics = \"quadrotor\"\nkinematics_optional = true", 1)
	log, sum := run(t, gyro(circling(1)), optional+turning, false)
	if k := log.Kinematics; len(k.Position) != 3 || k.Attitude != nil || len(log.Channels) != 9 {
		t.Errorf("%+v", k)
	}
	if said := strings.Join(sum.Texts(), "\n"); !strings.Contains(said, "kinematics only of x, y, z by vx, vy, vz in axes of the world: not all required states are in the log") {
		t.Error(said)
	}
	none := gyro(&invented{fields: map[string][]telemetry.Field{}})
	alone := "vehicle = \"v\"\nkinematics = \"quadrotor\"\nkinematics_optional = true\n" + turning
	log, sum = run(t, none, alone, false)
	if k := log.Kinematics; k.Relation != "" || len(log.Channels) != 3 {
		t.Errorf("%+v", k)
	}
	if said := strings.Join(sum.Texts(), "\n"); !strings.Contains(said, "kinematics left out: not all required states are in the log") {
		t.Error(said)
	}
	if _, _, err := try(t, none, strings.Replace(alone, "kinematics_optional = true\n", "", 1), false); err == nil || !strings.Contains(err.Error(), "it names neither position and velocity nor attitude and rates") {
		t.Errorf("%v", err)
	}
}

// Of states with the usual names it is said that some are in other axes than the rest, also where nothing is declared and angles
// have no period. Of those that fit, and of a velocity along the body, nothing is said.
func TestAxesOfUndeclaredStates(t *testing.T) {
	all := []string{"x", "y", "z", "vx", "vy", "vz", "roll", "pitch", "yaw", "p", "q", "r"}
	text := "vehicle = \"v\"\n"
	for _, name := range all {
		text += "[[channel]]\nname = \"" + name + "\"\ntopic = \"all\"\nfield = \"" + name + "\"\nrole = \"state\"\n"
	}
	for want, edit := range map[string]func(x []float64){
		"": func([]float64) {},
		"p, q, r are rotated against the axes of the other states, as enu-frd are against enu-flu": func(x []float64) { x[10], x[11] = -x[10], -x[11] },
		"x, y, z are rotated against the axes of the other states, as ned-flu are against enu-flu": func(x []float64) { x[0], x[1], x[2] = x[1], x[0], -x[2] },
	} {
		s := &invented{fields: map[string][]telemetry.Field{"all": names(all...)}}
		for ms := int64(0); ms < 20_000; ms += 20 {
			at := 0.001 * float64(ms)
			roll, pitch, yaw := 0.2*math.Sin(1.3*at), 0.15*math.Cos(1.7*at), 0.8*math.Sin(0.5*at)
			a, b, c := 0.26*math.Cos(1.3*at), -0.255*math.Sin(1.7*at), 0.4*math.Cos(0.5*at)
			x := []float64{2 * math.Sin(0.9*at), 1.5 * math.Cos(0.7*at), 3 - 0.5*math.Sin(1.1*at), 1.8 * math.Cos(0.9*at), -1.05 * math.Sin(0.7*at), -0.55 * math.Cos(1.1*at), roll, pitch, yaw,
				a - math.Sin(pitch)*c, math.Cos(roll)*b + math.Sin(roll)*math.Cos(pitch)*c, -math.Sin(roll)*b + math.Cos(roll)*math.Cos(pitch)*c}
			edit(x)
			s.msgs = append(s.msgs, msg{"all", ms, x})
		}
		for _, names := range [][]string{{"p", "q", "r"}, {"wx", "wy", "wz"}} {
			called := strings.NewReplacer(`name = "p"`, `name = "`+names[0]+`"`, `name = "q"`, `name = "`+names[1]+`"`, `name = "r"`, `name = "`+names[2]+`"`, "p, q, r", strings.Join(names, ", "))
			_, sum := run(t, s, called.Replace(text), false)
			found := strings.Join(sum.Texts(), "\n")
			if strings.Contains(found, "by how the states move") != (want != "") || !strings.Contains(found, called.Replace(want)) {
				t.Errorf("%q in\n%s", want, found)
			}
		}
	}
}

// Of a robot on a plane, of which height, roll and pitch stay as they are, it is said that its velocity is along the axes of the world.
func TestAxesOfARobotOnAPlane(t *testing.T) {
	all := []string{"x", "y", "z", "roll", "pitch", "yaw", "vx", "vy", "vz", "p", "q", "r"}
	text := "vehicle = \"v\"\nkinematics = \"quadrotor\"\nkinematics_optional = true\n[body]\nvelocity = [\"vx\", \"vy\", \"vz\"]\naxes = \"body\"\n"
	for _, name := range all {
		text += "[[channel]]\nname = \"" + name + "\"\ntopic = \"all\"\nfield = \"" + name + "\"\nrole = \"state\"\nvaries = true\n"
		if slices.Contains([]string{"roll", "pitch", "yaw"}, name) {
			text += "period = 6.283185307179586\n"
		}
	}
	for _, c := range []struct {
		world bool
		turn  float64
		ahead float64
		want  string
	}{{false, 1, 1, ""}, {true, 1, 1, `vx, vy, vz are along the axes of the world: write axes = "world" under [body]`}, {false, -1, 1, "yaw has the other sign"},
		{false, 1, -1, "vx, vy, vz are those of a body that looks backwards, or yaw is half a turn off"}} {
		s := &invented{fields: map[string][]telemetry.Field{"all": names(all...)}}
		x, y := 0.0, 0.0
		for ms := int64(0); ms < 20_000; ms += 20 {
			at := 0.001 * float64(ms)
			yaw, v := 0.9*math.Sin(0.5*at), 0.6+0.4*math.Sin(1.1*at)
			vx, vy := v, 0.0
			if c.world {
				vx, vy = v*math.Cos(yaw), v*math.Sin(yaw)
			}
			s.msgs = append(s.msgs, msg{"all", ms, []float64{x, y, 0, 0, 0, c.turn * yaw, c.ahead * vx, c.ahead * vy, 0, 0, 0, 0.45 * math.Cos(0.5*at)}})
			x, y = x+0.02*v*math.Cos(yaw), y+0.02*v*math.Sin(yaw)
		}
		_, sum := run(t, s, text, false)
		found := strings.Join(sum.Texts(), "\n")
		if strings.Contains(found, "by how the states move") != (c.want != "") || !strings.Contains(found, c.want) {
			t.Errorf("%q in\n%s", c.want, found)
		}
	}
}
