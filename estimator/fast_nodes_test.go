package estimator_test

import (
	"math/rand/v2"
	"os"
	"testing"

	"github.com/dgm-robotics/dgm/estimator/model"
	"github.com/dgm-robotics/dgm/estimator/numeric/simd"
)

// held is what standard deviations may differ by, relatively, where variances are
// interpolated and the input is held: models in use by 10⁻⁴, models of random numbers by more.
const held = 5e-3

// Where variances are interpolated, means are as precise as elsewhere, and so are standard
// deviations while the input is held.
func TestVariancesAreInterpolated(t *testing.T) {
	used, grids := 0, []span{{100, 1}, {49, 0.73}, {130, 0.13}}
	if os.Getenv("DGM_SLOW") == "" {
		grids = grids[1:2]
	}
	for name, m := range fastModels(t) {
		for _, g := range grids {
			times := ascending(m, g.points, g.share)
			fast, plain := newFastOn(t, m, times, simd.Best()), newPredictor(t, m, times)
			if !fast.Interpolates() {
				continue
			}
			used++
			a, b := plain.NewPrediction(), fast.NewPrediction()
			rng := rand.New(rand.NewPCG(53, 1))
			for _, rows := range []int{0, 1, 5, 12, 100} {
				for _, P0 := range [][]float64{nil, covariance(rng, m.K)} {
					q := query(rng, m, rows)
					q.P0 = P0
					if !plain.Predict(a, &q) || !fast.Predict(b, &q) {
						t.Fatalf("%s: not finite", name)
					}
					most := interpolated
					if rows < 2 {
						most = held
					}
					if mean, std, obs := difference(m, a, b); mean > alike || std > most || obs > most {
						t.Errorf("%s, %d points, %d rows: means differ by %.2g, std by %.2g, obs_std by %.2g", name, len(times), rows, mean, std, obs)
					}
				}
			}
		}
	}
	if used < 20*len(grids) {
		t.Errorf("only %d variances are interpolated", used)
	}
}

// A span is so many points up to a share of the horizon.
type span struct {
	points int
	share  float64
}

// ascending returns points up to a share of the horizon.
func ascending(m *model.Model, points int, share float64) []float64 {
	times := make([]float64, points)
	for i := range times {
		times[i] = m.Horizon * share * float64(i+1) / float64(points)
	}
	return times
}
