package filter_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/filter"
)

// rms returns the error of the rate of a swing whose measurements spoil changes, and the filter.
func rms(t *testing.T, spoil func(i int, y float64) float64) (float64, *filter.Filter) {
	rng := rand.New(rand.NewPCG(5, 6))
	f, sum, n := chain(t, 1e-4, 1e3), 0., 0
	for i := range 2000 {
		at := 0.01 * float64(i)
		y := math.Sin(3*at) + 0.01*rng.NormFloat64()
		f.Update(int64(i)*interval, []float64{spoil(i, y), math.NaN()}, nil)
		if i > 100 {
			e := f.Estimate()[1] - 3*math.Cos(3*at)
			sum, n = sum+e*e, n+1
		}
	}
	return math.Sqrt(sum / float64(n)), f
}

// One measurement in twenty that is off by ten standard deviations, each twentieth or any, is counted and costs a tenth at most: where outliers
// are common, two that follow each other on one side are no motion.
func TestOutliers(t *testing.T) {
	clean, _ := rms(t, func(_ int, y float64) float64 { return y })
	rng := rand.New(rand.NewPCG(7, 8))
	for name, off := range map[string]func(i int) float64{
		"each twentieth": func(i int) float64 { return float64((i % 20) / 19) },
		"any":            func(int) float64 { return math.Floor(rng.Float64()+0.05) * math.Copysign(1, rng.NormFloat64()) },
	} {
		outliers := 0
		spoilt, f := rms(t, func(i int, y float64) float64 {
			by := off(i)
			if by != 0 {
				outliers++
			}
			return y + 0.1*by
		})
		if n := f.Rejected()[0]; n < outliers*9/10 || n > outliers || spoilt > 1.1*clean {
			t.Errorf("%s: %d of %d outliers are counted, the error of the rate is %v, %v without them", name, n, outliers, spoilt, clean)
		}
	}
}

// A robot that does what its process does not expect, here one that is pushed, is followed from the second measurement that
// shows it on: its covariance grows, and nothing begins anew. A sensor that is off once is not.
func TestPushes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	f, resets, worst := chain(t, 1e-4, 1), 0, 0.
	x, v := 0., 1.
	for i := range 400 {
		if i == 200 {
			v = -2 // 0.03 m in a step: three times the noise, then six, …
		}
		x += 0.01 * v
		if r := f.Update(int64(i)*interval, []float64{x + 0.01*rng.NormFloat64(), math.NaN()}, nil); i > 0 && r.Reset != filter.None {
			resets++
		}
		if i > 210 {
			worst = math.Max(worst, math.Abs(f.Estimate()[0]-x))
		}
	}
	if n := f.Rejected()[0]; resets > 0 || n > 3 || worst > 0.06 || math.Abs(f.Estimate()[1]+2) > 0.3 {
		t.Errorf("%d resets, %d outliers, off by up to %v after the push, then at %v", resets, n, worst, f.Estimate())
	}
}

// Measurements that are missing make the covariance grow, and the estimate goes on.
func TestMissing(t *testing.T) {
	clean, _ := rms(t, func(_ int, y float64) float64 { return y })
	half, f := rms(t, func(i int, y float64) float64 {
		if i%2 == 1 {
			return math.NaN()
		}
		return y
	})
	if half > 1.5*clean || f.Rejected()[0] > 0 {
		t.Errorf("with half of the measurements the error is %v, %v with all", half, clean)
	}
	before, after := make([]float64, 4), make([]float64, 4)
	f.Covariance(before)
	f.Update(2010*interval, []float64{math.NaN(), math.NaN()}, nil)
	if f.Covariance(after); !(after[0] > before[0] && after[3] > before[3]) {
		t.Errorf("without a measurement the covariance goes from %v to %v", before, after)
	}
}

// A robot that is put elsewhere is found again, and the filter says why it began anew.
func TestResets(t *testing.T) {
	f := chain(t, 1e-4, 100)
	if r := f.Update(0, []float64{1, math.NaN()}, nil); r.Reset != filter.First || f.Settled() {
		t.Errorf("at first: %+v", r)
	}
	lost := -1
	for i := 1; i < 100; i++ {
		y := 1.
		if i >= 50 {
			y = 30
		}
		if r := f.Update(int64(i)*interval, []float64{y, math.NaN()}, nil); r.Reset == filter.Lost {
			lost = i
		}
	}
	if lost != 54 || math.Abs(f.Estimate()[0]-30) > 0.1 || !f.Settled() {
		t.Errorf("lost at %d, then at %v", lost, f.Estimate())
	}
	if r := f.Update(99*interval+int64(400e6), []float64{1, math.NaN()}, nil); r.Reset != filter.Gap || f.Settled() {
		t.Errorf("after a gap: %+v", r)
	}
	if r := f.Update(0, []float64{1, math.NaN()}, nil); r.Reset != filter.Backwards {
		t.Errorf("back in time: %+v", r)
	}
	if r := f.Update(interval, []float64{math.MaxFloat64, math.NaN()}, nil); r.Rejected != 1 {
		t.Errorf("an absurd measurement: %+v", r)
	}
}

// An angle that is wrapped is followed over the turn, near the measurements.
func TestAngles(t *testing.T) {
	f, err := filter.New(filter.Config{
		Channels: []filter.Channel{{R: 1e-6, Period: 2 * math.Pi}, {}}, Process: &filter.Kinematic{K: 2, Chains: []filter.Chain{{Position: 0, Rate: 1, Q: 1}}},
		Start: []float64{4, 9, 25}, MaxGap: 0.3,
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		y := math.Remainder(0.02*float64(i), 2*math.Pi)
		r := f.Update(int64(i)*interval, []float64{y, math.NaN()}, nil)
		if e := f.Estimate(); i > 50 && (r.Rejected > 0 || math.Abs(e[0]-y) > 0.01 || math.Abs(e[1]-2) > 0.05) {
			t.Fatalf("sample %d: %v is estimated as %v, %+v", i, y, e, r)
		}
	}
}
