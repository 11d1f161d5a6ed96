package evaluate

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// Noisier start states do not spoil the calibration if the covariance comes with them;
// without it, the intervals are as much too narrow as the error is larger.
func TestStartNoise(t *testing.T) {
	flights := shaft(rand.New(rand.NewPCG(12, 1)), 40000, 5, 0, 1)
	const times = 3
	opt := Options{Horizons: []float64{0.1, 0.5}, Stride: 0.005, Seed: 4, StartNoise: times}
	given := run(t, handmade(0), flights, opt)
	opt.HideStartCov = true
	hidden := run(t, handmade(0), flights, opt)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	if again := run(t, handmade(0), flights, opt); !reflect.DeepEqual(again, hidden) {
		t.Error("what is added depends on the number of workers")
	}
	for i, h := range given.Horizons {
		// Both ends of the displacement, what is added to the angle, and to the rate.
		sd := math.Sqrt((2+times*times)*angleNoise*angleNoise + times*times*rateNoise*rateNoise*h.T*h.T)
		want := math.Hypot(sd, rateNoise*h.T) // the measured rate is a little wrong, too
		a, b := h.Channels[0], hidden.Horizons[i].Channels[0]
		within(t, "rmse", a.RMSE, want, 0.02)
		within(t, "velocity", a.Velocity, want, 0.02)
		within(t, "hold", a.Hold, math.Hypot(5*h.T, sd), 0.02)
		within(t, "std, given", a.Std, sd, 1e-6)
		within(t, "coverage, given", a.Coverage95, 0.95, 0.01)
		if a.RMSE != b.RMSE {
			t.Errorf("rmse %v given, %v hidden", a.RMSE, b.RMSE)
		}
		within(t, "std, hidden", b.Std, math.Sqrt2*angleNoise, 1e-6)
		within(t, "coverage, hidden", b.Coverage95, math.Erf(1.959964*math.Sqrt2*angleNoise/want/math.Sqrt2), 0.03)
	}
	if given.StartNoise != times || !given.StartCovGiven || hidden.StartNoise != times || hidden.StartCovGiven {
		t.Errorf("tables of %v times, %v, and %v times, %v", given.StartNoise, given.StartCovGiven, hidden.StartNoise, hidden.StartCovGiven)
	}
	opt.Seed++
	if other := run(t, handmade(0), flights, opt); other.Horizons[0].Channels[0].RMSE == hidden.Horizons[0].Channels[0].RMSE {
		t.Error("the seed changes nothing")
	}
}

func TestStartNoiseNeedsSensorNoise(t *testing.T) {
	flights := shaft(rand.New(rand.NewPCG(12, 2)), 400, 5, 0, 1)
	m := handmade(0)
	clear(m.Sensor)
	if _, err := Run(context.Background(), m, flights, Options{StartNoise: 3}); err == nil || !strings.Contains(err.Error(), "no sensor noise") {
		t.Errorf("error %v", err)
	}
}
