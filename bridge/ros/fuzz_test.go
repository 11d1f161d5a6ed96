package ros_test

import (
	"testing"

	"github.com/dgm-robotics/dgm/bridge/cdr/cdrtest"
	"github.com/dgm-robotics/dgm/bridge/ros"
	"github.com/dgm-robotics/dgm/bridge/telemetry"
)

const definition = `Stamp stamp
string[] name
float64[] position
Part[] transforms
===
MSG: a/Stamp
int32 sec
uint32 nanosec
===
MSG: a/Part
string child_frame_id
float64 x
`

// No message makes the reader fail, end without one, or read beyond it.
func FuzzMessages(f *testing.F) {
	f.Add(cdrtest.New().U32(1, 2).Seq(2).Text("a", "b").Seq(2).F64(1, 2).Seq(1).Text("c").F64(3).B)
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, encoding := range []string{"cdr", "ros1"} {
			for _, text := range []string{definition, "string child_frame_id\nfloat64 x\n", "string[] name\nfloat64[] position\n"} {
				var report telemetry.Problems
				wants := telemetry.Wants{Select: func(t *telemetry.Topic) (paths []string) {
					for _, path := range []string{"position[name=a]", "transforms[0].x", "x", "position[3]"} {
						if t.Check(path) == nil {
							paths = append(paths, path)
						}
					}
					return paths
				}}
				m := ros.New("a", &wants, &report)
				schema := map[string]string{"cdr": "ros2msg", "ros1": "ros1msg"}[encoding]
				s := m.Subscribe(0, &ros.Channel{Topic: "/t", Type: "a/M", Encoding: encoding, Schema: schema, Definition: []byte(text)})
				_, err := m.Take(s, 0, 5, data)
				for n := 0; err == nil && m.More(); n++ {
					if n > len(data) {
						t.Fatal("more elements than bytes")
					}
					_, err = m.Next()
				}
				if err != nil {
					t.Fatal(err)
				}
				m.Close()
			}
		}
	})
}
