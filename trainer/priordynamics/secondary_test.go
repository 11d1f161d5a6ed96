package priordynamics

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/priordynamics"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// decay is some flights of x⁺ = 0.98 x, exactly linear, with a little noise.
func decay(seed uint64, n int) []window.Flight {
	rng := rand.New(rand.NewPCG(seed, 0))
	var out []window.Flight
	for at := 0; at < n; at += 100 {
		s := window.Series{Name: "decay"}
		x := 2 * rng.NormFloat64()
		for i := range min(100, n-at) {
			s.T = append(s.T, int64(i)*1e7)
			s.X = append(s.X, x+1e-4*rng.NormFloat64())
			x -= 0.02 * x
		}
		out = append(out, window.Prepare(at, s, one, 0, window.Options{})...)
	}
	return out
}

var one = []channel.Channel{{Name: "x", Role: channel.State}}

func TestSecondaryModelIsLinearAndShort(t *testing.T) {
	flights := decay(5, 1000)
	shape, err := secondaryShape(flights, window.Task{States: one, Horizon: 0.5}, priordynamics.Body{})
	if err != nil {
		t.Fatal(err)
	}
	if shape.Degree != 1 || shape.Step > 0.05+1e-9 {
		t.Errorf("shape %+v", shape)
	}
	long := window.Series{Name: "long"}
	for i := range 3000 {
		long.T = append(long.T, int64(i)*1e6)
		long.X = append(long.X, math.Exp(-float64(i)/500))
	}
	shape, err = secondaryShape(window.Prepare(0, long, one, 0, window.Options{}), window.Task{States: one, Horizon: 1}, priordynamics.Body{})
	if err != nil || shape.Step < 1./secondarySteps-1e-9 {
		t.Errorf("a step of %v s is one of %v over the horizon: %v", shape.Step, 1/shape.Step, err)
	}
	if _, err := secondaryShape(decay(6, 2), window.Task{States: one, Horizon: 0.02}, priordynamics.Body{}); err == nil {
		t.Error("two samples give a secondary model")
	}
}

// A flight of one sample, which a gap left over, has no interval, and hides none.
func TestShapesBesideOneSample(t *testing.T) {
	flights := decay(5, 1000)
	task := window.Task{States: one, Horizon: 0.5}
	want := shapes(flights, task, priordynamics.Body{})
	got := shapes(append([]window.Flight{flights[0].Slice(0, 1)}, flights...), task, priordynamics.Body{})
	if len(want) == 0 || len(got) != len(want) || got[0].Step != want[0].Step {
		t.Errorf("%v, expected %v", got, want)
	}
}

// A horizon of as many samples as there may be steps has one sample in a step, whatever their times round to.
func TestSecondaryStepIsOneSample(t *testing.T) {
	s := window.Series{Name: "short of a nanosecond"}
	for i := range 1000 {
		s.T = append(s.T, int64(i)*5e6-int64(i)/200)
		s.X = append(s.X, math.Exp(-float64(i)/300))
	}
	shape, err := secondaryShape(window.Prepare(0, s, one, 0, window.Options{}), window.Task{States: one, Horizon: 1}, priordynamics.Body{})
	if err != nil || math.Abs(shape.Step-0.005) > 1e-6 {
		t.Errorf("a step of %v s, expected 0.005: %v", shape.Step, err)
	}
}

// That a rate moves its position holds beyond the rates that were seen.
func TestLinearEquationCarriesOn(t *testing.T) {
	states := []channel.Channel{{Name: "x", Role: channel.State, Derivative: "v", Invariant: true}, {Name: "v", Role: channel.State}}
	var flights []window.Flight
	for i, v := range []float64{-1, -0.3, 0.5, 1} {
		s := window.Series{Name: "straight on"}
		for j := range 200 {
			s.T = append(s.T, int64(j)*1e7)
			s.X = append(s.X, v*0.01*float64(j), v)
		}
		flights = append(flights, window.Prepare(i, s, states, 0, window.Options{})...)
	}
	m, err := Regress(flights, window.Task{States: states, Horizon: 0.5}, Shape{Step: 0.05, Degree: 1, Ridge: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	roll, d := priordynamics.New(m, 2, 0.5), make([]float64, 2)
	roll.Run([]float64{0, 5}, nil)
	roll.At(d, nil, 0.5)
	if math.Abs(d[0]-2.5) > 1e-3 || math.Abs(d[1]) > 1e-3 {
		t.Errorf("five times as fast as what was seen, half a second moves by %v", d)
	}
}
