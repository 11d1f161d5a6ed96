package excitation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/trainer/window"
)

var (
	states = []channel.Channel{{Name: "angle", Role: channel.State, Derivative: "rate"}, {Name: "rate", Role: channel.State}}
	inputs = []channel.Channel{{Name: "torque", Role: channel.Input}}
	task   = window.Task{States: states, Inputs: 1, Horizon: 0.5}
)

// flights returns three of a damped shaft, of 20 s at 50 Hz. command is the torque at a time, in a state.
func flights(command func(flight int, t, angle, rate float64) float64) []window.Flight {
	const dt, n = 0.02, 1000
	var out []window.Flight
	for number := range 3 {
		s := window.Series{Name: "made"}
		angle, rate := 1.0, 0.0
		for i := range n {
			t := dt * float64(i)
			u := command(number, t, angle, rate)
			s.T, s.X, s.U = append(s.T, int64(math.Round(t*1e9))), append(s.X, angle, rate), append(s.U, u)
			rate += dt * (u - 0.5*rate - 4*angle)
			angle += dt * rate
		}
		out = append(out, window.Prepare(number, s, states, len(inputs), window.Options{})...)
	}
	return out
}

// randomly returns random torques, each held for some time; another seed for every flight where they differ.
func randomly(differ bool) func(flight int, t, _, _ float64) float64 {
	return func(flight int, t, _, _ float64) float64 {
		seed := uint64(7)
		if differ {
			seed += uint64(flight)
		}
		return 2 * rand.New(rand.NewPCG(seed, uint64(t/0.4))).NormFloat64()
	}
}

func TestFeedback(t *testing.T) {
	random := randomly(true)
	controller := func(_ int, _, angle, rate float64) float64 { return 3*math.Sin(angle) - 2*rate }
	for _, c := range []struct {
		name    string
		command func(int, float64, float64, float64) float64
		want    []string
	}{
		{"random steps", random, nil},
		{"a controller that brings the shaft to rest", controller, []string{"torque"}},
		{"a controller, and small random steps", func(f int, t, angle, rate float64) float64 {
			return controller(f, t, angle, rate) + 0.2*random(f, t, angle, rate)
		}, nil},
		{"a constant", func(int, float64, float64, float64) float64 { return 0.3 }, nil},
	} {
		if got := Feedback(flights(c.command), states, inputs); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := Feedback(flights(random), states, nil); got != nil {
		t.Errorf("without inputs: %v", got)
	}
}

func TestRepeated(t *testing.T) {
	if n := Repeated(flights(randomly(true)), task); n != 0 {
		t.Errorf("%d flights with other torques repeat each other", n)
	}
	same := flights(randomly(false))
	same[1] = same[1].Slice(60, same[1].N()) // begins later
	if n := Repeated(same, task); n != 3 {
		t.Errorf("%d flights with the same torques, want 3", n)
	}
	if n := Repeated(same[:1], task); n != 0 {
		t.Errorf("one flight repeats %d", n)
	}
}
