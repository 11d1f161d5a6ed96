package mcap_test

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/bridge/cdr/cdrtest"
	"github.com/dgm-robotics/dgm/estimator/channel"
)

const dynamicMsg = `std_msgs/Header header
string[] joint_names
control_msgs/InterfaceValue[] interface_values
` + headerMsg + sep + `MSG: control_msgs/InterfaceValue
string[] interface_names
float64[] values
`

// The states of joints whose interfaces have names are found by these, in any order of joints and of interfaces.
func TestDynamicJointStates(t *testing.T) {
	const dynamic = 14
	var all []note
	for i := range 300 {
		at := 1700*second*1e6 + int64(i)*20e6
		a := 0.02 * float64(i)
		elbow := func(w *cdrtest.Writer) {
			w.Seq(3).Text("position", "velocity", "effort").Seq(3).F64(math.Sin(a), math.Cos(a), math.Sin(3*a))
		}
		wrist := func(w *cdrtest.Writer) { w.Seq(2).Text("velocity", "position").Seq(2).F64(-math.Sin(a), math.Cos(a)) }
		all = append(all, note{dynamic, at, at, func(stamp int64) []byte {
			w := head(cdrtest.New(), stamp, "").Seq(2)
			if i < 150 {
				w.Text("elbow", "wrist").Seq(2)
				elbow(w)
				wrist(w)
			} else {
				w.Text("wrist", "elbow").Seq(2)
				wrist(w)
				elbow(w)
			}
			return w.B
		}})
	}
	log, _, err := try(t, "joint-states-dynamic", nil, written(t, all))
	if err != nil {
		t.Fatal(err)
	}
	states := channel.Select(log.Channels, channel.State)
	for i := range 300 {
		a := 0.02 * float64(i)
		x := log.Segments[0].X[len(states)*i:]
		for name, want := range map[string]float64{"elbow": math.Sin(a), "elbow_velocity": math.Cos(a), "wrist": math.Cos(a), "wrist_velocity": -math.Sin(a)} {
			if k := channel.Index(states, name); k < 0 || math.Abs(x[k]-want) > 1e-9 {
				t.Fatalf("row %d, %s: %v", i, name, x)
			}
		}
		if u := log.Segments[0].U[i]; math.Abs(u-math.Sin(3*a)) > 1e-9 {
			t.Fatalf("row %d: effort %v", i, u)
		}
	}
}
