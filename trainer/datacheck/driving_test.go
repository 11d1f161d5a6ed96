package datacheck

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
)

// A vehicle that drives on does not rest, however small what it moves in half a second is beside its whole way, and its commands are straight
// lines and settle because a program makes them.
func TestAVehicleThatDrivesOnDoesNotRest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var at, x, y, u []float64
	for i := range 3000 {
		s := 0.02 * float64(i)
		at, u = append(at, s), append(u, math.Abs(math.Mod(0.2*s, 2)-1)) // a triangle
		x, y = append(x, 0.8*s+0.01*rng.NormFloat64()), append(y, 2*math.Sin(0.1*s)+0.01*rng.NormFloat64())
	}
	log := build([]channel.Channel{{Name: "x", Role: channel.State, Unit: "m"}, {Name: "y", Role: channel.State, Unit: "m"}, {Name: "throttle", Role: channel.Input}}, at, make([]float64, len(at)), [][]float64{x, y, u})
	for _, p := range Check(log, Options{Horizon: 0.5}).Problems {
		t.Errorf("%s: %s", p.Kind, p.Text)
	}
}

// A robot that stands for most of a log rests, however noisy its sensors are.
func TestARobotThatStandsRests(t *testing.T) {
	for _, moving := range []float64{30, 150} {
		rng := rand.New(rand.NewPCG(1, 1))
		var at, x, y []float64
		for i := range 30000 {
			s := 0.02 * float64(i)
			p := math.Min(math.Max(0, s-300), moving)
			at, x, y = append(at, s), append(x, p+0.01*rng.NormFloat64()), append(y, math.Sin(p)+0.01*rng.NormFloat64())
		}
		log := build([]channel.Channel{{Name: "x", Role: channel.State, Unit: "m"}, {Name: "y", Role: channel.State, Unit: "m"}}, at, make([]float64, len(at)), [][]float64{x, y})
		if found := find(Check(log, Options{Horizon: 0.5}), Unexcited); len(found) < 2 {
			t.Errorf("moving for %g s of 600: %v", moving, found)
		}
	}
}
