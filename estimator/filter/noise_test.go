package filter_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/filter"
)

// swing takes a swing of which a sensor of standard deviation std has the angle through a filter whose setting is 0.01, and returns the errors of
// angle and rate and the mean of the normalised innovations squared in the second half.
func swing(t *testing.T, std, q float64, adapts bool) (angle, rate, nis float64) {
	f, err := filter.New(filter.Config{
		Channels: []filter.Channel{{R: 1e-4}, {}}, Process: &filter.Kinematic{K: 2, Chains: []filter.Chain{{Position: 0, Rate: 1, Q: q}}},
		Start: []float64{4, 9, 25}, MaxGap: 1, Adapts: adapts,
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(9, 10))
	const n = 6000
	for i := range n {
		at := 0.01 * float64(i)
		r := f.Update(int64(i)*interval, []float64{math.Sin(3*at) + std*rng.NormFloat64(), math.NaN()}, nil)
		if i >= n/2 {
			a, b := f.Estimate()[0]-math.Sin(3*at), f.Estimate()[1]-3*math.Cos(3*at)
			angle, rate, nis = angle+a*a, rate+b*b, nis+r.NIS/float64(max(1, r.Judged))
		}
	}
	return math.Sqrt(2 * angle / n), math.Sqrt(2 * rate / n), 2 * nis / n
}

// A sensor that is three times as noisy, or as quiet, as it was in training is followed: innovations are what the filter says, and the errors
// are smaller than without.
func TestNoiseOfASensorIsFollowed(t *testing.T) {
	for _, c := range []struct{ std, less float64 }{{0.03, 0.9}, {0.01, 1.02}, {0.003, 0.9}} {
		angle, rate, nis := swing(t, c.std, 100, true)
		was, rated, without := swing(t, c.std, 100, false)
		if math.Abs(nis-1) > 0.12 || angle > c.less*was || rate > c.less*rated {
			t.Errorf("noise of %v: errors of %.4f and %.3f, %.4f and %.3f without; normalised innovations squared %.2f, %.2f without", c.std, angle, rate, was, rated, nis, without)
		}
	}
}

// A process that is wrong for long is no noise of the sensor.
func TestSlowErrorsAreNoNoise(t *testing.T) {
	angle, rate, nis := swing(t, 0.01, 0.3, true)
	was, rated, without := swing(t, 0.01, 0.3, false)
	if without < 1.5 || angle > 1.1*was || rate > 1.1*rated {
		t.Errorf("errors of %.4f and %.3f, %.4f and %.3f without; normalised innovations squared %.2f, %.2f without", angle, rate, was, rated, nis, without)
	}
}

// An encoder of a robot at rest repeats one value. Its noise is unknown until the robot moves again.
func TestRestIsNoNoise(t *testing.T) {
	f, err := filter.New(filter.Config{
		Channels: []filter.Channel{{R: 1e-4}, {}}, Process: &filter.Kinematic{K: 2, Chains: []filter.Chain{{Position: 0, Rate: 1, Q: 100}}},
		Start: []float64{4, 9, 25}, MaxGap: 1, Adapts: true,
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]float64, 4)
	step := func(i int, y float64) { f.Update(int64(i)*interval, []float64{y, math.NaN()}, nil) }
	for i := range 100 {
		step(i, 0)
	}
	f.Covariance(p)
	before := p[0]
	for i := range 5000 {
		step(100+i, 0)
	}
	if f.Covariance(p); math.Abs(p[0]/before-1) > 1e-6 {
		t.Errorf("the variance at rest goes from %v to %v", before, p[0])
	}
}

// A sensor that always measures another value and now repeats one is frozen: the estimate goes on without it, as uncertain as its covariance says,
// and takes it in again.
func TestFrozenSensor(t *testing.T) {
	for _, changes := range []bool{true, false} {
		f, err := filter.New(filter.Config{
			Channels: []filter.Channel{{R: 1e-4, Changes: changes}, {}}, Process: &filter.Kinematic{K: 2, Chains: []filter.Chain{{Position: 0, Rate: 1, Q: 100}}},
			Start: []float64{4, 9, 25}, MaxGap: 1, Adapts: true,
		}, 0)
		if err != nil {
			t.Fatal(err)
		}
		rng, y, p := rand.New(rand.NewPCG(11, 12)), 0., make([]float64, 4)
		worst, resets := 0., 0
		for i := range 600 {
			x := math.Sin(0.03 * float64(i))
			if i < 400 || i > 430 {
				y = x + 0.01*rng.NormFloat64()
			}
			if r := f.Update(int64(i)*interval, []float64{y, math.NaN()}, nil); i > 0 && r.Reset != filter.None {
				resets++
			}
			if f.Covariance(p); i > 20 {
				worst = math.Max(worst, math.Abs(f.Estimate()[0]-x)/math.Sqrt(p[0]))
			}
		}
		if good := worst < 4.5 && resets == 0; good != changes {
			t.Errorf("the sensor always changes: %v; off by up to %.1f standard deviations, %d resets", changes, worst, resets)
		}
	}
}
