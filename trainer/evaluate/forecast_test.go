package evaluate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dgm-robotics/dgm/trainer/window"
)

func TestForecastsStartWhereTheyWereMeasured(t *testing.T) {
	forecasts, err := Forecasts(handmade(0), shaft(rand.New(rand.NewPCG(9, 9)), 2000, 5, 0, 0), Options{}, 4, 25)
	if err != nil {
		t.Fatal(err)
	}
	if len(forecasts) != 4 || len(forecasts[0].T) != 25 || forecasts[0].Start >= forecasts[3].Start {
		t.Fatalf("%d forecasts", len(forecasts))
	}
	// A block of time in the middle keeps the times of its segment.
	all := shaft(rand.New(rand.NewPCG(9, 9)), 2000, 5, 0, 0)
	block := []window.Flight{all[0].Slice(900, 1200)}
	first, err := Forecasts(handmade(0), block, Options{}, 2, 5)
	if err != nil {
		t.Fatal(err)
	}
	if s := first[0].Start; s < 900*0.005 || s > 1200*0.005-horizon {
		t.Errorf("a prediction in 4.5-6 s of the segment starts at %v", s)
	}
	trace, err := Follow(handmade(0), block, Options{}, horizon, 10)
	if err != nil || math.Abs(trace.T[0]-900*0.005-horizon) > 1e-9 {
		t.Errorf("a trace from 4.5 s on: %v, %v", trace.T, err)
	}
	for _, f := range forecasts {
		for i := range f.T {
			if math.Abs(f.Truth[0][i]-f.Mean[0][i]) > 1e-9 {
				t.Errorf("start %v, after %v: %v, measured %v", f.Start, f.T[i], f.Mean[0][i], f.Truth[0][i])
			}
		}
	}
}

// The dots of a prediction's picture are samples, of many so few as there are points, and no values between them.
func TestForecastsShowSamples(t *testing.T) {
	const step, points = 0.005, 20
	flight := shaft(rand.New(rand.NewPCG(9, 9)), 2000, 5, 0, 0)[0]
	slow := flight // each 40th sample alone is measured
	slow.X = slices.Repeat([]float64{math.NaN()}, len(flight.X))
	for i := 0; i < flight.N(); i += 40 {
		copy(slow.State(i), flight.State(i))
	}
	forecasts, err := Forecasts(handmade(0), []window.Flight{flight}, Options{}, 2, points)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range forecasts {
		p := f.Bands(0)
		if len(p.At) != len(p.Measured) || len(p.At) > points || len(p.At) < points/2 || math.Abs(p.At[len(p.At)-1]-horizon) > points*step {
			t.Fatalf("dots at %v", p.At)
		}
		for i, at := range p.At {
			n := (f.Start + at) / step
			if math.Abs(n-math.Round(n)) > 1e-6 || p.Measured[i] != flight.State(int(math.Round(n)))[0] {
				t.Errorf("%v s after %v s: %v is no sample", at, f.Start, p.Measured[i])
			}
		}
	}
	var f Forecast
	f.addSamples(&slow, 0, horizon, 1000)
	f.Truth, f.Mean, f.Std, f.half50 = f.Samples, f.Samples, f.Samples, f.Samples
	if p := f.Bands(0); len(p.At) != 2 {
		t.Errorf("a slow channel has dots at %v in %v s", p.At, horizon)
	}
}
