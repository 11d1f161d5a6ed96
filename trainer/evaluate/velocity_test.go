package evaluate

import (
	"math"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
)

// Where the velocity is declared to be of the body, constant velocity moves the position in
// the world frame.
func TestConstantVelocityIsOfTheWorld(t *testing.T) {
	var states []channel.Channel
	for _, name := range []string{"x", "y", "z", "u", "v", "w", "p", "q", "r"} {
		states = append(states, channel.Channel{Name: name, Role: channel.State})
	}
	for _, name := range []string{"roll", "pitch", "yaw"} {
		states = append(states, channel.Channel{Name: name, Role: channel.State, Period: channel.Angle})
	}
	body, err := priordynamics.NewBody(&channel.Kinematics{
		Relation: channel.Quadrotor, Position: []string{"x", "y", "z"}, Velocity: []string{"u", "v", "w"},
		Attitude: []string{"roll", "pitch", "yaw"}, Rates: []string{"p", "q", "r"}, InBody: true,
	}, states)
	if err != nil {
		t.Fatal(err)
	}
	c := comparer{body: body, velocity: make([]float64, 12), derivative: make([]int, 12)}
	for k := range c.derivative {
		c.derivative[k] = -1
	}
	c.derivative[0] = 3 // declared as well, but of other axes
	c.query.X0 = []float64{0, 0, 0, 2, 0, 0, 0.1, 0, 0.5, 0, 0, math.Pi / 2}
	c.setVelocity()
	for k, want := range []float64{0, 2, 0, 0, 0, 0, 0, 0, 0, 0.1, 0, 0.5} {
		if math.Abs(c.velocity[k]-want) > 1e-3 {
			t.Errorf("%s moves at %v, expected %v", states[k].Name, c.velocity[k], want)
		}
	}
}
