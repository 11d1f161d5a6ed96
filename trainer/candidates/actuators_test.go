package candidates

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/actuator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// TestConfirmActuators trains on a robot whose first input acts after a dead time and whose second acts at once: a latency of the second is
// contradicted, that of the first is not.
func TestConfirmActuators(t *testing.T) {
	const n, dt, H = 3000, 0.01, 0.5
	late := actuator.Response{Dead: 0.1, Lag: 0.02}
	rng := rand.New(rand.NewPCG(1, 2))
	s := window.Series{}
	var acts, x, v float64
	u, delayed := []float64{0, 0}, make([]float64, 10)
	for i := range n {
		if i%20 == 0 {
			u = []float64{rng.NormFloat64(), rng.NormFloat64()}
		}
		s.T, s.X, s.U = append(s.T, int64(i)*10e6), append(s.X, x+1e-4*rng.NormFloat64(), v+1e-3*rng.NormFloat64()), append(s.U, u...)
		acts += (delayed[0] - acts) * dt / late.Lag
		delayed = append(delayed[1:], u[0])
		x, v = x+v*dt, v+(-4*x-v+2*acts+3*u[1])*dt
	}
	states := []channel.Channel{{Name: "x", Derivative: "v"}, {Name: "v"}}
	flights := window.Prepare(0, s, states, 2, window.Options{})
	for _, c := range []struct{ offered, want []actuator.Response }{
		{[]actuator.Response{late, {}}, []actuator.Response{late, {}}},
		{[]actuator.Response{late, {Dead: 0.3, Lag: 0.01}}, []actuator.Response{late, {}}},
		{[]actuator.Response{{}, {Dead: 0.3, Lag: 0.01}}, nil},
		{nil, nil},
	} {
		p := &Prior{task: window.Task{States: states, Inputs: 2, Horizon: H}, set: Settings{Actuators: c.offered}}
		if p.confirmActuators(t.Context(), flights); !slices.Equal(p.set.Actuators, c.want) {
			t.Errorf("of %v the flights leave %v, want %v", c.offered, p.set.Actuators, c.want)
		}
	}
}
