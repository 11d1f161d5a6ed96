package invariance

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// drive returns flights of a body with drag that a force moves, held by a spring, in each of which another force is applied; a controller
// draws it back.
func drive(spring, controller float64) (flights []window.Flight, states []channel.Channel) {
	states = []channel.Channel{{Name: "x", Role: channel.State, Unit: "m", Derivative: "v"}, {Name: "v", Role: channel.State, Unit: "m/s"}}
	for f := range 5 {
		rng := rand.New(rand.NewPCG(uint64(f), 1))
		a, b, phase := 1+rng.Float64(), 0.4+rng.Float64(), 6*rng.Float64()
		s := window.Series{}
		x, v := 3*rng.NormFloat64(), 0.0
		for i := range 2000 {
			t := 0.01 * float64(i)
			u := math.Sin(a*t+phase) + 0.5*math.Sin(b*t) - controller*x
			s.T, s.U = append(s.T, int64(i)*1e7), append(s.U, u)
			s.X = append(s.X, x+1e-3*rng.NormFloat64(), v+1e-3*rng.NormFloat64())
			for range 10 {
				v += 1e-3 * (u - 0.5*v - 0.2*v*math.Abs(v) - spring*x)
				x += 1e-3 * v
			}
		}
		flights = append(flights, window.Prepare(f, s, states, 1, window.Options{})...)
	}
	return flights, states
}

// Nothing depends on the place of a body that moves freely, even where a controller does; a body on a spring depends on it, whatever it is called.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		name               string
		spring, controller float64
		place, want        bool
	}{
		{"free", 0, 0, false, true},
		{"free, a vehicle", 0, 0, true, true},
		{"controlled vehicle", 0, 0.5, true, true},
		{"on a spring", 2, 0, false, false},
		{"a vehicle on a spring", 2, 0, true, false},
	} {
		flights, states := drive(c.spring, c.controller)
		if got := len(Find(flights, states, map[int]bool{0: c.place}, 0.5)) == 1; got != c.want {
			t.Errorf("%s: invariant %v, want %v", c.name, got, c.want)
		}
	}
}

// Angles, states in other units and what is declared are not tried, and neither is a log of one position.
func TestTried(t *testing.T) {
	states := []channel.Channel{{Name: "x", Unit: "m"}, {Name: "q", Unit: "rad"}, {Name: "s", Unit: "mm", Period: 10}, {Name: "z", Unit: "m", Invariant: true}, {Name: "h", Unit: "km"}}
	if got := lengths(states); len(got) != 2 || got[0] != 0 || got[1] != 4 {
		t.Errorf("%v", got)
	}
	flights, all := drive(0, 0)
	if got := Find(flights, []channel.Channel{all[0], {Name: "w", Role: channel.State, Unit: "m"}}, nil, 0.5); got != nil {
		t.Errorf("two positions alone: %v", got)
	}
}
