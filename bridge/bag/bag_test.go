package bag_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/pierrec/lz4/v4"

	"github.com/dgm-robotics/dgm/bridge/bag"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

// record is a record by the published description of the format.
func record(data []byte, fields ...string) []byte {
	var h []byte
	for i := 0; i < len(fields); i += 2 {
		f := fields[i] + "=" + fields[i+1]
		h = append(binary.LittleEndian.AppendUint32(h, uint32(len(f))), f...)
	}
	out := append(binary.LittleEndian.AppendUint32(nil, uint32(len(h))), h...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(data))), data...)
}

func u32(v uint32) string { return string(binary.LittleEndian.AppendUint32(nil, v)) }

// connection is the description of a topic.
func connection(id uint32, topic, kind, definition string) []byte {
	inner := record(nil, "topic", topic, "type", kind, "md5sum", "x", "message_definition", definition)
	n := binary.LittleEndian.Uint32(inner)
	return record(inner[4:4+n], "op", "\x07", "conn", u32(id), "topic", topic)
}

const odometry = `Header header
string child_frame_id
float64 x
bool good
float32[] more
================================================================================
MSG: std_msgs/Header
uint32 seq
time stamp
string frame_id
`

// message is one of odometry, as ROS 1 serialises it.
func message(i int) []byte {
	var b []byte
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(i))
	b = le.AppendUint32(b, uint32(100+i/10))
	b = le.AppendUint32(b, uint32(i%10)*1e8)
	for _, s := range []string{"odom", "base"} {
		b = append(le.AppendUint32(b, uint32(len(s))), s...)
	}
	b = le.AppendUint64(b, math.Float64bits(float64(i)/2))
	b = append(b, 1)
	b = le.AppendUint32(b, 2)
	b = le.AppendUint32(b, math.Float32bits(1.5))
	return le.AppendUint32(b, math.Float32bits(float32(i)))
}

// drive is a bag of n messages in chunks of ten.
func drive(n int, compression string) []byte {
	out := append(bytes.Clone(bag.Magic), record(bytes.Repeat([]byte{' '}, 100), "op", "\x03", "index_pos", "12345678", "conn_count", u32(1), "chunk_count", u32(1))...)
	for i := 0; i < n; i += 10 {
		plain := connection(3, "/odom", "a/Odometry", odometry)
		for k := i; k < min(n, i+10); k++ {
			plain = append(plain, record(message(k), "op", "\x02", "conn", u32(3), "time", u32(uint32(100+k/10))+u32(uint32(k%10)*1e8+5))...)
		}
		packed := plain
		if compression == "lz4" {
			var b bytes.Buffer
			w := lz4.NewWriter(&b)
			if _, err := w.Write(plain); err != nil || w.Close() != nil {
				panic(err)
			}
			packed = b.Bytes()
		}
		out = append(out, record(packed, "op", "\x05", "compression", compression, "size", u32(uint32(len(plain))))...)
		out = append(out, record([]byte{1, 2, 3, 4}, "op", "\x04", "ver", u32(1), "conn", u32(3), "count", u32(10))...)
	}
	return append(out, record(nil, "op", "\x06")...)
}

func read(t testing.TB, log []byte) (x []float64, problems []telemetry.Problem) {
	t.Helper()
	r := bag.NewReader("a.bag", bytes.NewReader(log), telemetry.Wants{Select: func(*telemetry.Topic) []string { return []string{"x", "more[1]"} }})
	defer r.Close()
	for {
		m, err := r.Next()
		if errors.Is(err, io.EOF) {
			return x, r.Problems().All()
		}
		if err != nil {
			return x, append(r.Problems().All(), telemetry.Problem{Reason: err.Error()})
		}
		i := int(2 * m.Values[0])
		if m.Topic.Name != "/odom" || m.Topic.Kind != "a/msg/Odometry" || m.Values[1] != float64(i) || !m.Stamped || m.Time != int64(100e9)+int64(i)*1e8 || m.Logged != m.Time+5 || m.Topic.SenderName() != "odom, base" {
			t.Errorf("%+v %+v", m, m.Topic)
		}
		x = append(x, m.Values[0])
	}
}

func TestBag(t *testing.T) {
	var want []float64
	for i := range 95 {
		want = append(want, float64(i)/2)
	}
	for _, compression := range []string{"none", "lz4"} {
		if x, problems := read(t, drive(95, compression)); !slices.Equal(x, want) || len(problems) != 0 {
			t.Error(compression, x, problems)
		}
	}
	whole := drive(95, "none")
	x, problems := read(t, whole[:len(whole)/2])
	if len(x) < 30 || len(problems) != 1 {
		t.Error(len(x), problems)
	}
	if _, problems := read(t, []byte("#ROSBAG V1.2\n")); len(problems) != 1 {
		t.Error(problems)
	}
	if x, problems := read(t, bytes.Replace(whole, []byte("compression=none"), []byte("compression=nono"), 1)); len(x) != 85 || len(problems) != 1 {
		t.Error(len(x), problems)
	}
}

// A bag that was cut off within a chunk has the messages ahead of the cut, and one cause is reported once: where the file was cut, and
// where the recorder was killed before it wrote the size of a packed chunk.
func TestCutWithinAChunk(t *testing.T) {
	for _, compression := range []string{"none", "lz4"} {
		last := bytes.LastIndex(drive(100, compression), []byte("op=\x05"))
		whole := drive(100, compression)
		chunk := last + bytes.Index(whole[last:], []byte("size=")) + len("size=") + 4
		size := int(binary.LittleEndian.Uint32(whole[chunk:]))
		for name, log := range map[string][]byte{
			"cut":    whole[:chunk+4+size*3/4],
			"killed": slices.Concat(whole[:chunk-4], make([]byte, 8), whole[chunk+4:chunk+4+size*3/4]),
		} {
			x, problems := read(t, log)
			if len(x) < 90 || compression == "none" && (len(x) < 95 || len(x) > 98) || len(problems) != 1 {
				t.Error(compression, name, len(x), problems)
			}
			for i, v := range x {
				if v != float64(i)/2 {
					t.Fatal(compression, name, i, v)
				}
			}
		}
	}
}

// Two nodes that send one topic are two senders, whatever their messages say.
func TestCallers(t *testing.T) {
	log := bytes.Clone(bag.Magic)
	for k, node := range []string{"/wheels", "/camera", "/wheels"} {
		inner := record(nil, "type", "a/Odometry", "message_definition", odometry, "callerid", node)
		n := binary.LittleEndian.Uint32(inner)
		log = append(log, record(inner[4:4+n], "op", "\x07", "conn", u32(uint32(k)), "topic", "/odom")...)
		log = append(log, record(message(k), "op", "\x02", "conn", u32(uint32(k)), "time", u32(100)+u32(0))...)
	}
	r := bag.NewReader("a.bag", bytes.NewReader(log), telemetry.Wants{})
	defer r.Close()
	var got []string
	for m, err := r.Next(); err == nil; m, err = r.Next() {
		got = append(got, fmt.Sprint(m.Topic.Seq, m.Topic.Instance, " ", m.Topic.SenderName()))
	}
	if !slices.Equal(got, []string{"0 0 odom, base, /wheels", "1 0 odom, base, /camera", "0 0 odom, base, /wheels"}) {
		t.Errorf("%q", got)
	}
}

// No bytes make the reader fail in another way than by an error.
func FuzzBag(f *testing.F) {
	f.Add(drive(20, "none"))
	f.Add(drive(12, "lz4"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bag.NewReader("a.bag", bytes.NewReader(data), telemetry.Wants{Select: func(t *telemetry.Topic) (paths []string) {
			for _, f := range t.Fields() {
				if t.Check(f.Path) == nil {
					paths = append(paths, f.Path)
				}
			}
			return paths
		}})
		defer r.Close()
		for n := 0; ; n++ {
			if _, err := r.Next(); err != nil {
				return
			}
			if n > len(data) {
				t.Fatal(fmt.Sprint("more messages than bytes: ", n))
			}
		}
	})
}
