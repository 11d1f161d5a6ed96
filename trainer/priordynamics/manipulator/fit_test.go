package manipulator

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

var task = window.Task{
	States: []channel.Channel{
		{Name: "w2", Role: channel.State},
		{Name: "q1", Role: channel.State, Period: channel.Angle, Derivative: "w1"},
		{Name: "q2", Role: channel.State, Period: channel.Angle, Derivative: "w2"},
		{Name: "w1", Role: channel.State},
	},
	Inputs: 1, Horizon: 0.4,
}

// truth is a chain of two links of which the second joint is driven.
var truth = priordynamics.Chain{
	Angles: []int{1, 2}, Rates: []int{3, 0}, Unit: []float64{1, 1}, Relative: true, Mass: []float64{0.4, 0.5}, Rotor: []float64{0.1},
	Sine: []float64{-15, -6}, Cosine: []float64{0, 0}, Viscous: []float64{0.2, 0.1}, Dry: []float64{0.3, 0}, Gain: []float64{0, 2},
}

// swing returns flights of the true chain, driven by torques at random, with noise of the
// sensors.
func swing(noise float64) (out []window.Flight) {
	rng := rand.New(rand.NewPCG(1, 2))
	for at := range 6 {
		s, x, u := window.Series{}, []float64{0, 3 * rng.Float64(), rng.NormFloat64(), rng.NormFloat64()}, []float64{0}
		for i := range 300 {
			if i%30 == 0 {
				u[0] = 3 * rng.NormFloat64()
			}
			s.T, s.U = append(s.T, int64(i)*1e7), append(s.U, u[0])
			for _, v := range x {
				s.X = append(s.X, v+noise*rng.NormFloat64())
			}
			truth.Add(x, slices.Clone(x), u, 0.01)
		}
		out = append(out, window.Prepare(at, s, task.States, 1, window.Options{})...)
	}
	return out
}

func TestIdentifyFindsTheChain(t *testing.T) {
	c, objective := Identify(context.Background(), swing(1e-3), task, math.Inf(1))
	if !c.Relative || !slices.Equal(c.Angles, truth.Angles) || !slices.Equal(c.Rates, truth.Rates) {
		t.Fatalf("another chain: %+v", c)
	}
	if !(objective < -4) { // of noise of a thousandth
		t.Errorf("the error is exp(%v) of that of holding", objective)
	}
	for name, of := range map[string][2][]float64{
		"mass": {c.Mass, truth.Mass}, "rotor": {c.Rotor, truth.Rotor}, "sine": {c.Sine, truth.Sine}, "cosine": {c.Cosine, truth.Cosine},
		"viscous": {c.Viscous, truth.Viscous}, "dry": {c.Dry, truth.Dry}, "gain": {c.Gain, truth.Gain},
	} {
		for i, got := range of[0] {
			if want := of[1][i]; math.Abs(got-want) > 0.02*(1+math.Abs(want)) {
				t.Errorf("%s %d: %v, in truth %v", name, i, got, want)
			}
		}
	}
	// The result does not depend on the number of processors.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if again, _ := Identify(context.Background(), swing(1e-3), task, math.Inf(1)); !reflect.DeepEqual(again, c) {
		t.Error("another result on one processor")
	}
}

func TestStatesThatAreOfNoChain(t *testing.T) {
	flights := swing(1e-3)
	for name, change := range map[string]func(states []channel.Channel){
		"an angle without a measured rate": func(s []channel.Channel) { s[1].Derivative = "" },
		"a state that is neither":          func(s []channel.Channel) { s[2].Period = 0 },
		"two angles of one rate":           func(s []channel.Channel) { s[1].Derivative = "w2" },
	} {
		other := task
		other.States = slices.Clone(task.States)
		change(other.States)
		if c, _ := Identify(context.Background(), flights, other, math.Inf(1)); !c.Empty() {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if c, _ := Identify(context.Background(), []window.Flight{flights[0].Slice(0, 60)}, task, math.Inf(1)); !c.Empty() {
		t.Errorf("of half a second: %+v", c)
	}
	if c := Refit(context.Background(), truth, []window.Flight{flights[0].Slice(0, 60)}, task); !c.Empty() {
		t.Errorf("fitted again to half a second: %+v", c)
	}
}
