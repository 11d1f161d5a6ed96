package channel_test

import (
	"strings"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

func TestKinematicsNameWhatIsWrong(t *testing.T) {
	var all []channel.Channel
	for _, name := range []string{"x", "y", "z", "vx", "vy", "vz", "p", "q", "r"} {
		all = append(all, channel.Channel{Name: name, Role: channel.State})
	}
	for _, name := range []string{"roll", "pitch", "yaw"} {
		all = append(all, channel.Channel{Name: name, Role: channel.State, Period: channel.Angle})
	}
	all = append(all, channel.Channel{Name: "m1", Role: channel.Input}, channel.Channel{Name: "deg", Role: channel.State, Period: 360})
	good := func() channel.Kinematics {
		return channel.Kinematics{
			Relation: channel.Quadrotor, Position: []string{"x", "y", "-z"}, Velocity: []string{"vx", "vy", "vz"},
			Attitude: []string{"roll", "-pitch", "yaw"}, Rates: []string{"p", "q", "r"}, InBody: true,
		}
	}
	k := good()
	if err := k.Check(all); err != nil {
		t.Fatal(err)
	}
	if got, want := k.String(), "quadrotor: x, y, -z by vx, vy, vz in axes of the body; roll, -pitch, yaw by p, q, r"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
	var none channel.Kinematics
	if err := none.Check(nil); err != nil {
		t.Errorf("nothing declared is refused: %v", err)
	}
	if other := good(); !other.Equal(&k) || other.Equal(&none) {
		t.Error("equal declarations are not, or others are")
	}
	for says, edit := range map[string]func(k *channel.Kinematics){
		`"car" is unknown`:                   func(k *channel.Kinematics) { k.Relation = "car" },
		"position names 2 states":            func(k *channel.Kinematics) { k.Position = k.Position[:2] },
		"position needs velocity":            func(k *channel.Kinematics) { k.Velocity = nil },
		"rates needs attitude":               func(k *channel.Kinematics) { k.Attitude = nil },
		`velocity: "m1" is not a state`:      func(k *channel.Kinematics) { k.Velocity[1] = "-m1" },
		`rates: "wx" is not a state`:         func(k *channel.Kinematics) { k.Rates[0] = "wx" },
		`rates: "roll" is declared twice`:    func(k *channel.Kinematics) { k.Rates[0] = "-roll" },
		`attitude: "q" has no period`:        func(k *channel.Kinematics) { k.Attitude[1] = "q" },
		`attitude: "deg" has another period`: func(k *channel.Kinematics) { k.Attitude[1] = "deg" },
		"it names neither":                   func(k *channel.Kinematics) { *k = channel.Kinematics{Relation: channel.Quadrotor} },
		"needs position and attitude":        func(k *channel.Kinematics) { k.Attitude, k.Rates = nil, nil },
	} {
		k := good()
		edit(&k)
		if err := k.Check(all); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("expected %q, got %v", says, err)
		}
	}
}
