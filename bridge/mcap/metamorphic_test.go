package mcap_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	foxglove "github.com/foxglove/mcap/go/mcap"
	"github.com/klauspost/compress/zstd"

	"github.com/dgm-robotics/dgm/bridge/cdr/cdrtest"
	"github.com/dgm-robotics/dgm/bridge/importer"
	"github.com/dgm-robotics/dgm/bridge/mcap"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// note is one message of a recording: by which channel it comes, when it was recorded (ns) and
// what it says, of a time (ns) on the sender's clock.
type note struct {
	channel uint16
	logged  int64
	stamp   int64
	data    func(stamp int64) []byte
}

// channels of the recordings here, with the number of their schemas.
var channels = []struct {
	topic  string
	schema uint16
}{{"/odom", 1}, {"/cmd_vel", 2}, {"/joint_states", 3}, {"/tf", 4}, {"/odom", 1}, {"/cmd_vel", 2}, {"/cmd_vel_nav", 2}, {"/odometry/filtered", 1}, {"/ackermann_cmd", 5}, {"/drone1/fmu/out/vehicle_odometry_v1", 6}, {"/cmd_vel", 7}, {"/drone1/fmu/in/actuator_motors", 8}, {"/drone2/fmu/out/vehicle_odometry_v1", 6}, {"/drone2/fmu/in/actuator_motors", 8}, {"/dynamic_joint_states", 9}}

// second is a time in a recording, ns.
const second = int64(1e9)

const tfMsg = `geometry_msgs/TransformStamped[] transforms
` + sep + `MSG: geometry_msgs/TransformStamped
std_msgs/Header header
string child_frame_id
geometry_msgs/Transform transform
` + headerMsg + sep + `MSG: geometry_msgs/Transform
Vector3 translation
Quaternion rotation
` + sep + `MSG: geometry_msgs/Quaternion
float64 x 0
float64 y 0
float64 z 0
float64 w 1
` + sep + `MSG: geometry_msgs/Vector3
float64 x
float64 y
float64 z
`

// written is the file of a recording.
func written(t testing.TB, all []note) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := foxglove.NewWriter(&b, &foxglove.WriterOptions{Chunked: true, ChunkSize: 20_000, Compression: foxglove.CompressionLZ4})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	must(w.WriteHeader(&foxglove.Header{Profile: "ros2"}))
	for i, s := range []struct{ name, text string }{
		{"nav_msgs/msg/Odometry", odometryMsg}, {"geometry_msgs/msg/Twist", plainTwistMsg}, {"sensor_msgs/msg/JointState", jointStateMsg}, {"tf2_msgs/msg/TFMessage", tfMsg}, {"ackermann_msgs/msg/AckermannDriveStamped", ackermannMsg}, {"px4_msgs/msg/VehicleOdometry", px4OdometryMsg}, {"geometry_msgs/msg/TwistStamped", twistStampedMsg}, {"px4_msgs/msg/ActuatorMotors", "uint64 timestamp\nfloat32[12] control\n"}, {"control_msgs/msg/DynamicJointState", dynamicMsg},
	} {
		must(w.WriteSchema(&foxglove.Schema{ID: uint16(i + 1), Name: s.name, Encoding: "ros2msg", Data: []byte(s.text)}))
	}
	for i, c := range channels {
		must(w.WriteChannel(&foxglove.Channel{ID: uint16(i), SchemaID: c.schema, Topic: c.topic, MessageEncoding: "cdr"}))
	}
	for _, n := range all {
		must(w.WriteMessage(&foxglove.Message{ChannelID: n.channel, LogTime: uint64(n.logged), PublishTime: uint64(n.logged), Data: n.data(n.stamp)}))
	}
	must(w.Close())
	return b.Bytes()
}

// head begins a message with a header.
func head(w *cdrtest.Writer, stamp int64, frame string) *cdrtest.Writer {
	return w.U32(uint32(stamp/second), uint32(stamp%second)).Text(frame)
}

// pose is the odometry of a robot that has driven for so many seconds.
func pose(at float64, frame, child string) func(int64) []byte {
	return func(stamp int64) []byte {
		w := head(cdrtest.New(), stamp, frame).Text(child)
		w.F64(4*math.Sin(at), 4*(1-math.Cos(at)), 0, 0, 0, math.Sin(at/2), math.Cos(at/2))
		w.F64(make([]float64, 36)...)
		w.F64(4, 0, 0, 0, 0, 1+0.1*math.Sin(3*at))
		return w.F64(make([]float64, 36)...).B
	}
}

func command(v float64) func(int64) []byte { return func(int64) []byte { return twist(v) } }

// patrol is a drive of n steps of 50 ms: odometry with stamps and a command without.
func patrol(n int) (all []note) {
	for i := range n {
		at := 1700*second*1e6 + int64(i)*50e6
		all = append(all, note{0, at + 2e6, at, pose(0.05*float64(i), "odom", "base_link")},
			note{1, at + 3e6, 0, command(math.Sin(0.1 * float64(i)))})
	}
	return all
}

// try imports files by a preset.
func try(t testing.TB, preset string, where importer.Where, files ...[]byte) (*flightlog.Log, *importer.Summary, error) {
	t.Helper()
	return tryTopics(t, preset, nil, where, files...)
}

// tryTopics is try with some topics, of several of one type.
func tryTopics(t testing.TB, preset string, topics []string, where importer.Where, files ...[]byte) (*flightlog.Log, *importer.Summary, error) {
	t.Helper()
	return tryMap(t, preset, func(m *importer.Map) { m.Where, m.Topics = where, topics }, files...)
}

// tryMap imports files as a preset does that is changed.
func tryMap(t testing.TB, preset string, change func(*importer.Map), files ...[]byte) (*flightlog.Log, *importer.Summary, error) {
	t.Helper()
	dir := t.TempDir()
	var in []string
	for i, f := range files {
		in = append(in, filepath.Join(dir, fmt.Sprintf("%d.mcap", i)))
		if err := os.WriteFile(in[i], f, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	m, err := importer.Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	change(m)
	out := filepath.Join(dir, "f.msgpack")
	s, err := importer.Import(context.Background(), importer.Job{Format: "mcap", Map: m, Inputs: in, Out: out, Open: telemetry.Opens(mcap.Open)})
	if err != nil {
		return nil, s, err
	}
	log, err := flightlog.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return log, s, nil
}

// rows are the samples of a log, one line each, without their times.
func rows(log *flightlog.Log) (all []string) {
	for _, s := range log.Segments {
		n := len(s.T)
		k, p := len(s.X)/n, len(s.U)/n
		for i := range n {
			all = append(all, fmt.Sprintf("%.6g %.6g", s.X[k*i:k*i+k], s.U[p*i:p*i+p]))
		}
	}
	return all
}

// What does not change what was driven does not change the rows of an import, or the import
// says what it did.
func TestMetamorphic(t *testing.T) {
	plain, _, err := try(t, "ros2-odometry", nil, written(t, patrol(400)))
	if err != nil {
		t.Fatal(err)
	}
	want := rows(plain)
	rng := rand.New(rand.NewPCG(7, 8))
	shift := func(n []note, from int, logged, stamps int64) []note {
		for i := from; i < len(n); i++ {
			n[i].logged += logged
			n[i].stamp += stamps
		}
		return n
	}
	for name, c := range map[string]struct {
		change   func(n []note) []note
		segments int
		says     string
	}{
		"as it is": {func(n []note) []note { return n }, 1, ""},
		"topic after topic": {func(n []note) []note {
			slices.SortStableFunc(n, func(a, b note) int { return int(a.channel) - int(b.channel) })
			return n
		}, 1, "they were sorted by their times"},
		"in no order":   {func(n []note) []note { rng.Shuffle(len(n), func(i, k int) { n[i], n[k] = n[k], n[i] }); return n }, 1, "they were sorted by their times"},
		"halves turned": {func(n []note) []note { return append(slices.Clone(n[400:]), n[:400]...) }, 1, "they were sorted by their times"},
		"on two channels": {func(n []note) []note {
			for i := range n {
				n[i].channel += uint16(4 * (i / 400))
			}
			return n
		}, 1, ""},
		"on two, in turns": {func(n []note) []note {
			for i := range n {
				n[i].channel += uint16(4 * (i / 2 % 2))
			}
			return n
		}, 1, ""},
		"robot's clock behind":   {func(n []note) []note { return shift(n, 0, 0, -3600*second) }, 1, "clock /odom is 3600.002 s behind the recorder's"},
		"robot's clock ahead":    {func(n []note) []note { return shift(n, 0, 0, second/3) }, 1, "behind the recorder's"},
		"both set back by 2 s":   {func(n []note) []note { return shift(n, 400, -2*second, -2*second) }, 2, "the clock was set, or restarted, 1 time"},
		"both set back by .4 s":  {func(n []note) []note { return shift(n, 400, -2*second/5, -2*second/5) }, 2, "the clock was set, or restarted, 1 time"},
		"both set ahead by 1 h":  {func(n []note) []note { return shift(n, 400, 3600*second, 3600*second) }, 2, ""},
		"robot set back by 30 s": {func(n []note) []note { return shift(n, 400, 0, -30*second) }, 2, "the clock was set, or restarted, 1 time"},
		"recorder set back":      {func(n []note) []note { return shift(n, 400, -7*second, 0) }, 2, "the clock was set, or restarted, 1 time"},
		"simulation from 0": {func(n []note) []note {
			return shift(n, 0, 0, -1700*second*1e6)
		}, 1, ""},
		"simulation at .5": {func(n []note) []note {
			for i := range n {
				n[i].logged += n[i].logged - 1700*second*1e6
			}
			return n
		}, 1, "runs at 0.5 of the recorder's rate"},
		"packed one by one": {func(n []note) []note {
			e, _ := zstd.NewWriter(nil)
			for i := range n {
				plain := n[i].data
				n[i].data = func(s int64) []byte { return e.EncodeAll(plain(s), nil) }
			}
			return n
		}, 1, ""},
		"another publisher, by name": {func(n []note) (out []note) {
			for i, x := range n {
				if out = append(out, x); i%20 == 0 && i < 800/25 {
					out = append(out, note{0, x.logged + 1, x.stamp + 1, pose(9, "map", "camera")})
				}
			}
			return out
		}, 1, ""},
	} {
		log, s, err := try(t, "ros2-odometry", nil, written(t, c.change(patrol(400))))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := rows(log)
		// Where a clock is set the command before is not held.
		same := 0
		for i := range min(len(got), len(want)) {
			if got[i] == want[i] {
				same++
			}
		}
		if said := strings.Join(s.Texts(), "\n"); len(got) != len(want) || same < len(want)-c.segments || len(log.Segments) != c.segments || !strings.Contains(said, c.says) {
			t.Errorf("%s: %d rows, %d of them the same, %d segments\n%s", name, len(got), same, len(log.Segments), said)
		}
	}
	all := patrol(400)
	log, _, err := try(t, "ros2-odometry", nil, written(t, all[:400]), written(t, all[400:]))
	if err != nil || len(log.Segments) != 2 || len(rows(log)) != 400 || !slices.Equal(rows(log)[:200], want[:200]) || !slices.Equal(rows(log)[201:], want[201:]) {
		t.Error("split into two files:", err, len(log.Segments))
	}
}

// Two publishers of one topic are refused by name, and one of them is selected.
func TestTwoPublishers(t *testing.T) {
	var all []note
	for i, n := range patrol(400) {
		all = append(all, n)
		if i%2 == 0 {
			all = append(all, note{0, n.logged + 4e6, n.stamp + 10e6, pose(7+0.03*float64(i), "map", "base_link")})
		}
	}
	file := written(t, all)
	_, _, err := try(t, "ros2-odometry", nil, file)
	if err == nil || !strings.Contains(err.Error(), `"header.frame_id" = "odom"`) || !strings.Contains(err.Error(), `"header.frame_id" = "map"`) {
		t.Fatal(err)
	}
	want, _, err := try(t, "ros2-odometry", nil, written(t, patrol(400)))
	if err != nil {
		t.Fatal(err)
	}
	log, _, err := try(t, "ros2-odometry", importer.Where{"header.frame_id": "odom"}, file)
	if err != nil || !slices.Equal(rows(log), rows(want)) {
		t.Error(err)
	}
}

// state is a message of joints with their positions, and velocities where there are any.
func state(names []string, positions []float64, velocity bool) func(int64) []byte {
	return func(stamp int64) []byte {
		w := head(cdrtest.New(), stamp, "").Seq(len(names)).Text(names...).Seq(len(names)).F64(positions...)
		if velocity {
			return w.Seq(len(names)).F64(positions...).Seq(0).B
		}
		return w.Seq(0).Seq(0).B
	}
}

// Joints are found by their names in every message: in another order, in messages of
// several publishers, with arrays that are empty at first.
func TestJointsByName(t *testing.T) {
	var all []note
	for i := range 400 {
		at := 1700*second*1e6 + int64(i)*20e6
		a, b, c := 0.01*float64(i), 1-0.02*float64(i), math.Sin(0.1*float64(i))
		names, values := []string{"a", "b"}, []float64{a, b}
		if i >= 200 {
			names, values = []string{"b", "a"}, []float64{b, a}
		}
		all = append(all, note{2, at, at, state(names, values, i > 30)}, note{2, at, at, state([]string{"c"}, []float64{c}, true)})
	}
	log, _, err := try(t, "joint-states", nil, written(t, all))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range log.Channels {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "a b c a_velocity b_velocity c_velocity" || len(log.Segments) != 1 || len(log.Segments[0].T) != 400 {
		t.Fatal(got, len(log.Segments))
	}
	for i := range 400 {
		x := log.Segments[0].X[6*i : 6*i+6]
		if math.Abs(x[0]-0.01*float64(i)) > 1e-9 || math.Abs(x[1]-1+0.02*float64(i)) > 1e-9 || math.Abs(x[2]-math.Sin(0.1*float64(i))) > 1e-9 || math.IsNaN(x[3]) != (i <= 30) {
			t.Fatalf("row %d: %v", i, x)
		}
	}
}

// Fields by their numbers are of other joints where the order changes, which is reported.
func TestJointsByNumber(t *testing.T) {
	file := written(t, []note{{2, 5, second, state([]string{"a", "b"}, []float64{1, 2}, false)}, {2, 6, 2 * second, state([]string{"b", "a"}, []float64{2, 1}, false)}})
	r := mcap.NewReader("a.mcap", bytes.NewReader(file), telemetry.Wants{Select: func(*telemetry.Topic) []string { return []string{"position[0]"} }})
	for {
		if _, err := r.Next(); err != nil {
			break
		}
	}
	if p := r.Problems().All(); len(p) != 1 || !strings.Contains(p[0].Reason, "write it by name, as in position[name=a]") {
		t.Error(p)
	}
}

// The transforms of one message are of frames of their own.
func TestTransforms(t *testing.T) {
	transforms := func(i int) func(int64) []byte {
		return func(stamp int64) []byte {
			w := cdrtest.New().Seq(2)
			for k, frames := range [][2]string{{"odom", "base_link"}, {"map", "odom"}} {
				head(w, stamp, frames[0]).Text(frames[1]).F64(float64(i*(k+1)), 0, 0, 0, 0, 0, 1)
			}
			return w.B
		}
	}
	r := mcap.NewReader("a.mcap", bytes.NewReader(written(t, []note{{3, 5, second, transforms(1)}, {3, 6, 2 * second, transforms(2)}})), telemetry.Wants{
		Select: func(*telemetry.Topic) []string { return []string{"transforms[0].transform.translation.x"} },
	})
	var got []string
	for {
		m, err := r.Next()
		if err != nil {
			break
		}
		got = append(got, fmt.Sprint(m.Topic.SenderName(), " ", m.Time/second, " ", m.Values))
	}
	if want := []string{"odom, base_link 1 [1]", "map, odom 1 [2]", "odom, base_link 2 [2]", "map, odom 2 [4]"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A recording without any time of recording has those of its stamps, and is refused where the
// commands have none.
func TestNoLogTime(t *testing.T) {
	all := patrol(400)
	for i := range all {
		all[i].logged = 0
	}
	_, s, err := try(t, "ros2-odometry", nil, written(t, all))
	lost, ok := errors.AsType[*importer.LossError](err)
	if !ok || s.Rows != 400 || !strings.Contains(lost.Error(), "messages of /cmd_vel have no time") {
		t.Error(err)
	}
}
