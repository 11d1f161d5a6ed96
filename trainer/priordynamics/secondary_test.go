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
