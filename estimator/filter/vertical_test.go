package filter_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/filter"
)

// euler returns roll, pitch and yaw of a body that pitches by an angle after a roll and a yaw that change slowly: beyond the
// vertical roll and yaw jump by half a turn.
func euler(roll, pitch, yaw float64) [3]float64 {
	sr, cr := math.Sincos(roll)
	sp, cp := math.Sincos(pitch)
	sy, cy := math.Sincos(yaw)
	return [3]float64{
		math.Atan2(sr*cp, cr*cp), math.Asin(math.Max(-1, math.Min(1, sp))), math.Atan2(sy*cp, cy*cp),
	}
}

// A robot that loops has Euler angles that jump at the vertical (gimbal lock). A filter that knows them for an attitude goes over
// with them: its innovations stay what they must be, and it never begins anew. One that does not begins anew and says so, its
// numbers stay finite and its variances positive, and half a second later it is as right as before.
func TestLoopsThroughTheVertical(t *testing.T) {
	for _, known := range []bool{true, false} {
		resets, rejected, nis, used := loop(t, known)
		if known && (resets > 1 || rejected > 4 || used < 11900) || !known && (resets < 2 || resets > 40 || used < 6000) || nis > 1.3 {
			t.Errorf("known for an attitude: %v: %d resets, %d outliers, normalised innovations squared %.2f of %d values", known, resets, rejected, nis, used)
		}
	}
}

// loop has a filter follow a robot that loops eight times. Innovations are those away from the vertical, where the filter does
// not know the attitude.
func loop(t *testing.T, known bool) (resets, rejected int, nis float64, used int) {
	const std = 0.01
	c := filter.Config{
		Channels: []filter.Channel{{Period: 2 * math.Pi, R: std * std}, {Period: 2 * math.Pi, R: std * std}, {Period: 2 * math.Pi, R: std * std}, {}, {}, {}},
		Process: &filter.Kinematic{K: 6, Chains: []filter.Chain{
			{Position: 0, Rate: 3, Q: 40}, {Position: 1, Rate: 4, Q: 40}, {Position: 2, Rate: 5, Q: 40},
		}},
		Start: []float64{10, 1, 10, 10, 10, 10, 100, 100, 100}, MaxGap: 0.3, Settled: []float64{0, 0, 0, 5, 5, 5},
	}
	if known {
		c.Attitude = &filter.Attitude{Roll: 0, Pitch: 1, Yaw: 2, Follows: []int{4, 7}}
	}
	f, err := filter.New(c, 0)
	if err != nil {
		t.Fatal(err)
	}
	rng, nan := rand.New(rand.NewPCG(5, 6)), math.NaN()
	crossed := -1.
	P := make([]float64, 36)
	for i := range 4000 {
		s := 0.01 * float64(i)
		at := func(s float64) [3]float64 { return euler(0.3*math.Sin(0.5*s), 2*math.Sin(0.7*s), 0.2*s) }
		angles := at(s)
		if d := at(s - 0.01); math.Abs(math.Remainder(angles[0]-d[0], 2*math.Pi)) > 1 {
			crossed = s
		}
		y := []float64{angles[0], angles[1], angles[2], nan, nan, nan}
		for k := range 3 {
			y[k] += std * rng.NormFloat64()
		}
		r := f.Update(int64(i)*interval, y, nil)
		if r.Reset != filter.None {
			resets++
		}
		f.Covariance(P)
		for k, v := range f.Estimate() {
			if math.IsNaN(v) || math.Abs(v) > 1e3 || !(P[k*6+k] > 0) {
				t.Fatalf("at %.2f s: state %d is %v ± %v", s, k, v, math.Sqrt(P[k*6+k]))
			}
		}
		if (known || s-crossed > 0.5) && r.Reset == filter.None && f.Settled() {
			nis, used, rejected = nis+r.NIS, used+r.Used, rejected+r.Rejected
		}
	}
	if crossed < 0 {
		t.Error("nothing crosses the vertical")
	}
	return resets, rejected, nis / float64(used), used
}
