package importer_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// suggest returns the channels, by their roles, of the map that is suggested for an invented log.
func suggest(t *testing.T, s *invented) map[channel.Role][]string {
	t.Helper()
	var b bytes.Buffer
	if err := importer.Suggest(context.Background(), &b, "a.log", s.open, nil); err != nil {
		t.Fatal(err)
	}
	m, err := importer.ParseMap("map.toml", b.Bytes())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	out := map[channel.Role][]string{}
	for i := range m.Channels {
		c := &m.Channels[i]
		names := slices.DeleteFunc(append(c.Names, c.Name), func(n string) bool { return n == "" })
		out[c.Role] = append(out[c.Role], names...)
	}
	return out
}

// varying is a log of 300 messages of each topic, with fields that vary.
func varying(fields map[string][]telemetry.Field) *invented {
	s := &invented{fields: fields}
	for i := range 300 {
		for topic, all := range fields {
			m := msg{topic: topic, ms: int64(20 * i)}
			for k := range all {
				m.values = append(m.values, math.Sin(float64(i)*0.05+float64(k)))
			}
			s.msgs = append(s.msgs, m)
		}
	}
	return s
}

// What is measured of motors is a state beside their commands, and drives the robot without any.
func TestSuggestedRolesOfMotors(t *testing.T) {
	log := varying(map[string][]telemetry.Field{"motors": names("motor[0].rpm", "motor[0].command", "motor[0].current_ma")})
	if got := suggest(t, log); strings.Join(got[channel.State], " ") != "motor_0_rpm motor_0_current_ma" || strings.Join(got[channel.Input], " ") != "motor_0_command" {
		t.Error(got)
	}
	log = varying(map[string][]telemetry.Field{"lowstate": names("motor[0].q", "motor[0].dq", "motor[0].ddq", "motor[0].tau")})
	if got := suggest(t, log); strings.Join(got[channel.State], " ") != "motor_0_q motor_0_dq" {
		t.Error(got)
	}
	log = varying(map[string][]telemetry.Field{"pose": names("x", "y", "z"), "motors": names("rpm[0]", "rpm[1]")})
	if got := suggest(t, log); strings.Join(got[channel.State], " ") != "x y z" || strings.Join(got[channel.Input], " ") != "rpm_0 rpm_1" {
		t.Error(got)
	}
}

// Where a preset fits and none of its inputs is in the log, topics that are called as commands are proposed as inputs.
func TestSuggestedInputsBesideAPreset(t *testing.T) {
	var odometry []telemetry.Field
	for _, f := range []string{"pose.covariance[0]", "twist.covariance[0]"} {
		odometry = append(odometry, telemetry.Field{Path: f})
	}
	for group, axes := range map[string]string{"pose.pose.position": "xyz", "pose.pose.orientation": "wxyz", "twist.twist.linear": "xyz", "twist.twist.angular": "xyz"} {
		for _, a := range axes {
			odometry = append(odometry, telemetry.Field{Path: group + "." + string(a)})
		}
	}
	twist := names("linear.x", "linear.y", "linear.z", "angular.z")
	kinds := map[string]string{"/odom": "nav_msgs/msg/Odometry", "/cmd_vel": "geometry_msgs/msg/Twist"}
	without := varying(map[string][]telemetry.Field{"/odom": odometry, "/left/command": names("data"), "/scan": names("range")})
	with := varying(map[string][]telemetry.Field{"/odom": odometry, "/cmd_vel": twist, "/left/command": names("data")})
	without.kinds, with.kinds = kinds, kinds
	if got := strings.Join(suggest(t, without)[channel.Input], " "); got != "cmd_vx cmd_vy cmd_vz cmd_r left_command" {
		t.Error(got)
	}
	if got := strings.Join(suggest(t, with)[channel.Input], " "); got != "cmd_vx cmd_vy cmd_vz cmd_r" {
		t.Error(got)
	}
}

// Of what a controller reports its feedback is the state; four parts of a quaternion are an attitude; and of several robots only the
// commands of the one whose state is proposed are inputs.
func TestSuggestedStates(t *testing.T) {
	for _, c := range []struct {
		log            map[string][]telemetry.Field
		states, inputs string
	}{
		{map[string][]telemetry.Field{"/arm_controller/controller_state": names("reference.positions[0]", "feedback.positions[0]", "output.effort[0]")}, "feedback_positions_0", "reference_positions_0 output_effort_0"},
		{map[string][]telemetry.Field{"/robot/pose": names("pose.position.x", "pose.orientation.x", "pose.orientation.y", "pose.orientation.z", "pose.orientation.w"), "/wheel/cmd": names("data")}, "pose_position_x roll pitch yaw", "wheel_cmd"},
		{map[string][]telemetry.Field{"/imu": names("angular_velocity.x", "angular_velocity.y", "angular_velocity.z", "linear_acceleration.x"), "/pose": names("pose.position.x", "pose.position.y")}, "pose_position_x pose_position_y", ""},
		{map[string][]telemetry.Field{"/imu": names("angular_velocity.x", "linear_acceleration.x")}, "angular_velocity_x", ""},
		{map[string][]telemetry.Field{"/a/pose": names("x", "y", "z"), "/a/cmd": names("u"), "/b/cmd": names("u"), "/arm/cmd/raw": names("w")}, "x y z", "u w"},
	} {
		got := suggest(t, varying(c.log))
		if states, inputs := strings.Join(got[channel.State], " "), strings.Join(got[channel.Input], " "); states != c.states || inputs != c.inputs {
			t.Errorf("states %q, inputs %q", states, inputs)
		}
	}
}

// Where no preset fits for its inputs, the map has the states of the one whose states are all in the log, and what seems to drive the robot.
func TestSuggestedLikeAPreset(t *testing.T) {
	log := varying(map[string][]telemetry.Field{
		"vehicle_local_position":   names("x", "y", "z", "vx", "vy", "vz"),
		"vehicle_attitude":         names("q[0]", "q[1]", "q[2]", "q[3]"),
		"vehicle_angular_velocity": names("xyz[0]", "xyz[1]", "xyz[2]"),
		"vehicle_torque_setpoint":  names("xyz[0]"),
	})
	got := suggest(t, log)
	if states, inputs := strings.Join(got[channel.State], " "), strings.Join(got[channel.Input], " "); states != "x y z vx vy vz roll pitch yaw p q r" || inputs != "xyz_0" {
		t.Errorf("states %q, inputs %q", states, inputs)
	}
	var b bytes.Buffer
	if err := importer.Suggest(context.Background(), &b, "a.log", log.open, nil); err != nil || !strings.HasPrefix(b.String(), "# The states of this log are those of the preset px4-quadrotor, which does not fit it: topic actuator_motors is not in a.log; topic actuator_outputs is not in a.log.\nlike = \"px4-quadrotor\"\n") {
		t.Error(err, b.String())
	}
}

// Where several robots have the topics of a preset, each in a namespace of its own, the map says how to import one of them.
func TestSuggestedPresetOfOneRobot(t *testing.T) {
	state := names("position[0]", "position[1]", "position[2]", "velocity[0]", "velocity[1]", "velocity[2]", "q[0]", "q[1]", "q[2]", "q[3]", "angular_velocity[0]", "angular_velocity[1]", "angular_velocity[2]")
	motors := names("control[0]", "control[1]", "control[2]", "control[3]")
	log := varying(map[string][]telemetry.Field{"/a/odometry": state, "/b/odometry": state, "/a/motors": motors, "/b/motors": motors})
	odometry, outputs := "px4_msgs/msg/VehicleOdometry", "px4_msgs/msg/ActuatorMotors"
	log.kinds = map[string]string{"/a/odometry": odometry, "/b/odometry": odometry, "/a/motors": outputs, "/b/motors": outputs}
	var b bytes.Buffer
	if err := importer.Suggest(context.Background(), &b, "a.log", log.open, nil); err != nil || !strings.HasPrefix(b.String(), "# The preset px4-ros2 fits the topics of a: import with --preset px4-ros2 --topic /a/motors --topic /a/odometry; or by this map:\n") {
		t.Error(err, b.String())
	}
}

// Fields of arrays that are empty in the first message, or in some, are proposed.
func TestSuggestedArraysThatAreEmptyAtFirst(t *testing.T) {
	s := &invented{fields: map[string][]telemetry.Field{"joints": names("stamp", "position[0]", "velocity[0]"), "effort_commands": names("offset", "data[0]")}, atFirst: map[string]int{"joints": 2, "effort_commands": 1}}
	for i := range 50 {
		x := math.Sin(0.1 * float64(i))
		u := 2 * x
		if i%5 == 0 {
			u = math.NaN() // a message without elements
		}
		s.msgs = append(s.msgs, msg{"joints", 10 * int64(i), []float64{1, x, 2 * x}}, msg{"effort_commands", 10 * int64(i), []float64{0, u}})
	}
	var b strings.Builder
	if err := importer.Suggest(context.Background(), &b, "a.log", s.open, nil); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`field = "velocity[0]" # -2 to`, "topic = \"effort_commands\"\nfield = \"data[0]\" # -2 to 1.999\nrole = \"input\""} {
		if !strings.Contains(b.String(), part) {
			t.Errorf("%q is not in\n%s", part, b.String())
		}
	}
}

// Messages of raw bytes are no states, outputs of an autopilot are inputs, and of senders one after the other one is proposed.
func TestSuggestedOfOneSenderAndNoBytes(t *testing.T) {
	bytes8 := names("id", "data[0]", "data[1]")
	log := varying(map[string][]telemetry.Field{"/can": bytes8})
	log.kinds = map[string]string{"/can": "can_msgs/msg/Frame"}
	var b bytes.Buffer
	if err := importer.Suggest(context.Background(), &b, "a.log", log.open, nil); err != nil || strings.Contains(b.String(), "[[channel]]") || !strings.Contains(b.String(), "# Messages of topic \"/can\" (can_msgs/msg/Frame) hold raw bytes: record what is decoded from them.") {
		t.Error(err, b.String())
	}
	log = varying(map[string][]telemetry.Field{"/mavros/pose": names("position.x", "position.y"), "/mavros/rc/out": names("channels[0]", "channels[1]"), "/can": bytes8})
	log.kinds = map[string]string{"/can": "can_msgs/msg/Frame"}
	if got := suggest(t, log); strings.Join(got[channel.State], " ") != "position_x position_y" || strings.Join(got[channel.Input], " ") != "channels_0 channels_1" {
		t.Error(got)
	}
	twist := names("linear.x", "linear.y", "linear.z", "angular.z")
	odometry := names("pose.covariance[0]", "twist.covariance[0]")
	for group, axes := range map[string]string{"pose.pose.position": "xyz", "pose.pose.orientation": "wxyz", "twist.twist.linear": "xyz", "twist.twist.angular": "xyz"} {
		for _, a := range axes {
			odometry = append(odometry, telemetry.Field{Path: group + "." + string(a)})
		}
	}
	log = varying(map[string][]telemetry.Field{"/odom": odometry, "/plan": names("poses[0].x"), "/cmd": twist})
	log.kinds = map[string]string{"/odom": "nav_msgs/msg/Odometry", "/plan": "nav_msgs/msg/Path", "/cmd": "twist"}
	b.Reset()
	if err := importer.Suggest(context.Background(), &b, "a.log", log.open, nil); err != nil || !strings.Contains(b.String(), "# /plan (nav_msgs/msg/Path) has plans, whose points are no inputs") {
		t.Error(err, b.String())
	}
	log = &invented{fields: map[string][]telemetry.Field{"/pose": names("position.x"), "/pose!map": names("position.x")}}
	for i := range 300 {
		topic := "/pose"
		if i > 200 {
			topic += "!map"
		}
		log.msgs = append(log.msgs, msg{topic, int64(20 * i), []float64{math.Sin(0.1 * float64(i))}})
	}
	b.Reset()
	if err := importer.Suggest(context.Background(), &b, "a.log", log.open, nil); err != nil || strings.Count(b.String(), "[[channel]]") != 1 || !strings.Contains(b.String(), "# /pose is sent by another one before or after that, where = { \"frame_id\" = \"map\" }: write a map for each") {
		t.Error(err, b.String())
	}
}

// A time among the fields of a topic is no state; one that moves as a state does is.
func TestSuggestedTimesAreNoStates(t *testing.T) {
	log := varying(map[string][]telemetry.Field{"tele": names("t", "x", "y", "clock", "time_ms")})
	for i := range log.msgs {
		log.msgs[i].values[0] = 0.02 * float64(i)
		log.msgs[i].values[4] = 20 * float64(i^1) // the second of two messages overtakes the first
	}
	if got := suggest(t, log); strings.Join(got[channel.State], " ") != "x y clock" {
		t.Error(got)
	}
}
