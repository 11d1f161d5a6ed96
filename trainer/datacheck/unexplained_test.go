package datacheck

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/flightlog"
)

// spinning simulates a free pendulum that is thrown so that it turns over at first: states
// theta and omega, the angle within one turn.
func spinning(omega float64, derivative string, seed uint64) *flightlog.Log {
	r := rand.New(rand.NewPCG(seed, 9))
	stamps := even(20, 200)
	cols := make([][]float64, 2)
	x, v := 0.0, omega
	for range stamps {
		cols[0] = append(cols[0], math.Remainder(x+0.003*r.NormFloat64(), 2*math.Pi))
		cols[1] = append(cols[1], v+0.003*r.NormFloat64())
		const h = 2.5e-4
		for range 20 {
			v += h * (-20*math.Sin(x) - 0.5*v)
			x += h * v
		}
	}
	return build([]channel.Channel{
		{Name: "theta", Unit: "rad", Role: channel.State, Period: channel.Angle, Derivative: derivative},
		{Name: "omega", Unit: "rad/s", Role: channel.State},
	}, stamps, nil, cols)
}

// An angle that moves by more than half a turn within a row of the regression is followed
// sample by sample.
func TestFastTurnsAreExplained(t *testing.T) {
	t.Parallel()
	for _, derivative := range []string{"", "omega"} {
		for _, omega := range []float64{-50, -35, -20, 15, 18, 40} {
			r := Check(spinning(omega, derivative, 1), Options{Horizon: 0.5})
			if p := find(r, Outlier); len(p) > 0 {
				t.Errorf("thrown at %g rad/s, derivative %q:%s", omega, derivative, describe(r))
			}
		}
	}
}
