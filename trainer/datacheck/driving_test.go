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
