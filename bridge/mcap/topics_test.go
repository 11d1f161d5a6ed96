package mcap_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	foxglove "github.com/foxglove/mcap/go/mcap"

	"github.com/dgm-robotics/dgm/bridge/cdr/cdrtest"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

// The channels of the recordings here that these tests add.
const (
	filtered  = 7
	ackermann = 8
)

// Of two topics of odometry that one is read which is chosen; without a choice the import names both.
func TestChosenTopic(t *testing.T) {
	all := patrol(400)
	for i := range 400 {
		at := 1700*second*1e6 + int64(i)*50e6
		all = append(all, note{filtered, at + 4e6, at, pose(0.05*float64(i)+0.3, "odom", "base_link")})
	}
	file := written(t, all)
	if _, _, err := try(t, "ros2-odometry", nil, file); err == nil || !strings.Contains(err.Error(), "several topics are of type nav_msgs/msg/Odometry: /odom, /odometry/filtered; choose with --topic") {
		t.Error(err)
	}
	for name, off := range map[string]float64{"/odom": 0, "/odometry/filtered": 0.3} {
		log, _, err := tryTopics(t, "ros2-odometry", []string{name}, nil, file)
		if err != nil {
			t.Fatal(err)
		}
		k, at := channel.Index(channel.Select(log.Channels, channel.State), "x"), 100
		s := log.Segments[0]
		K := len(s.X) / len(s.T)
		if got, want := s.X[at*K+k], 4*math.Sin(0.05*float64(at)+off); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: x is %v, expected %v", name, got, want)
		}
	}
	if _, _, err := tryTopics(t, "ros2-odometry", []string{"/odometry/global"}, nil, file); err == nil || !strings.Contains(err.Error(), "has no topic /odometry/global; there are: ") {
		t.Error(err)
	}
}

// A car's commands are speed and steering angle.
func TestAckermann(t *testing.T) {
	var all []note
	for i, n := range patrol(400) {
		if n.channel == 0 {
			all = append(all, n)
			continue
		}
		steering := float32(0.3 * math.Sin(0.05*float64(i/2)))
		all = append(all, note{ackermann, n.logged, n.logged - 1e6, func(stamp int64) []byte {
			return head(cdrtest.New(), stamp, "").F32(steering, 0, 2, 0, 0).B
		}})
	}
	log, _, err := try(t, "ros2-ackermann", nil, written(t, all))
	if err != nil {
		t.Fatal(err)
	}
	inputs := channel.Select(log.Channels, channel.Input)
	if got := strings.Join(channel.Names(inputs), " "); got != "cmd_speed cmd_steering" {
		t.Fatal(got)
	}
	s := log.Segments[0]
	moved := false
	for i := 1; i < len(s.T); i++ { // before the first row nothing was commanded
		if s.U[2*i] != 2 || math.Abs(s.U[2*i+1]) > 0.3001 {
			t.Fatalf("row %d: %v", i, s.U[2*i:2*i+2])
		}
		moved = moved || s.U[2*i+1] > 0.29
	}
	if names := strings.Join(channel.Names(channel.Select(log.Channels, channel.State)), " "); !moved || names != "x y yaw r" {
		t.Errorf("%v, %s", moved, names)
	}
}

// Where no topic can be read, as in another encoding or by other definitions than those of ROS 2, the import says why, and not that the
// topic is missing, or that the file is damaged.
func TestNoTopicCanBeRead(t *testing.T) {
	for want, c := range map[string][2]string{
		`messages in "json" are not read, only cdr is: record it with ROS 2's own encoding, or export the topic as a table`: {"jsonschema", "json"},
		`schemas of "omgidl" are not read, only ros2msg, ros2idl and ros1msg: record the topics by ROS 2 itself`:            {"omgidl", "cdr"},
	} {
		noTopicCanBeRead(t, c[0], c[1], want)
	}
}

func noTopicCanBeRead(t *testing.T, schema, encoding, want string) {
	t.Helper()
	var b bytes.Buffer
	w, err := foxglove.NewWriter(&b, &foxglove.WriterOptions{})
	if err == nil {
		err = errors.Join(w.WriteHeader(&foxglove.Header{}), w.WriteSchema(&foxglove.Schema{ID: 1, Name: "foxglove.Pose", Encoding: schema, Data: []byte("{}")}),
			w.WriteChannel(&foxglove.Channel{ID: 0, SchemaID: 1, Topic: "/pose", MessageEncoding: encoding}), w.WriteMessage(&foxglove.Message{LogTime: 5, Data: []byte("{}")}), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = try(t, "ros2-odometry", nil, b.Bytes())
	refused(t, err, "no topic of 0.mcap can be read: /pose", want)
	if strings.Contains(err.Error(), "damaged") {
		t.Error(err)
	}
}
