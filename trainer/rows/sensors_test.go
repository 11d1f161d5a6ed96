package rows_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator"
	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/trainer/rows"
	"github.com/dgm-robotics/dgm/trainer/window"
)

// A sensor is as declared, else its noise is that of displacements whose length goes to 0:
// neither a disturbance that adds up nor what the prior dynamics do not know is in it.
func TestSensors(t *testing.T) {
	channels := []channel.Channel{{Name: "declared", Role: channel.State, Noise: 0.2}, {Name: "measured", Role: channel.State}, {Name: "smooth", Role: channel.State}}
	rng := rand.New(rand.NewPCG(1, 5))
	var s window.Series
	walk := 0.0
	for i := range 20000 {
		walk += 0.05 * rng.NormFloat64()
		s.T = append(s.T, int64(i)*1e7)
		s.X = append(s.X, rng.NormFloat64(), walk+0.3*rng.NormFloat64(), 5*math.Sin(0.05*float64(i)))
	}
	flights := window.Prepare(0, s, channels, 0, window.Options{})
	windows := window.Cut(flights, 0.5, 0.05)
	frame, err := rows.NewFrame(channels, flights, windows, rows.Settings{
		Horizon: 0.5, Basis: 2, NoiseKnots: []float64{0, 1}, Prior: estimator.PriorDynamicsSpec{Stack: []model.Component{{Kind: model.Velocity}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := frame.SensorNoise(flights, windows, false); math.Abs(got[0]-0.04) > 1e-15 || got[1] != 0 || got[2] != 0 {
		t.Errorf("of constant noise: %v", got)
	}
	got := frame.SensorNoise(flights, windows, true)
	if math.Abs(got[0]-0.04) > 1e-15 {
		t.Errorf("R %v, declared is %v", got[0], 0.04)
	}
	if std := math.Sqrt(got[1]); math.Abs(std-0.3) > 0.02 {
		t.Errorf("std %v, expected 0.3", std)
	}
	if std := math.Sqrt(got[2]); std > 0.05 {
		t.Errorf("std %v of a sensor without noise", std)
	}
}
