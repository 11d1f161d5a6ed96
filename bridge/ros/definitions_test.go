package ros_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/cdr/cdrtest"
	"github.com/dgm-robotics/dgm/bridge/ros"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// Messages of one name and type by two definitions, as of two versions of a package in one recording, are one topic, each read by its
// own; those by a definition without a field that is wanted are not read, which is reported. Comments make no definition another one.
func TestTypeDefinedAnew(t *testing.T) {
	var report telemetry.Problems
	m := ros.New("a.mcap", &telemetry.Wants{Select: func(*telemetry.Topic) []string { return []string{"angle", "rate"} }}, &report)
	defer m.Close()
	define := func(text string) *ros.Subscription {
		return m.Subscribe(7, &ros.Channel{Topic: "/state", Type: "my_msgs/msg/State", Encoding: "cdr", Schema: "ros2msg", Definition: []byte(text)})
	}
	first := define("float64 angle\nfloat64 rate\n")
	if define("# of the joint\nfloat64 angle # rad\nfloat64 rate\n") != first {
		t.Error("comments are another definition")
	}
	var got []float64
	topics := map[*telemetry.Topic]bool{}
	for _, c := range []struct {
		s    *ros.Subscription
		data []float64
	}{{first, []float64{1, 2}}, {define("float64 torque\nfloat64 rate\nfloat64 angle\n"), []float64{9, 4, 3}}, {first, []float64{5, 6}}, {define("float64 position\nfloat64 rate\n"), []float64{7, 8}}} {
		msg, err := m.Take(c.s, 8, 9, cdrtest.New().F64(c.data...).B)
		if err != nil {
			t.Fatal(err)
		}
		if msg != nil {
			got, topics[msg.Topic] = append(got, msg.Values...), true
		}
	}
	if !slices.Equal(got, []float64{1, 2, 3, 4, 5, 6}) || len(topics) != 1 {
		t.Error(got, len(topics))
	}
	if p := report.All(); len(p) != 1 || !strings.Contains(p[0].Reason, `my_msgs/msg/State is defined anew, and there is no "angle"`) {
		t.Error(p)
	}
}

// Types that come with ROS are known where a recording has no definition of them, and others are said to be missing.
func TestTypesWithoutDefinitions(t *testing.T) {
	for kind, want := range map[string]string{"std_msgs/msg/Float64": "", "own_msgs/msg/Thing": "type own_msgs/msg/Thing is not defined in the bag, and is none of those that come with ROS"} {
		var report telemetry.Problems
		var topic *telemetry.Topic
		m := ros.New("a.mcap", &telemetry.Wants{Select: func(x *telemetry.Topic) []string {
			if topic = x; x.Unread != nil {
				return nil
			}
			return []string{"data"}
		}}, &report)
		defer m.Close()
		s := m.Subscribe(7, &ros.Channel{Topic: "/x", Type: kind, Encoding: "cdr", Definition: []byte("\n")})
		msg, err := m.Take(s, 8, 9, cdrtest.New().F64(2.5).B)
		switch {
		case err != nil:
			t.Error(err)
		case want == "" && !slices.Equal(msg.Values, []float64{2.5}), want != "" && (topic.Unread == nil || !strings.Contains(topic.Unread.Error(), want)):
			t.Errorf("%s: %+v, %v", kind, msg, topic.Unread)
		}
	}
}
