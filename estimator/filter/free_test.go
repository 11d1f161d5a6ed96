package filter_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/channel"
	"github.com/dgm-robotics/dgm/estimator/filter"
	"github.com/dgm-robotics/dgm/estimator/model"
)

// Channels that no chain moves follow their measurements, and say nothing of the filter.
func TestFreeChannelsAreNotJudged(t *testing.T) {
	const n, r, q = 4000, 0.01, 50.
	rng := rand.New(rand.NewPCG(5, 6))
	states := []channel.Channel{{Name: "a"}, {Name: "b"}, {Name: "angle", Derivative: "rate"}, {Name: "c"}, {Name: "rate", Estimated: true}}
	f, err := filter.Of(&model.Filter{R: []float64{0, 0, r, 0, 0}, Start: []float64{1, 1, 1, 1, 100, 1}, Gap: 1, Chains: []model.FilterChain{{Position: 2, Rate: 4, Q: q, Settled: math.Inf(1)}}}, states, 0)
	if err != nil {
		t.Fatal(err)
	}
	at, nis, judged, used := stamps(n), 0., 0, 0
	for i, x := range walk(rng, at, q) {
		noise := func() float64 { return rng.NormFloat64() }
		res := f.Update(at[i], []float64{noise(), noise(), x[0] + math.Sqrt(r)*noise(), noise(), math.NaN()}, nil)
		if i > 100 {
			nis, judged, used = nis+res.NIS, judged+res.Judged, used+res.Used
		}
		if a := f.Estimate()[0]; math.IsNaN(a) {
			t.Fatal("a free channel has no estimate")
		}
	}
	if judged < n*9/10 || judged > n || used < 3*judged {
		t.Fatalf("%d of %d measurements are judged, want those of one of four channels, %d", judged, used, n)
	}
	if mean := nis / float64(judged); math.Abs(mean-1) > 0.1 {
		t.Errorf("normalised innovations squared are %.3f of what they must be", mean)
	}
}

// The covariance of a state that no chain moves is that of its sensor.
func TestFreeChannelsHaveTheirSensorsVariance(t *testing.T) {
	m := &model.Model{
		K: 3, Channels: []channel.Channel{{Name: "angle", Derivative: "rate"}, {Name: "level"}, {Name: "rate", Estimated: true}}, Sensor: []float64{0.01, 0.04, 0},
		Filter: &model.Filter{R: []float64{0.01, 0, 0}, Start: []float64{1, 2, 100, 1}, Gap: 1, Chains: []model.FilterChain{{Position: 0, Rate: 2, Q: 50}}},
	}
	e, err := filter.NewEstimator(m)
	if err != nil {
		t.Fatal(err)
	}
	p := make([]float64, 9)
	for i := range 100 {
		e.Take(int64(i)*interval, []float64{0.1 * math.Sin(float64(i)), 1 + 0.2*math.Cos(float64(i)), math.NaN()}, nil, false)
	}
	if e.Covariance(p); math.Abs(p[4]-0.04) > 1e-6 || !(p[0] > 0) || p[0] > 0.01 {
		t.Errorf("variances %v and %v of sensors of 0.01 and 0.04", p[0], p[4])
	}
}
