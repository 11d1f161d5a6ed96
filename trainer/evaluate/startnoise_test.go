package evaluate

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// Starts that are known worse than they were measured are no harm to the intervals if
// the covariance comes with them; untold, the intervals are as much too narrow as the
// error is larger.
func TestStartsThatAreKnownWorse(t *testing.T) {
	flights := shaft(rand.New(rand.NewPCG(12, 1)), 40000, 5, 0, 1)
	const times = 3
	opt := Options{Horizons: []float64{0.1, 0.5}, Stride: 0.005, Seed: 4, StartNoise: times}
	told := run(t, handmade(0), flights, opt)
	opt.HideStartCov = true
	untold := run(t, handmade(0), flights, opt)
	opt.Workers = 3
	if again := run(t, handmade(0), flights, opt); !reflect.DeepEqual(again, untold) {
		t.Error("what is added depends on the number of workers")
	}
	for i, h := range told.Horizons {
		// Both ends of the displacement, what is added to the angle, and to the rate.
		sd := math.Sqrt((2+times*times)*angleNoise*angleNoise + times*times*rateNoise*rateNoise*h.T*h.T)
		want := math.Hypot(sd, rateNoise*h.T) // the measured rate is a little wrong, too
		a, b := h.Channels[0], untold.Horizons[i].Channels[0]
		within(t, "rmse", a.RMSE, want, 0.02)
		within(t, "velocity", a.Velocity, want, 0.02)
		within(t, "hold", a.Hold, math.Hypot(5*h.T, sd), 0.02)
		within(t, "std, told", a.Std, sd, 1e-6)
		within(t, "coverage, told", a.Coverage95, 0.95, 0.01)
		if a.RMSE != b.RMSE {
			t.Errorf("rmse %v told, %v untold", a.RMSE, b.RMSE)
		}
		within(t, "std, untold", b.Std, math.Sqrt2*angleNoise, 1e-6)
		within(t, "coverage, untold", b.Coverage95, math.Erf(1.959964*math.Sqrt2*angleNoise/want/math.Sqrt2), 0.03)
	}
	for table, say := range map[*Table]string{told: "its covariance came with it", untold: "nobody told the model"} {
		var text bytes.Buffer
		if err := table.WriteText(&text); err != nil || !strings.Contains(text.String(), "3 times the sensors' noise was added to every start state; "+say) {
			t.Errorf("%v\n%s", err, text.String()[:400])
		}
	}
	opt.Seed++
	if other := run(t, handmade(0), flights, opt); other.Horizons[0].Channels[0].RMSE == untold.Horizons[0].Channels[0].RMSE {
		t.Error("the seed changes nothing")
	}
}

func TestUnknownSensorsCannotBeMadeWorse(t *testing.T) {
	flights := shaft(rand.New(rand.NewPCG(12, 2)), 400, 5, 0, 1)
	m := handmade(0)
	clear(m.Sensor)
	if _, err := Run(context.Background(), m, flights, Options{StartNoise: 3}); err == nil || !strings.Contains(err.Error(), "knows no noise of its sensors") {
		t.Errorf("error %v", err)
	}
	for _, times := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Run(context.Background(), handmade(0), flights, Options{StartNoise: times}); err == nil || !strings.Contains(err.Error(), "cannot be added to start states") {
			t.Errorf("%v times: %v", times, err)
		}
	}
}
