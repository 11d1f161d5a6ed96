package ros_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/cdr/cdrtest"
	"github.com/dgm-robotics/dgm/bridge/ros"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// taken returns the values of fields in each of several messages of a type, and the paths that the topic lists last.
func taken(t *testing.T, definition string, paths []string, messages ...[]byte) (values [][]float64, listed []string, report *telemetry.Problems) {
	t.Helper()
	report = new(telemetry.Problems)
	var topic *telemetry.Topic
	m := ros.New("a.mcap", &telemetry.Wants{Select: func(x *telemetry.Topic) []string { topic = x; return paths }}, report)
	defer m.Close()
	s := m.Subscribe(7, &ros.Channel{Topic: "/t", Type: "a/msg/T", Encoding: "cdr", Schema: "ros2msg", Definition: []byte(definition)})
	for _, data := range messages {
		msg, err := m.Take(s, 8, 9, data)
		if err != nil {
			t.Fatal(err)
		}
		if msg.Topic != topic {
			t.Fatal("messages of one sender are of several topics")
		}
		values = append(values, slices.Clone(msg.Values))
	}
	for _, f := range topic.Fields() {
		if f.Named != "" {
			listed = append(listed, f.Named)
		}
	}
	return values, listed, report
}

// Elements of arrays are found by their names wherever the names are: beside the array, beside the message that has the array, in the
// elements, and in an array of each element. The order and the number of names may change; what a message does not name is not
// measured.
func TestNamesOfElements(t *testing.T) {
	const pose = "===\nMSG: a/Pose\nfloat64 x\nfloat64 y\n"
	new := cdrtest.New
	for name, c := range map[string]struct {
		definition string
		paths      []string
		messages   [][]byte
		listed     []string
	}{
		"parts of elements": {"string[] name\nPose[] pose\n" + pose, []string{"pose[name=bot].x", "pose[name=bot].y"}, [][]byte{
			new().Seq(2).Text("ground", "bot").Seq(2).F64(0, 0, 1, 2).B,
			new().Seq(3).Text("ground", "box", "bot").Seq(3).F64(0, 0, 7, 7, 3, 4).B,
			new().Seq(1).Text("ground").Seq(1).F64(0, 0).B,
		}, []string{"pose[name=ground].x", "pose[name=ground].y", "pose[name=box].x", "pose[name=box].y", "pose[name=bot].x", "pose[name=bot].y"}},
		"an array in a message": {"string[] joint_names\nPoint feedback\n===\nMSG: a/Point\nfloat64[] positions\n", []string{"feedback.positions[joint_names=elbow]", "feedback.positions[joint_names=panda.1/j]"}, [][]byte{
			new().Seq(2).Text("elbow", "panda.1/j").Seq(2).F64(1, 2).B,
			new().Seq(2).Text("panda.1/j", "elbow").Seq(2).F64(4, 3).B,
		}, []string{"feedback.positions[joint_names=elbow]", "feedback.positions[joint_names=panda.1/j]"}},
		"names of elements": {"Statistic[] statistics\n===\nMSG: a/Statistic\nstring name\nfloat64 value\n", []string{"statistics[name=theta].value", "statistics[name=omega].value"}, [][]byte{
			new().Seq(2).Text("theta").F64(1).Text("omega").F64(2).B,
			new().Seq(3).Text("new").F64(9).Text("theta").F64(3).Text("omega").F64(4).B,
		}, []string{"statistics[name=new].value", "statistics[name=theta].value", "statistics[name=omega].value"}},
		"names within elements": {"string[] joint_names\nInterface[] interface_values\n===\nMSG: a/Interface\nstring[] interface_names\nfloat64[] values\n",
			[]string{"interface_values[joint_names=elbow].values[interface_names=position]", "interface_values[joint_names=wrist].values[interface_names=velocity]"}, [][]byte{
				new().Seq(2).Text("elbow", "wrist").Seq(2).Seq(2).Text("position", "velocity").Seq(2).F64(1, 8).Seq(1).Text("velocity").Seq(1).F64(2).B,
				new().Seq(2).Text("wrist", "elbow").Seq(2).Seq(2).Text("effort", "velocity").Seq(2).F64(8, 4).Seq(2).Text("effort", "position").Seq(2).F64(8, 3).B,
				new().Seq(2).Text("elbow", "wrist").Seq(2).Seq(1).Text("effort").Seq(1).F64(8).Seq(0).Seq(0).B,
			}, []string{
				"interface_values[joint_names=wrist].values[interface_names=effort]", "interface_values[joint_names=wrist].values[interface_names=velocity]",
				"interface_values[joint_names=elbow].values[interface_names=effort]", "interface_values[joint_names=elbow].values[interface_names=position]",
			}},
	} {
		values, listed, report := taken(t, c.definition, c.paths, c.messages...)
		for i, got := range values {
			want := []float64{float64(2*i + 1), float64(2*i + 2)}
			if i == 2 {
				want = []float64{math.NaN(), math.NaN()}
			}
			if !slices.EqualFunc(got, want, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
				t.Errorf("%s: message %d: %v, not %v", name, i, got, want)
			}
		}
		if !slices.Equal(listed, c.listed) {
			t.Errorf("%s: listed %q", name, listed)
		}
		if report.Count() > 0 {
			t.Error(name, report.All())
		}
	}
}

// Names in a path that are no names of the array are wrong, and said to be.
func TestWrongNamesOfElements(t *testing.T) {
	report := new(telemetry.Problems)
	m := ros.New("a.mcap", &telemetry.Wants{Select: func(x *telemetry.Topic) []string {
		for path, want := range map[string]string{
			"parts[label=a].x":               `"label" names no elements of parts`,
			"other[name=a].x":                `"name" names no elements of other`,
			"parts[name=a].x":                "",
			"parts[name=a].values[of=x]":     `"of" names no elements of parts.values`,
			"parts[name=a].values[0]":        "",
			"parts[0].values[name=a]":        `"name" names no elements of parts[0].values`,
			"parts[name=a].values[name=a].x": `"name" names no elements of parts.values`,
		} {
			if err := x.Check(path); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v", path, err)
			}
		}
		return nil
	}}, report)
	s := m.Subscribe(7, &ros.Channel{Topic: "/t", Type: "a/msg/T", Encoding: "cdr", Schema: "ros2msg", Definition: []byte("Part[] parts\nOther[] other\n===\nMSG: a/Part\nstring name\nfloat64 x\nfloat64[] values\n===\nMSG: a/Other\nfloat64 x\n")})
	if _, err := m.Take(s, 8, 9, cdrtest.New().Seq(0).Seq(0).B); err != nil {
		t.Fatal(err)
	}
}

// As many frames as a robot has are senders of their own; messages of more senders than are read are left out and reported, and are
// none of those that are read.
func TestManySenders(t *testing.T) {
	report := new(telemetry.Problems)
	m := ros.New("a.mcap", &telemetry.Wants{Select: func(x *telemetry.Topic) []string { return []string{"transforms[0].x"} }}, report)
	defer m.Close()
	s := m.Subscribe(7, &ros.Channel{Topic: "/tf", Type: "a/msg/T", Encoding: "cdr", Schema: "ros2msg", Definition: []byte("Transform[] transforms\n===\nMSG: a/Transform\nstring child_frame_id\nfloat64 x\n")})
	const n = 600
	message := cdrtest.New().Seq(n)
	for i := range n {
		message.Text(fmt.Sprintf("link%d", i)).F64(float64(i))
	}
	seen := map[string]float64{}
	for msg, err := m.Take(s, 8, 9, message.B); ; msg, err = m.Next() {
		if err != nil {
			t.Fatal(err)
		}
		if msg != nil {
			seen[msg.Topic.SenderName()] += msg.Values[0]
		}
		if !m.More() {
			break
		}
	}
	for i := range n {
		if v, ok := seen[fmt.Sprintf("link%d", i)]; ok != (i < 512) || ok && v != float64(i) {
			t.Fatal(i, v, ok)
		}
	}
	if p := report.All(); len(p) != 1 || !strings.Contains(p[0].Reason, "it has more than 512 senders") {
		t.Error(p)
	}
}

// A name that a message has twice is reported, and the first one counts.
func TestNameTwice(t *testing.T) {
	values, _, report := taken(t, "string[] name\nfloat64[] position\n", []string{"position[name=a]", "position[name=b]"},
		cdrtest.New().Seq(3).Text("a", "b", "a").Seq(3).F64(1, 2, 3).B, cdrtest.New().Seq(3).Text("a", "b", "a").Seq(3).F64(4, 5, 6).B)
	if p := report.All(); len(p) != 1 || !strings.Contains(p[0].Reason, `it has "a" in name twice, of which the first counts`) || !slices.Equal(values[1], []float64{4, 5}) {
		t.Error(values, report.All())
	}
}

// The names of elements without numbers, as of a diagnosis or of a field of a cloud of points, distinguish no senders.
func TestNamesOfOtherElements(t *testing.T) {
	var topics []*telemetry.Topic
	m := ros.New("a.mcap", &telemetry.Wants{Select: func(x *telemetry.Topic) []string {
		topics = append(topics, x)
		return nil
	}}, new(telemetry.Problems))
	defer m.Close()
	s := m.Subscribe(7, &ros.Channel{Topic: "/diagnostics", Type: "a/msg/T", Encoding: "cdr", Schema: "ros2msg", Definition: []byte("Status[] status\n===\nMSG: a/Status\nuint8 level\nstring name\n")})
	for _, name := range []string{"camera", "battery"} {
		if _, err := m.Take(s, 8, 9, cdrtest.New().Seq(1).U8(1).Text(name).B); err != nil {
			t.Fatal(err)
		}
	}
	if len(topics) != 1 || len(topics[0].Sender) != 0 {
		t.Error(len(topics), topics[0].Sender)
	}
}

// Numbers distinguish the senders of a topic where a map asks for them, with texts or without.
func TestNumbersThatSelect(t *testing.T) {
	var topics []*telemetry.Topic
	m := ros.New("a.mcap", &telemetry.Wants{Senders: []string{"id"}, Select: func(x *telemetry.Topic) []string {
		topics = append(topics, x)
		return []string{"position"}
	}}, new(telemetry.Problems))
	defer m.Close()
	s := m.Subscribe(7, &ros.Channel{Topic: "/motor", Type: "a/msg/T", Encoding: "cdr", Schema: "ros2msg", Definition: []byte("string name\nfloat64 position\nuint32 id\n")})
	for i := range 6 {
		msg, err := m.Take(s, 8, 9, cdrtest.New().Text("arm").F64(float64(i)).U32(uint32(3+i%2)).B)
		if err != nil {
			t.Fatal(err)
		}
		if msg.Topic != topics[i%2] || msg.Values[0] != float64(i) {
			t.Errorf("message %d: %v of %s", i, msg.Values, msg.Topic.SenderName())
		}
	}
	want := []telemetry.Text{{Path: "name", Value: "arm"}, {Path: "id", Value: "4"}}
	if len(topics) != 2 || !slices.Equal(topics[1].Sender, want) {
		t.Errorf("%d topics, %v", len(topics), topics[1].Sender)
	}
}
