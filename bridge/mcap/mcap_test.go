package mcap_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	foxglove "github.com/foxglove/mcap/go/mcap"

	"github.com/dgm-robotics/dgm/bridge/cdr/cdrtest"
	"github.com/dgm-robotics/dgm/bridge/frames"
	"github.com/dgm-robotics/dgm/bridge/mcap"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// stamp is the time of message i, 50 per second.
func stamp(i int) (sec, nanosec uint32) {
	return uint32(1.7e9) + uint32(i/50), uint32(i%50) * 20e6
}

// yaw and rate of a robot that turns on a circle of 4 m.
func yaw(i int) float64 { return 0.01 * float64(i) }

// helix is the odometry of a robot that climbs on a circle of 4 m, its nose 0.3 rad up and
// swinging, in axes of the body as in ROS, or of the world.
func helix(i int, inBody bool) []byte {
	t := 0.02 * float64(i)
	roll, pitch, yaw := 0.2*math.Sin(2*t), 0.3+0.2*math.Sin(3*t), t
	dRoll, dPitch, dYaw := 0.4*math.Cos(2*t), 0.6*math.Cos(3*t), 1.0
	q := frames.FromEuler([3]float64{roll, pitch, yaw})
	v := [3]float64{4 * math.Cos(t), 4 * math.Sin(t), 0.5 + 0.3*math.Cos(t)}
	if inBody {
		v = q.Conj().Rotate(v)
	}
	w := cdrtest.New()
	sec, nanosec := stamp(i)
	w.U32(sec, nanosec).Text("odom", "base_link")
	w.F64(4*math.Sin(t), 4*(1-math.Cos(t)), 0.5*t+0.3*math.Sin(t))
	w.F64(q[1], q[2], q[3], q[0])
	w.F64(make([]float64, 36)...)
	w.F64(v[0], v[1], v[2])
	w.F64(dRoll-dYaw*math.Sin(pitch), dPitch*math.Cos(roll)+dYaw*math.Cos(pitch)*math.Sin(roll), dYaw*math.Cos(pitch)*math.Cos(roll)-dPitch*math.Sin(roll))
	w.F64(make([]float64, 36)...)
	return w.B
}

func odometry(i int) []byte {
	w := cdrtest.New()
	sec, nanosec := stamp(i)
	w.U32(sec, nanosec).Text("odom", "base_link")
	w.F64(4*math.Sin(yaw(i)), 4*(1-math.Cos(yaw(i))), 0)
	w.F64(0, 0, math.Sin(yaw(i)/2), math.Cos(yaw(i)/2))
	w.F64(make([]float64, 36)...)
	w.F64(2, 0, 0, 0, 0, 0.5+0.1*math.Sin(float64(i)))
	w.F64(make([]float64, 36)...)
	return w.B
}

func twist(v float64) []byte { return cdrtest.New().F64(v, 0, 0, 0, 0, v/4).B }

func joints(i int) []byte {
	sec, nanosec := stamp(i)
	t := 0.02 * float64(i)
	w := cdrtest.New().U32(sec, nanosec).Text("")
	w.Seq(3).Text("shoulder", "elbow", "fixed")
	w.Seq(3).F64(math.Sin(t), math.Cos(2*t), 0.25)
	w.Seq(3).F64(math.Cos(t), -2*math.Sin(2*t), 0)
	return w.Seq(0).B
}

// drive writes a drive of n odometry messages, 50 per second, each recorded 5 ms
// late, with a command each 200 ms.
func drive(t testing.TB, n int, o foxglove.WriterOptions, encoding string) []byte {
	t.Helper()
	return record(t, n, o, encoding, odometry)
}

// record is drive of another robot.
func record(t testing.TB, n int, o foxglove.WriterOptions, encoding string, odometry func(i int) []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := foxglove.NewWriter(&b, &o)
	if err != nil {
		t.Fatal(err)
	}
	schema := odometryMsg
	if encoding == "ros2idl" {
		schema = odometryIDL
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.WriteHeader(&foxglove.Header{Profile: "ros2"}))
	for i, s := range []struct{ name, encoding, text string }{
		{"nav_msgs/msg/Odometry", encoding, schema}, {"geometry_msgs/msg/Twist", "ros2msg", plainTwistMsg}, {"sensor_msgs/msg/JointState", "ros2msg", jointStateMsg}, {"x", "jsonschema", "{}"},
	} {
		must(w.WriteSchema(&foxglove.Schema{ID: uint16(i + 1), Name: s.name, Encoding: s.encoding, Data: []byte(s.text)}))
	}
	for i, topic := range []string{"/odom", "/cmd_vel", "/joint_states"} {
		must(w.WriteChannel(&foxglove.Channel{ID: uint16(i), SchemaID: uint16(i + 1), Topic: topic, MessageEncoding: "cdr"}))
	}
	must(w.WriteChannel(&foxglove.Channel{ID: 9, SchemaID: 4, Topic: "/json", MessageEncoding: "json"}))
	for i := range n {
		ns := uint64(1.7e18) + uint64(i)*20e6
		msg := func(ch uint16, data []byte) {
			must(w.WriteMessage(&foxglove.Message{ChannelID: ch, LogTime: ns + 5e6, PublishTime: ns, Data: data}))
		}
		msg(0, odometry(i))
		msg(2, joints(i))
		if i%10 == 0 {
			msg(1, twist(2+float64(i%3)))
			msg(9, []byte("{}"))
		}
	}
	must(w.Close())
	return b.Bytes()
}

var ways = map[string]foxglove.WriterOptions{
	"lz4":       {Chunked: true, ChunkSize: 20_000, Compression: foxglove.CompressionLZ4, IncludeCRC: true},
	"zstd":      {Chunked: true, ChunkSize: 20_000, Compression: foxglove.CompressionZSTD, IncludeCRC: true},
	"plain":     {Chunked: true, ChunkSize: 20_000, Compression: foxglove.CompressionNone},
	"no chunks": {Chunked: false},
	"no index":  {Chunked: true, ChunkSize: 20_000, Compression: foxglove.CompressionZSTD, SkipMessageIndexing: true, SkipStatistics: true, SkipRepeatedSchemas: true, SkipRepeatedChannelInfos: true, SkipSummaryOffsets: true, SkipChunkIndex: true},
}

type got struct {
	counts   map[string]int
	times    []int64 // of /odom
	x        []float64
	problems []telemetry.Problem
	err      error
}

func read(t testing.TB, log []byte) (g got) {
	t.Helper()
	g.counts = map[string]int{}
	r := mcap.NewReader("a.mcap", bytes.NewReader(log), telemetry.Wants{Select: func(t *telemetry.Topic) []string {
		if t.Name == "/odom" {
			return []string{"pose.pose.position.x"}
		}
		return nil
	}})
	defer r.Close()
	for {
		m, err := r.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				g.err = err
			}
			break
		}
		g.counts[m.Topic.String()]++
		if unread := m.Topic.Unread; (m.Topic.Name == "/json") != (unread != nil) || unread != nil && !strings.Contains(unread.Error(), `messages in "json" are not read`) {
			t.Errorf("%s: %v", m.Topic, unread)
		}
		if m.Topic.Name == "/odom" {
			g.times = append(g.times, m.Time)
			g.x = append(g.x, m.Values[0])
			if !m.Stamped || m.Logged != m.Time+5e6 {
				t.Errorf("stamped %v at %d, recorded at %d", m.Stamped, m.Time, m.Logged)
			}
		}
	}
	g.problems = r.Problems().All()
	return g
}

func TestEveryWayOfWriting(t *testing.T) {
	for name, o := range ways {
		for _, encoding := range []string{"ros2msg", "ros2idl"} {
			g := read(t, drive(t, 500, o, encoding))
			if g.err != nil || len(g.problems) > 0 || fmt.Sprint(g.counts) != "map[/cmd_vel:50 /joint_states:500 /json:50 /odom:500]" {
				t.Errorf("%s, %s: %v, %v, %v", name, encoding, g.counts, g.problems, g.err)
				continue
			}
			for i, at := range g.times {
				if at != 1.7e18+int64(i)*20e6 || g.x[i] != 4*math.Sin(yaw(i)) {
					t.Fatalf("%s: message %d at %d: x %v", name, i, at, g.x[i])
				}
			}
		}
	}
}

// The same files by an independent reader.
func TestWrittenSameAsROS2(t *testing.T) {
	for name, o := range ways {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.mcap")
			if err := os.WriteFile(path, drive(t, 60, o, "ros2msg"), 0o666); err != nil {
				t.Fatal(err)
			}
			sameAsROS2(t, path)
		})
	}
}

// A file cut off anywhere gives the messages before the cut, and reports the rest.
func TestCutOff(t *testing.T) {
	for name, o := range ways {
		whole := drive(t, 300, o, "ros2msg")
		last := 0
		for cut := 200; cut < len(whole); cut += len(whole)/40 + 1 {
			g := read(t, whole[:cut])
			if g.err != nil || g.counts["/odom"] < last {
				t.Errorf("%s: cut at %d of %d: %v, %v", name, cut, len(whole), g.counts, g.err)
			}
			if g.counts["/odom"] < 300 && len(g.problems) == 0 {
				t.Errorf("%s: cut at %d of %d: %d messages and no problem", name, cut, len(whole), g.counts["/odom"])
			}
			last = g.counts["/odom"]
		}
		if last < 250 {
			t.Errorf("%s: only %d messages of nearly the whole file", name, last)
		}
	}
}

// Damage within a chunk costs that chunk, and damage between chunks no more.
func TestDamage(t *testing.T) {
	for _, name := range []string{"lz4", "zstd"} {
		whole := drive(t, 500, ways[name], "ros2msg")
		chunk := bytes.Index(whole[len(whole)/3:], append([]byte{byte(len(name)), 0, 0, 0}, name...)) + len(whole)/3 - 37 // where a chunk begins
		if whole[chunk] != 6 {
			t.Fatal("no chunk there")
		}
		for what, change := range map[string]func([]byte){
			"packed bytes": func(b []byte) { b[400] ^= 0x55 },
			"length":       func(b []byte) { b[1] ^= 0x55 },
			"long length":  func(b []byte) { b[8] = 0x7f },
			"kind":         func(b []byte) { b[0] = 0 },
			"zeros":        func(b []byte) { clear(b[:100]) },
		} {
			b := bytes.Clone(whole)
			change(b[chunk:])
			g := read(t, b)
			if n := g.counts["/odom"]; g.err != nil || n < 400 || n > 495 || g.x[0] != 0 || g.times[len(g.times)-1] != 1.7e18+499*20e6 {
				t.Errorf("%s, %s: %v, %v", name, what, g.counts, g.err)
			}
			if len(g.problems) != 1 || g.problems[0].Offset != int64(chunk) {
				t.Errorf("%s, %s: problems %v, expected one at byte %d", name, what, g.problems, chunk)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ log, want string }{{"", "this is no MCAP file"}, {"SQLite format 3\x00....", "a bag in SQLite has an importer of its own, db3"}} {
		if g := read(t, []byte(c.log)); g.err == nil || !strings.Contains(g.err.Error(), c.want) {
			t.Errorf("%q: %v", c.log, g.err)
		}
	}
	log := drive(t, 10, ways["lz4"], "ros2msg")
	for path, want := range map[string]string{"pose.position.x": `there is no "position" in geometry_msgs/PoseWithCovariance`, "pose.covariance": "write covariance[0]"} {
		r := mcap.NewReader("a.mcap", bytes.NewReader(log), telemetry.Wants{Select: func(t *telemetry.Topic) []string {
			if t.Name == "/odom" {
				return []string{path}
			}
			return nil
		}})
		_, err := r.Next()
		var missing *telemetry.FieldError
		if !errors.As(err, &missing) || !strings.Contains(missing.Why, want) || len(missing.There) != 2+3+4+36+6+36 {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}

// tiny is a file of two short messages.
func tiny(t testing.TB, o foxglove.WriterOptions) []byte {
	var b bytes.Buffer
	w, err := foxglove.NewWriter(&b, &o)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(w.WriteHeader(&foxglove.Header{}), w.WriteSchema(&foxglove.Schema{ID: 1, Name: "p/A", Encoding: "ros2msg", Data: []byte("float64[] x")}),
		w.WriteChannel(&foxglove.Channel{ID: 1, SchemaID: 1, Topic: "a", MessageEncoding: "cdr"}),
		w.WriteMessage(&foxglove.Message{ChannelID: 1, LogTime: 1, Data: cdrtest.New().Seq(1).F64(2).B}),
		w.WriteMessage(&foxglove.Message{ChannelID: 1, LogTime: 2, Data: cdrtest.New().Seq(0).B}), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Whatever the bytes are, reading ends, and problems have a place in them.
func FuzzReader(f *testing.F) {
	for _, name := range []string{"lz4", "zstd", "no chunks"} {
		f.Add(tiny(f, ways[name]))
		o := ways[name]
		o.SkipMessageIndexing, o.SkipStatistics, o.SkipRepeatedSchemas, o.SkipRepeatedChannelInfos, o.SkipSummaryOffsets, o.SkipChunkIndex = true, true, true, true, true, true
		f.Add(tiny(f, o))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		r := mcap.NewReader("a.mcap", bytes.NewReader(log), telemetry.Wants{Select: func(t *telemetry.Topic) (paths []string) {
			for _, f := range t.Fields() {
				if t.Check(f.Path) == nil {
					paths = append(paths, f.Path)
				}
			}
			return paths
		}})
		defer r.Close()
		for {
			m, err := r.Next()
			if err != nil {
				break
			}
			if m.Logged < 0 || m.Topic.Name == "" && m.Topic.Seq < 0 {
				t.Fatalf("%+v", m)
			}
		}
		for _, p := range r.Problems().All() {
			if p.Offset < 0 || p.Offset > int64(len(log)) || p.Reason == "" || p.Record == "" {
				t.Fatalf("problem %+v of a file of %d bytes", p, len(log))
			}
		}
	})
}
